#include "bench/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "golden.h"

namespace graft::bench {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Comparison compare(const std::vector<float>& eager, const std::vector<float>& candidate,
                   CompareMode mode = CompareMode::kDefault) {
  return compare_tensors(DType::kFloat32, eager.data(), candidate.data(), static_cast<int64_t>(eager.size()),
                         mode);
}

TEST(Compare, EqualTensors) {
  Comparison result = compare({1, -2, 0}, {1, -2, -0.0f});
  EXPECT_TRUE(result.equal);
  EXPECT_EQ(result.correct_from(), kStrictestLevel);
  EXPECT_EQ(result.max_diff, 0.0);
  EXPECT_EQ(result.worst_index, -1);
  EXPECT_TRUE(compare({}, {}).equal);
}

TEST(Compare, TheEagerSideScalesTheTolerance) {
  // A huge wrong value must not widen its own tolerance: |1 - 1e6| is beyond 1e5 + 769000 * 1.
  Comparison result = compare({1}, {1e6f});
  EXPECT_FALSE(result.correct(4));
  EXPECT_EQ(compare({1}, {1e6f}, CompareMode::kStrictPassBench).correct_from(), 0);
  EXPECT_EQ(compare({1e6f}, {1}).correct_from(), 0);
}

TEST(Compare, LevelIsThatOfTheWorstElement) {
  std::vector<float> eager(5000, 1.0f);
  std::vector<float> candidate = eager;
  candidate[4321] = 1.0f + 4e-6f;
  Comparison result = compare(eager, candidate);
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.correct_from(), -5);
  EXPECT_EQ(result.worst_index, 4321);
  EXPECT_NEAR(result.max_diff, 4e-6, 2e-7);
  EXPECT_NEAR(result.mean_diff, result.max_diff / 5000, 1e-16);
  candidate[17] = 2.0f;
  EXPECT_EQ(compare(eager, candidate).correct_from(), 0);
  EXPECT_EQ(compare(eager, candidate).worst_index, 17);
}

TEST(Compare, NanAgreesOnlyWhereEagerHasIt) {
  EXPECT_TRUE(compare({1, kNan}, {1, kNan}).equal);
  EXPECT_EQ(compare({1, kNan}, {1, kNan}).correct_from(), kStrictestLevel);
  for (const auto& [eager, candidate] : std::vector<std::pair<float, float>>{
           {1.0f, kNan}, {kNan, 1.0f}, {kInf, 1.0f}, {1.0f, kInf}, {kInf, -kInf}, {kInf, kNan}}) {
    Comparison result = compare({5, eager}, {5, candidate});
    EXPECT_EQ(result.correct_from(), std::nullopt) << eager << " " << candidate;
    EXPECT_FALSE(result.equal);
    EXPECT_EQ(result.nonfinite_mismatches, 1);
    EXPECT_EQ(result.worst_index, 1);
  }
  EXPECT_TRUE(compare({kInf, -kInf}, {kInf, -kInf}).equal);
  EXPECT_FALSE(compare({1, kNan}, {1, kNan}, CompareMode::kStrictPassBench).equal);
}

TEST(Compare, RelativeErrorKnowsTheSizeOfTheOutput) {
  // An output far below the absolute tolerance: zeros pass by it, and the relative error tells.
  std::vector<float> eager(1000, 1e-7f);
  std::vector<float> zeros(1000, 0.0f);
  Comparison result = compare(eager, zeros);
  EXPECT_EQ(result.correct_from(), -6);
  EXPECT_NEAR(result.relative_l2, 1.0, 1e-12);
  TrivialAnswers trivial = trivial_answers(DType::kFloat32, eager.data(), 1000);
  EXPECT_EQ(trivial.zeros_from, -6);
  EXPECT_EQ(trivial.mean_from, kStrictestLevel);
  std::vector<float> large = {100.0f, -300.0f};
  // 300 <= 1 + 1 * 300, but not 0.1 + 0.0665 * 300.
  EXPECT_EQ(trivial_answers(DType::kFloat32, large.data(), 2).zeros_from, 0);
  std::vector<int64_t> numbers = {0, 0, 1};
  EXPECT_EQ(trivial_answers(DType::kInt64, numbers.data(), 3).zeros_from, std::nullopt);
  EXPECT_TRUE(std::isinf(compare({0, 0}, {0, 1}).relative_l2));
}

