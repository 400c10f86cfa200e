#include "bench/tolerance.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace graft::bench {
namespace {

// Exponents of ten a level: rtol = 10^(t * relative), atol = 10^(t * absolute).
struct Slope {
  double absolute;
  double relative;
};
constexpr std::array<Slope, kToleranceColumnCount> kSlopes = {{
    {1.0, 3.0 / 5},
    {1.0, 1.796 / 5},
    {1.0, 5.886 / 5},
    {7.0 / 5, 7.0 / 5},
}};

using Table = std::array<std::array<Tolerance, kLevelCount>, kToleranceColumnCount>;

double rounded(double value) {
  return std::strtod(fmt::format("{:.2E}", value).c_str(), nullptr);
}

const Table& rounded_table() {
  static const Table table = [] {
    Table result{};
    for (size_t column = 0; column < kToleranceColumnCount; ++column) {
      for (int t = kStrictestLevel; t <= kLoosestLevel; ++t) {
        Tolerance exact = exact_tolerance(static_cast<ToleranceColumn>(column), t);
        result[column][level_index(t)] = {rounded(exact.atol), rounded(exact.rtol)};
      }
    }
    return result;
  }();
  return table;
}

}  // namespace

std::optional<ToleranceColumn> tolerance_column(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return ToleranceColumn::kFloat16;
    case DType::kBFloat16:
      return ToleranceColumn::kBFloat16;
    case DType::kFloat32:
      return ToleranceColumn::kFloat32;
    case DType::kFloat64:
      return ToleranceColumn::kFloat64;
    default:
      return std::nullopt;
  }
}

Tolerance exact_tolerance(ToleranceColumn column, int t) {
  const Slope& slope = kSlopes[static_cast<size_t>(column)];
  return {std::pow(10.0, t * slope.absolute), std::pow(10.0, t * slope.relative)};
}

Tolerance tolerance(ToleranceColumn column, int t) {
  return rounded_table()[static_cast<size_t>(column)][level_index(t)];
}

std::string tolerance_key(ToleranceColumn column, int t) {
  Tolerance exact = exact_tolerance(column, t);
  return fmt::format("[all_close_atol_{:.2E}_rtol_{:.2E}]", exact.atol, exact.rtol);
}

std::string decisive_key(DType dtype, int t) {
  auto column = tolerance_column(dtype);
  return column ? tolerance_key(*column, t) : "[equal]";
}

}  // namespace graft::bench
