#include "bench/score.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace graft::bench {
namespace {

// Logarithm of rect(s).
double log_rect(double speedup, double penalty) {
  double value = std::log(speedup);
  return speedup >= 1.0 ? value : value * (penalty + 1.0);
}

// The failure of a graph that is not correct at t.
GraphStatus failure_of(const ScoredGraph& graph) {
  return graph.status == GraphStatus::kCorrect ? GraphStatus::kAccuracy : graph.status;
}

bool tolerated_at(GraphStatus failure, int t, const ScoreOptions& options) {
  auto from = tolerated_from(failure, options).level;
  return from.has_value() && t >= *from;
}

// The macro form knows failures by number only: the level from which a number is tolerated. Failures that
// never are have a number too, so with them the two forms differ from that level on.
int errno_level(int number, Interpretation interpretation) {
  return interpretation == Interpretation::kDefault && number == 2 ? 3 : number;
}

// The level whose correctness decides ES at t.
int es_level(int t) {
  return std::min(t, 1);
}

double sample_s(std::span<const ScoredGraph> graphs, int t, const ScoreOptions& options) {
  double sum = 0.0;
  for (const ScoredGraph& graph : graphs)
    sum += graph.correct_at(t) ? log_rect(*graph.speedup, options.penalty) : std::log(options.base);
  return std::exp(sum / static_cast<double>(graphs.size()));
}

double sample_es(std::span<const ScoredGraph> graphs, int t, const ScoreOptions& options) {
  double sum = 0.0;
  for (const ScoredGraph& graph : graphs) {
    if (graph.correct_at(es_level(t)))
      sum += log_rect(*graph.speedup, options.penalty);
    else if (t < 1 || !tolerated_at(failure_of(graph), t, options))
      sum += std::log(options.base);
  }
  return std::exp(sum / static_cast<double>(graphs.size()));
}

MacroScore macro_score(std::span<const ScoredGraph> graphs, int t, const ScoreOptions& options) {
  int level = es_level(t);
  MacroScore macro;
  double log_alpha = 0.0;
  double log_beta = 0.0;
  double correct = 0.0;
  double slow = 0.0;
  double failures = 0.0;
  std::map<int, double> by_errno;
  for (const ScoredGraph& graph : graphs) {
    if (!graph.correct_at(level)) {
      failures += 1.0;
      by_errno[tolerated_from(failure_of(graph), options).errno_value] += 1.0;
      continue;
    }
    correct += 1.0;
    log_alpha += std::log(*graph.speedup);
    if (*graph.speedup < 1.0) {
      slow += 1.0;
      log_beta += std::log(*graph.speedup);
    }
  }
  auto total = static_cast<double>(graphs.size());
  macro.alpha = correct > 0 ? std::exp(log_alpha / correct) : 1.0;
  macro.beta = slow > 0 ? std::exp(log_beta / slow) : 1.0;
  macro.lambda = correct / total;
  macro.eta = correct > 0 ? slow / correct : 0.0;
  double open = 1.0;  // the share of failures that are not tolerated
  if (t >= 1) {
    open = 0.0;
    for (auto [number, count] : by_errno) {
      macro.pi[number] = count / failures;
      if (t < errno_level(number, options.interpretation)) open += count / failures;
    }
  }
  macro.gamma = std::pow(options.base, open);
  double core =
      std::pow(macro.alpha, macro.lambda) * std::pow(macro.beta, macro.lambda * macro.eta * options.penalty);
  macro.s = core * std::pow(options.base, 1.0 - macro.lambda);
  macro.es = core * std::pow(macro.gamma, 1.0 - macro.lambda);
  return macro;
}

// Levels from kStrictestLevel on.
std::map<int, double> normalised(std::span<const double> raw) {
  double sum = 0.0;
  for (double weight : raw) sum += weight;
  std::map<int, double> weights;
  int t = kStrictestLevel;
  for (double weight : raw) weights[t++] = weight / sum;
  return weights;
}

const std::map<int, double>& graphnet_weights() {
  static const double kRaw[] = {0.001, 0.001, 0.001, 0.13, 0.40, 0.48, 0.48, 0.48,
                                0.48,  0.48,  0.48,  0.48, 0.48, 0.48, 0.48};
  static const std::map<int, double> weights = normalised(kRaw);
  return weights;
}

bool same_levels(const std::map<int, double>& weights, const std::vector<LevelScore>& levels) {
  return std::equal(weights.begin(), weights.end(), levels.begin(), levels.end(),
                    [](const auto& weight, const LevelScore& level) { return weight.first == level.t; });
}

double weighted_log10(const std::map<int, double>& weights, const std::vector<LevelScore>& levels) {
  double sum = 0.0;
  size_t i = 0;
  for (auto [t, weight] : weights) sum += weight * std::log10(levels[i++].es);
  return sum;
}

}  // namespace

