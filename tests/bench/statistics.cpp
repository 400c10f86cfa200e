#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace graft::bench {
namespace {

TEST(Statistics, OfAShortList) {
  // numpy: median 2.5, percentiles 1.75 and 3.25, std of the population 1.118033988749895.
  std::vector<double> times = {4.0, 1.0, 3.0, 2.0};
  Statistics s = summarize(times);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.iqr, 1.5);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_EQ(s.std, 1.11803);
  EXPECT_EQ(s.min, 1.0);
  EXPECT_EQ(s.max, 4.0);
  EXPECT_EQ(summarize({}), Statistics());
  EXPECT_EQ(to_json(s).dump(), R"({"median":2.5,"iqr":1.5,"mean":2.5,"std":1.11803,"min":1.0,"max":4.0})");
}

TEST(Statistics, SixSignificantDigits) {
  EXPECT_EQ(round_significant(0.00123456789, 6), 0.00123457);
  EXPECT_EQ(round_significant(1234567.0, 6), 1234570.0);
  EXPECT_EQ(round_significant(-2.5, 6), -2.5);
  EXPECT_EQ(round_significant(0.0, 6), 0.0);
  std::vector<double> one = {0.123456789};
  EXPECT_EQ(summarize(one).median, 0.123457);
  EXPECT_EQ(summarize(one).iqr, 0.0);
}

TEST(Statistics, QuantilesInterpolate) {
  std::vector<double> values = {10.0, 20.0, 40.0};
  EXPECT_EQ(quantile(values, 0.0), 10.0);
  EXPECT_EQ(quantile(values, 0.25), 15.0);
  EXPECT_EQ(quantile(values, 0.75), 30.0);
  EXPECT_EQ(quantile(values, 1.0), 40.0);
  EXPECT_EQ(median(values), 20.0);
}

TEST(Statistics, NoiseRule) {
  unsetenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD");
  Statistics s;
  s.median = 1.0;
  s.iqr = 0.2;
  EXPECT_FALSE(is_noisy(s));
  s.iqr = 0.21;
  EXPECT_TRUE(is_noisy(s));
  setenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD", "0.5", 1);
  EXPECT_FALSE(is_noisy(s));
  setenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD", "none", 1);
  EXPECT_TRUE(is_noisy(s));
  unsetenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD");
  s.median = 0.0;
  EXPECT_FALSE(is_noisy(s));
}

TEST(Statistics, SpeedupIsARatioOfMedians) {
  Statistics eager;
  Statistics candidate;
  eager.median = 3.0;
  EXPECT_EQ(speedup(eager, candidate), 0.0);
  candidate.median = 2.0;
  EXPECT_EQ(speedup(eager, candidate), 1.5);
}

TEST(Statistics, IntervalHoldsTheRatioAndRepeats) {
  std::vector<double> eager;
  std::vector<double> candidate;
  for (int i = 0; i < 100; ++i) {
    eager.push_back(2.0 + 0.01 * (i % 10));
    candidate.push_back(1.0 + 0.01 * ((i * 7) % 10));
  }
  Interval interval = speedup_interval(eager, candidate);
  double ratio = median(eager) / median(candidate);
  EXPECT_LT(interval.low, ratio);
  EXPECT_GT(interval.high, ratio);
  EXPECT_LT(interval.high - interval.low, 0.05);
  Interval again = speedup_interval(eager, candidate);
  EXPECT_EQ(again.low, interval.low);
  EXPECT_EQ(again.high, interval.high);
  Interval wider = speedup_interval(eager, candidate, 0.999);
  EXPECT_LE(wider.low, interval.low);
  EXPECT_GE(wider.high, interval.high);
  EXPECT_EQ(speedup_interval({}, candidate).high, 0.0);
}

}  // namespace
}  // namespace graft::bench
