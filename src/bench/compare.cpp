#include "bench/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "bench/wide.h"

// The values must not depend on the processor.
GRAFT_EXACT_LOOPS

namespace graft::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Elements compared at a time: their float64 forms stay in the first-level cache.
constexpr int64_t kBlock = 1024;

// ---- Elements as float64

template <class T>
void widen(const void* in, double* out, int64_t count) {
  const auto* values = static_cast<const T*>(in);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(values[i]);
}

GRAFT_WIDE void widen_float(const float* in, double* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = in[i];
}

const std::vector<float>& float16_table() {
  static const std::vector<float> table = [] {
    std::vector<float> values(1 << 16);
    for (size_t i = 0; i < values.size(); ++i) values[i] = float_from_float16(static_cast<uint16_t>(i));
    return values;
  }();
  return table;
}

void widen_block(DType dtype, const void* in, double* out, int64_t count) {
  switch (dtype) {
    case DType::kFloat32:
      widen_float(static_cast<const float*>(in), out, count);
      return;
    case DType::kFloat64:
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(double));
      return;
    case DType::kFloat16: {
      const float* table = float16_table().data();
      const auto* bits = static_cast<const uint16_t*>(in);
      for (int64_t i = 0; i < count; ++i) out[i] = table[bits[i]];
      return;
    }
    case DType::kBFloat16: {
      const auto* bits = static_cast<const uint16_t*>(in);
      for (int64_t i = 0; i < count; ++i) out[i] = float_from_bfloat16(bits[i]);
      return;
    }
    case DType::kInt64:
      widen<int64_t>(in, out, count);
      return;
    case DType::kInt32:
      widen<int32_t>(in, out, count);
      return;
    case DType::kUInt8:
      widen<uint8_t>(in, out, count);
      return;
    default: {
      const auto* bytes = static_cast<const unsigned char*>(in);
      size_t size = item_size(dtype);
      for (int64_t i = 0; i < count; ++i) out[i] = load_double(dtype, bytes + static_cast<size_t>(i) * size);
    }
  }
}

// The parts of complex numbers count as elements of the real type.
struct Elements {
  DType dtype;
  int64_t count;
};
Elements parts_of(DType dtype, int64_t count) {
  switch (dtype) {
    case DType::kComplex32:
      return {DType::kFloat16, 2 * count};
    case DType::kComplex64:
      return {DType::kFloat32, 2 * count};
    case DType::kComplex128:
      return {DType::kFloat64, 2 * count};
    default:
      return {dtype, count};
  }
}

// ---- One block

// Whether all pairs of a block are close at a tolerance. `gap` is |e - c|, or 0 for pairs that agree whatever
// the tolerance (equal, or NaN on both sides), and NaN or infinite for those that never do. `size` is |e|,
// finite for all others.
GRAFT_WIDE bool block_close(const double* gap, const double* size, int64_t count, double atol, double rtol) {
  uint64_t open = 0;
  for (int64_t i = 0; i < count; ++i) {
    double allowed = atol + rtol * size[i];
    open += static_cast<uint64_t>(!(gap[i] <= allowed));
  }
  return open == 0;
}

struct BlockSums {
  double largest = 0.0;
  double gap = 0.0;
  double gap_squares = 0.0;
  double size_squares = 0.0;
};

GRAFT_WIDE BlockSums block_sums(const double* gap, const double* size, int64_t count) {
  // Eight running sums a quantity: the order of additions is fixed, so the result does not depend on the
  // processor.
  constexpr int kLanes = 8;
  double largest[kLanes] = {};
  double sums[kLanes] = {};
  double gap_squares[kLanes] = {};
  double size_squares[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      double g = gap[i + lane];
      double s = size[i + lane];
      largest[lane] = g > largest[lane] ? g : largest[lane];
      sums[lane] += g;
      gap_squares[lane] += g * g;
      size_squares[lane] += s * s;
    }
  }
  for (; i < count; ++i) {
    largest[0] = std::max(largest[0], gap[i]);
    sums[0] += gap[i];
    gap_squares[0] += gap[i] * gap[i];
    size_squares[0] += size[i] * size[i];
  }
  BlockSums total;
  for (int lane = 0; lane < kLanes; ++lane) {
    total.largest = std::max(total.largest, largest[lane]);
    total.gap += sums[lane];
    total.gap_squares += gap_squares[lane];
    total.size_squares += size_squares[lane];
  }
  return total;
}

// gap and size of plain blocks; true when every value of both sides is finite, else the block needs the
// careful form.
GRAFT_WIDE bool plain_gaps(const double* eager, const double* candidate, double* gap, double* size,
                           int64_t count) {
  uint64_t odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    gap[i] = std::fabs(eager[i] - candidate[i]);
    size[i] = std::fabs(eager[i]);
    odd += static_cast<uint64_t>(!(gap[i] < kInfinity));
  }
  return odd == 0;
}

bool agree(double eager, double candidate) {
  return eager == candidate || (std::isnan(eager) && std::isnan(candidate));
}

// ---- The default mode

