#include "bench/tolerance.h"

#include <gtest/gtest.h>

#include "golden.h"

namespace graft::bench {
namespace {

constexpr DType kDTypes[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

TEST(Tolerance, RoundedToThreeDigits) {
  Tolerance at = tolerance(ToleranceColumn::kFloat32, -10);
  EXPECT_EQ(at.atol, 1e-10);
  EXPECT_EQ(at.rtol, 1.69e-12);
  EXPECT_EQ(tolerance(ToleranceColumn::kFloat64, 1).atol, 25.1);
  EXPECT_EQ(tolerance(ToleranceColumn::kBFloat16, -1).rtol, 0.437);
  EXPECT_EQ(tolerance_key(ToleranceColumn::kFloat64, 5), "[all_close_atol_1.00E+07_rtol_1.00E+07]");
  EXPECT_EQ(decisive_key(DType::kInt64, 3), "[equal]");
  EXPECT_EQ(decisive_key(DType::kFloat8E5M2, 3), "[equal]");
}

TEST(Tolerance, GrowsWithTheLevel) {
  for (DType dtype : kDTypes) {
    for (int t = kStrictestLevel; t < kLoosestLevel; ++t) {
      Tolerance here = tolerance(*tolerance_column(dtype), t);
      Tolerance next = tolerance(*tolerance_column(dtype), t + 1);
      EXPECT_LT(here.atol, next.atol);
      EXPECT_LT(here.rtol, next.rtol);
    }
  }
}

TEST(GoldenTolerance, WholeTable) {
  GRAFT_NEEDS_SHARED("golden/passbench/extra");
  Json golden = read_json(shared_path("golden/passbench/extra/tolerance_table.json"));
  std::vector<std::string> order;
  int checked = 0;
  for (int t = kStrictestLevel; t <= kLoosestLevel; ++t) {
    for (DType dtype : kDTypes) {
      ToleranceColumn column = *tolerance_column(dtype);
      const Json& entry = golden["per_dtype"][dtype_name(dtype)][std::to_string(t)];
      Tolerance exact = exact_tolerance(column, t);
      EXPECT_NEAR(exact.atol, entry["atol"].as_double(), 1e-14 * exact.atol);
      EXPECT_NEAR(exact.rtol, entry["rtol"].as_double(), 1e-14 * exact.rtol);
      EXPECT_EQ(tolerance_key(column, t), entry["log_key"].as_string());
      order.push_back(tolerance_key(column, t));
      ++checked;
    }
  }
  EXPECT_EQ(checked, 64);
  std::vector<std::string> printed;
  for (const Json& key : golden["log_line_order_after_[equal]"].items()) printed.push_back(key.as_string());
  order.insert(order.end(), {"[max_diff]", "[mean_diff]"});
  EXPECT_EQ(order, printed);
}

}  // namespace
}  // namespace graft::bench
