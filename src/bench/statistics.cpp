#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace graft::bench {
namespace {

// Of sorted values.
double sorted_quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0.0;
  double position = q * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(std::floor(position));
  size_t above = std::min(below + 1, sorted.size() - 1);
  double share = position - std::floor(position);
  double step = sorted[above] - sorted[below];
  // From the nearer end, so that the result is exact at both.
  return share >= 0.5 ? sorted[above] - step * (1.0 - share) : sorted[below] + step * share;
}

double sorted_median(std::span<const double> sorted) {
  if (sorted.empty()) return 0.0;
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0;
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The median of `values`, whose order is lost.
double selected_median(std::vector<double>& values) {
  auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*std::max_element(values.begin(), half) + *half) / 2.0;
}

// SplitMix64 (Steele, Lea, Flood 2014).
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  // A number below `bound`; the bias of at most bound / 2^32 does not matter to a resampling.
  size_t below(size_t bound) {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return static_cast<size_t>(((z >> 32) * bound) >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace

Statistics summarize(std::span<const double> times) {
  if (times.empty()) return {};
  std::vector<double> sorted = sorted_copy(times);
  auto count = static_cast<double>(sorted.size());
  double sum = 0.0;
  for (double time : times) sum += time;
  double mean = sum / count;
  double squares = 0.0;
  for (double time : times) squares += (time - mean) * (time - mean);
  auto six = [](double value) { return round_significant(value, 6); };
  return {.median = six(sorted_median(sorted)),
          .iqr = six(sorted_quantile(sorted, 0.75) - sorted_quantile(sorted, 0.25)),
          .mean = six(mean),
          .std = six(std::sqrt(squares / count)),
          .min = six(sorted.front()),
          .max = six(sorted.back())};
}

double median(std::span<const double> values) {
  return sorted_median(sorted_copy(values));
}

double quantile(std::span<const double> values, double q) {
  return sorted_quantile(sorted_copy(values), q);
}

double round_significant(double value, int digits) {
  if (!std::isfinite(value)) return value;
  return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

Json to_json(const Statistics& statistics) {
  return Json::object({{"median", statistics.median},
                       {"iqr", statistics.iqr},
                       {"mean", statistics.mean},
                       {"std", statistics.std},
                       {"min", statistics.min},
                       {"max", statistics.max}});
}

double noise_threshold() {
  constexpr double kDefault = 0.2;
  const char* text = std::getenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD");
  if (text == nullptr || *text == '\0') return kDefault;
  char* end = nullptr;
  double value = std::strtod(text, &end);
  return *end == '\0' && !std::isnan(value) ? value : kDefault;
}

bool is_noisy(const Statistics& statistics, double threshold) {
  return statistics.median > 0.0 && statistics.iqr / statistics.median > threshold;
}

double speedup(const Statistics& eager, const Statistics& candidate) {
  if (eager.median == 0.0 || candidate.median == 0.0) return 0.0;
  return eager.median / candidate.median;
}

Interval speedup_interval(std::span<const double> eager, std::span<const double> candidate, double confidence,
                          int resamples, uint64_t seed) {
  if (eager.empty() || candidate.empty() || resamples <= 0) return {};
  SplitMix random(seed);
  std::vector<double> ratios;
  ratios.reserve(static_cast<size_t>(resamples));
  std::vector<double> a(eager.size());
  std::vector<double> b(candidate.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : a) value = eager[random.below(eager.size())];
    for (double& value : b) value = candidate[random.below(candidate.size())];
    double below = selected_median(b);
    double above = selected_median(a);
    ratios.push_back(below > 0.0 ? above / below : 0.0);
  }
  std::sort(ratios.begin(), ratios.end());
  double tail = (1.0 - confidence) / 2.0;
  return {sorted_quantile(ratios, tail), sorted_quantile(ratios, 1.0 - tail)};
}

}  // namespace graft::bench