// Walks the tolerances from the strictest on: once a block is not close at a level, no stricter level can
// hold for the tensor.
class Levels {
 public:
  void take(const double* gap, const double* size, int64_t count) {
    for (size_t column = 0; column < kToleranceColumnCount; ++column) {
      int& t = level_[column];
      while (t <= kLoosestLevel) {
        Tolerance limit = tolerance(static_cast<ToleranceColumn>(column), t);
        if (block_close(gap, size, count, limit.atol, limit.rtol)) break;
        ++t;
      }
    }
  }
  void fail_all() { level_.fill(kLoosestLevel + 1); }
  std::array<std::optional<int>, kToleranceColumnCount> result() const {
    std::array<std::optional<int>, kToleranceColumnCount> from{};
    for (size_t column = 0; column < kToleranceColumnCount; ++column)
      if (level_[column] <= kLoosestLevel) from[column] = level_[column];
    return from;
  }

 private:
  std::array<int, kToleranceColumnCount> level_ = {kStrictestLevel, kStrictestLevel, kStrictestLevel,
                                                   kStrictestLevel};
};

// `candidate` gives the float64 forms of elements [at, at + count).
template <class CandidateBlock>
Comparison compare_default(DType dtype, const void* eager, int64_t count,
                           const CandidateBlock& candidate_block) {
  Comparison result;
  Elements parts = parts_of(dtype, count);
  result.dtype = dtype;
  result.count = count;
  Levels levels;
  double e[kBlock];
  double c[kBlock];
  double gap[kBlock];
  double size[kBlock];
  double sum = 0.0;
  double gap_squares = 0.0;
  double size_squares = 0.0;
  int64_t first_nonfinite = -1;
  size_t item = item_size(parts.dtype);
  const auto* bytes = static_cast<const unsigned char*>(eager);
  for (int64_t at = 0; at < parts.count; at += kBlock) {
    int64_t n = std::min(kBlock, parts.count - at);
    widen_block(parts.dtype, bytes + static_cast<size_t>(at) * item, e, n);
    candidate_block(at, n, c);
    if (!plain_gaps(e, c, gap, size, n)) {
      for (int64_t i = 0; i < n; ++i) {
        bool finite = std::isfinite(e[i]) && std::isfinite(c[i]);
        if (finite) continue;
        size[i] = 0.0;
        if (agree(e[i], c[i])) {
          gap[i] = 0.0;
          continue;
        }
        gap[i] = 0.0;  // out of the sums; counted apart
        ++result.nonfinite_mismatches;
        if (first_nonfinite < 0) first_nonfinite = at + i;
      }
    }
    BlockSums sums = block_sums(gap, size, n);
    sum += sums.gap;
    gap_squares += sums.gap_squares;
    size_squares += sums.size_squares;
    if (sums.largest > 0.0) {
      result.equal = false;
      levels.take(gap, size, n);
      if (sums.largest > result.max_diff) {
        result.max_diff = sums.largest;
        auto worst = std::max_element(gap, gap + n) - gap;
        result.worst_index = at + worst;
      }
    }
  }
  if (result.nonfinite_mismatches > 0) {
    result.equal = false;
    levels.fail_all();
    result.worst_index = first_nonfinite;
    result.max_diff = kInfinity;
    result.mean_diff = kInfinity;
  } else if (parts.count > 0) {
    result.mean_diff = sum / static_cast<double>(parts.count);
  }
  if (gap_squares > 0.0) result.relative_l2 = std::sqrt(gap_squares / size_squares);  // x / 0 is infinite
  if (is_complex(dtype) && result.worst_index >= 0) result.worst_index /= 2;
  result.close_from = levels.result();
  return result;
}

// 64-bit integers do not fit float64: equality is by their bits.
bool exact_by_bytes(DType dtype) {
  return is_integer(dtype);
}

// ---- The strict mode

// What an operation of torch on the CPU returns: computed in float32 (float64 for float64) and rounded to the
// dtype.
double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat16:
      return float_from_float16(float16_from_float(static_cast<float>(value)));
    case DType::kBFloat16:
      return float_from_bfloat16(bfloat16_from_float(static_cast<float>(value)));
    case DType::kFloat64:
      return value;
    default:
      return static_cast<float>(value);
  }
}

// A product or sum of float32 values, computed in float64 and rounded to float32, is the correctly rounded
// one.
double working(DType dtype, double value) {
  return dtype == DType::kFloat64 ? value : static_cast<float>(value);
}

bool strict_close(DType dtype, double e, double c, Tolerance limit) {
  if (e == c) return true;
  // Integers are compared with the candidate as float32.
  if (tolerance_column(dtype) == std::nullopt) dtype = DType::kFloat32;
  double product = round_to(dtype, working(dtype, working(dtype, limit.rtol) * c));
  double allowed = round_to(dtype, working(dtype, working(dtype, limit.atol) + std::fabs(product)));
  double gap = std::fabs(round_to(dtype, working(dtype, working(dtype, e) - working(dtype, c))));
  return std::isfinite(gap) && gap <= allowed;
}

