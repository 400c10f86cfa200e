// Statistics of measured times.
#pragma once

#include <cstdint>
#include <span>

#include "base/json.h"

namespace graft::bench {

// Of a list of times, in the unit of the list (milliseconds in logs). All zero for an empty list.
struct Statistics {
  double median = 0.0;
  double iqr = 0.0;  // 75th minus 25th percentile, linear interpolation between closest ranks
  double mean = 0.0;
  double std = 0.0;  // of the population (divided by n)
  double min = 0.0;
  double max = 0.0;

  friend bool operator==(const Statistics&, const Statistics&) = default;
};

// Every figure rounded to six significant digits, as the logs have them.
Statistics summarize(std::span<const double> times);

double median(std::span<const double> values);
// q in [0, 1]; linear interpolation.
double quantile(std::span<const double> values, double q);
// To `digits` significant decimal digits, half to even on the decimal text.
double round_significant(double value, int digits);

// {"median":, "iqr":, "mean":, "std":, "min":, "max":}
Json to_json(const Statistics& statistics);

// Above this iqr/median a measurement is noise: 0.2, or $GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD where that is
// a number.
double noise_threshold();
bool is_noisy(const Statistics& statistics, double threshold = noise_threshold());

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

// eager median / candidate median, both as rounded by summarize(); 0 if either is 0.
double speedup(const Statistics& eager, const Statistics& candidate);

// Percentile bootstrap interval of median(eager) / median(candidate): both lists resampled with replacement
// `resamples` times. The same lists and seed give the same interval. Zeros for an empty list.
Interval speedup_interval(std::span<const double> eager, std::span<const double> candidate,
                          double confidence = 0.95, int resamples = 2000, uint64_t seed = 123);

}  // namespace graft::bench