std::string_view status_name(GraphStatus status) {
  switch (status) {
    case GraphStatus::kCorrect:
      return "correct";
    case GraphStatus::kAccuracy:
      return "accuracy";
    case GraphStatus::kTypeMismatch:
      return "type_mismatch";
    case GraphStatus::kShapeMismatch:
      return "shape_mismatch";
    case GraphStatus::kRuntimeFail:
      return "runtime_fail";
    case GraphStatus::kCompileFail:
      return "compile_fail";
    case GraphStatus::kEagerFail:
      return "eager_fail";
    case GraphStatus::kPassMiss:
      return "pass_miss";
  }
  return "";
}

void ScoredGraph::set_correct_from(std::optional<int> level) {
  for (int t = kStrictestLevel; t <= kLoosestLevel; ++t)
    correct[level_index(t)] = level.has_value() && t >= *level;
}

int last_level(Interpretation interpretation) {
  return interpretation == Interpretation::kDefault ? 4 : 5;
}

ToleratedFrom tolerated_from(GraphStatus failure, const ScoreOptions& options) {
  bool extended = options.interpretation == Interpretation::kMismatchExtended;
  switch (failure) {
    case GraphStatus::kCorrect:
    case GraphStatus::kAccuracy:
      return {1, 1};
    case GraphStatus::kTypeMismatch:
    case GraphStatus::kShapeMismatch:
      return {2, extended ? 2 : 3};
    case GraphStatus::kRuntimeFail:
    case GraphStatus::kPassMiss:
      return {extended ? 3 : 2, 3};
    case GraphStatus::kCompileFail:
      return {extended ? 4 : 3, extended ? 4 : 3};
    case GraphStatus::kEagerFail:
      if (extended) return {3, std::nullopt};
      if (options.eager_fail == EagerFailRule::kFromThree) return {2, 3};
      return {2, std::nullopt};
  }
  return {2, std::nullopt};
}

const std::map<int, double>& standard_weights() {
  static const double kRaw[] = {0.001, 0.001, 0.001, 0.001,  0.001,   1.0,      1.0,  1.0,
                                0.8,   0.64,  0.512, 0.4096, 0.32768, 0.262144, 0.001};
  static const std::map<int, double> weights = normalised(kRaw);
  return weights;
}

const LevelScore& Scores::at(int t) const {
  assert(!levels.empty() && t >= levels.front().t && t <= levels.back().t);
  return levels[static_cast<size_t>(t - levels.front().t)];
}

Result<Scores> score(std::span<const ScoredGraph> graphs, const ScoreOptions& options) {
  if (graphs.empty()) return input_error("no graph to score");
  int last = last_level(options.interpretation);
  for (const ScoredGraph& graph : graphs) {
    if (graph.speedup.has_value()) continue;
    for (int t = kStrictestLevel; t <= last; ++t) {
      if (graph.correct_at(t))
        return input_error(fmt::format("graph {} is correct but has no e2e speed-up", graph.graph),
                           graph.place, "a speed-up for every correct graph");
    }
  }
  Scores scores;
  for (int t = kStrictestLevel; t <= last; ++t) {
    LevelScore level;
    level.t = t;
    level.s = sample_s(graphs, t, options);
    level.es = sample_es(graphs, t, options);
    level.macro = macro_score(graphs, t, options);
    level.verified = std::fabs(level.es - level.macro.es) <= 1e-3 + 1e-3 * std::fabs(level.macro.es);
    scores.levels.push_back(level);
  }
  const auto& weights = options.weights.empty() ? standard_weights() : options.weights;
  if (same_levels(weights, scores.levels))
    scores.aggregated = std::pow(10.0, weighted_log10(weights, scores.levels));
  else if (!options.weights.empty())
    return input_error("the weights do not name the levels of the score", {},
                       fmt::format("one weight for each level from {} to {}", kStrictestLevel, last));
  return scores;
}

Result<double> graphnet_log10_score(const Scores& scores) {
  if (!same_levels(graphnet_weights(), scores.levels))
    return input_error("the standard weights are for levels -10 to 4 only");
  return weighted_log10(graphnet_weights(), scores.levels);
}

std::vector<size_t> incorrect_graphs(std::span<const ScoredGraph> graphs, ScoreKind kind, int t,
                                     const ScoreOptions& options) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const ScoredGraph& graph = graphs[i];
    bool listed = !graph.correct_at(t);
    if (kind == ScoreKind::kEs && t >= 1 && !graph.correct_at(1))
      listed = !tolerated_at(failure_of(graph), t, options);
    if (listed) wrong.push_back(i);
  }
  return wrong;
}

Json s_json(const Scores& scores) {
  Json json = Json::object();
  for (const LevelScore& level : scores.levels) json.set(std::to_string(level.t), level.s);
  return json;
}

Json es_json(const Scores& scores) {
  Json json = Json::object();
  for (const LevelScore& level : scores.levels) json.set(std::to_string(level.t), level.es);
  return json;
}

}  // namespace graft::bench