Comparison compare_strict(DType dtype, const void* eager, const void* candidate, int64_t count) {
  Comparison result;
  Elements parts = parts_of(dtype, count);
  result.dtype = dtype;
  result.count = count;
  std::array<int, kToleranceColumnCount> level;
  level.fill(kStrictestLevel);
  size_t item = item_size(parts.dtype);
  const auto* left = static_cast<const unsigned char*>(eager);
  const auto* right = static_cast<const unsigned char*>(candidate);
  double e[kBlock];
  double c[kBlock];
  double sum = 0.0;
  double gap_squares = 0.0;
  double size_squares = 0.0;
  bool saw_nan = false;
  for (int64_t at = 0; at < parts.count; at += kBlock) {
    int64_t n = std::min(kBlock, parts.count - at);
    widen_block(parts.dtype, left + static_cast<size_t>(at) * item, e, n);
    widen_block(parts.dtype, right + static_cast<size_t>(at) * item, c, n);
    for (int64_t i = 0; i < n; ++i) {
      if (std::isfinite(e[i])) size_squares += e[i] * e[i];
      if (e[i] == c[i]) {
        saw_nan = saw_nan || std::isinf(e[i]);  // inf - inf
        continue;
      }
      result.equal = false;
      double gap = std::fabs(
          working(DType::kFloat32, working(DType::kFloat32, e[i]) - working(DType::kFloat32, c[i])));
      if (std::isfinite(e[i]) && std::isfinite(c[i])) gap_squares += gap * gap;
      if (std::isnan(e[i]) || std::isnan(c[i]) || std::isinf(e[i]) || std::isinf(c[i]))
        ++result.nonfinite_mismatches;
      if (std::isnan(gap)) {
        saw_nan = true;
      } else {
        sum += gap;
        if (gap > result.max_diff) {
          result.max_diff = gap;
          result.worst_index = at + i;
        }
      }
      for (size_t column = 0; column < kToleranceColumnCount; ++column) {
        int& t = level[column];
        while (t <= kLoosestLevel &&
               !strict_close(parts.dtype, e[i], c[i], tolerance(static_cast<ToleranceColumn>(column), t)))
          ++t;
      }
    }
  }
  if (saw_nan) {
    result.max_diff = kNan;
    result.mean_diff = kNan;
  } else if (parts.count > 0) {
    result.mean_diff = static_cast<float>(sum / static_cast<double>(parts.count));
  }
  if (gap_squares > 0.0) result.relative_l2 = std::sqrt(gap_squares / size_squares);
  if (is_complex(dtype) && result.worst_index >= 0) result.worst_index /= 2;
  for (size_t column = 0; column < kToleranceColumnCount; ++column)
    if (level[column] <= kLoosestLevel) result.close_from[column] = level[column];
  return result;
}

}  // namespace

bool Comparison::correct(int t) const {
  auto column = tolerance_column(dtype);
  return column ? close(*column, t) : equal;
}

std::optional<int> Comparison::correct_from() const {
  auto column = tolerance_column(dtype);
  if (column) return close_from[static_cast<size_t>(*column)];
  return equal ? std::optional<int>(kStrictestLevel) : std::nullopt;
}

Comparison compare_tensors(DType dtype, const void* eager, const void* candidate, int64_t count,
                           CompareMode mode) {
  Comparison result;
  if (mode == CompareMode::kStrictPassBench) {
    result = compare_strict(dtype, eager, candidate, count);
  } else {
    Elements parts = parts_of(dtype, count);
    size_t item = item_size(parts.dtype);
    const auto* bytes = static_cast<const unsigned char*>(candidate);
    result = compare_default(dtype, eager, count, [&](int64_t at, int64_t n, double* out) {
      widen_block(parts.dtype, bytes + static_cast<size_t>(at) * item, out, n);
    });
  }
  if (exact_by_bytes(dtype))
    result.equal =
        count == 0 || std::memcmp(eager, candidate, static_cast<size_t>(count) * item_size(dtype)) == 0;
  return result;
}

TrivialAnswers trivial_answers(DType dtype, const void* eager, int64_t count) {
  if (is_complex(dtype) || count == 0) return {};
  auto against = [&](double value) {
    return compare_default(dtype, eager, count,
                           [value](int64_t, int64_t n, double* out) { std::fill_n(out, n, value); })
        .correct_from();
  };
  TrivialAnswers answers;
  answers.zeros_from = against(0.0);
  double block[kBlock];
  double sum = 0.0;
  int64_t finite = 0;
  size_t item = item_size(dtype);
  const auto* bytes = static_cast<const unsigned char*>(eager);
  for (int64_t at = 0; at < count; at += kBlock) {
    int64_t n = std::min(kBlock, count - at);
    widen_block(dtype, bytes + static_cast<size_t>(at) * item, block, n);
    for (int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(block[i])) continue;
      sum += block[i];
      ++finite;
    }
  }
  if (finite > 0) {
    unsigned char stored[16];
    store_double(dtype, sum / static_cast<double>(finite), stored);
    answers.mean_from = against(load_double(dtype, stored));
  }
  return answers;
}

}  // namespace graft::bench