TEST(Compare, ExactTypesAllowNoGap) {
  std::vector<int64_t> a = {(int64_t{1} << 60), 5};
  std::vector<int64_t> b = {(int64_t{1} << 60) + 1, 5};
  EXPECT_TRUE(compare_tensors(DType::kInt64, a.data(), a.data(), 2).correct(-10));
  Comparison result = compare_tensors(DType::kInt64, a.data(), b.data(), 2);
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.correct_from(), std::nullopt);
  EXPECT_FALSE(result.correct(5));
  const float complex_a[] = {1, 2, 3, 4};
  const float complex_b[] = {1, 2, 3, 5};
  EXPECT_TRUE(compare_tensors(DType::kComplex64, complex_a, complex_a, 2).equal);
  Comparison parts = compare_tensors(DType::kComplex64, complex_a, complex_b, 2);
  EXPECT_FALSE(parts.equal);
  EXPECT_EQ(parts.worst_index, 1);
  const uint8_t flags_a[] = {1, 0};
  const uint8_t flags_b[] = {1, 1};
  EXPECT_FALSE(compare_tensors(DType::kBool, flags_a, flags_b, 2).equal);
}

TEST(Compare, DefaultLevelsAgreeWithTheFormula) {
  // Every level on its own, element by element.
  uint32_t state = 1;
  auto random = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8) / 8388608.0 - 1.0;
  };
  for (int scale = -12; scale <= 6; ++scale) {
    std::vector<double> eager(3000);
    std::vector<double> candidate(3000);
    for (size_t i = 0; i < eager.size(); ++i) {
      eager[i] = random();
      candidate[i] = eager[i] + random() * std::pow(10.0, scale);
    }
    Comparison result = compare_tensors(DType::kFloat64, eager.data(), candidate.data(), 3000);
    for (size_t column = 0; column < kToleranceColumnCount; ++column) {
      for (int t = kStrictestLevel; t <= kLoosestLevel; ++t) {
        Tolerance limit = tolerance(static_cast<ToleranceColumn>(column), t);
        bool close = true;
        for (size_t i = 0; i < eager.size(); ++i)
          close =
              close && std::fabs(eager[i] - candidate[i]) <= limit.atol + limit.rtol * std::fabs(eager[i]);
        ASSERT_EQ(result.close(static_cast<ToleranceColumn>(column), t), close)
            << scale << " " << column << " " << t;
      }
    }
  }
}

std::vector<unsigned char> bytes_of(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

double number(const Json& json) {
  if (!json.is_string()) return json.as_double();
  return json.as_string() == "nan" ? std::nan("") : (json.as_string() == "inf" ? HUGE_VAL : -HUGE_VAL);
}

TEST(Compare, StrictModeIsTorchs) {
  Json cases = read_json(GRAFT_SOURCE_DIR "/tests/bench/data/compare_cases.json");
  ASSERT_GT(cases.items().size(), 100U);
  for (const Json& item : cases.items()) {
    SCOPED_TRACE(item["name"].as_string());
    DType dtype = *dtype_from_name(item["dtype"].as_string());
    auto eager = bytes_of(item["eager"].as_string());
    auto candidate = bytes_of(item["candidate"].as_string());
    int64_t count = item["count"].as_int();
    ASSERT_EQ(eager.size(), static_cast<size_t>(count) * item_size(dtype));
    Comparison result =
        compare_tensors(dtype, eager.data(), candidate.data(), count, CompareMode::kStrictPassBench);
    EXPECT_EQ(result.equal, item["equal"].as_bool());
    for (const auto& [name, from] : item["close_from"].members()) {
      auto column = static_cast<size_t>(*tolerance_column(*dtype_from_name(name)));
      EXPECT_EQ(result.close_from[column] ? Json(*result.close_from[column]) : Json(), from) << name;
    }
    double largest = number(item["max_diff"]);
    double mean = number(item["mean_diff"]);
    EXPECT_TRUE(result.max_diff == largest || (std::isnan(largest) && std::isnan(result.max_diff)))
        << result.max_diff << " " << largest;
    EXPECT_TRUE(std::fabs(result.mean_diff - mean) <= 1e-6 * mean || result.mean_diff == mean ||
                (std::isnan(mean) && std::isnan(result.mean_diff)))
        << result.mean_diff << " " << mean;
  }
}

}  // namespace
}  // namespace graft::bench
