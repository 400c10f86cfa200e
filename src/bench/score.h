// Scores of evaluated graphs: S(t), ES(t), their macro form, and the aggregated score.
//
// With penalty p, base b and e2e speed-up s of a graph, rect(s) = s if s >= 1 else s^(p+1).
//   S(t)  = geometric mean over graphs of: rect(s) if correct at t, else b.
//   ES(t) = S(t) for t <= 0. For t >= 1 correctness is that at t = 1: correct -> rect(s); else 1 if the
//   failure is tolerated at t,
//           else b.
//   AS    = product of ES(t)^w(t).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/tolerance.h"

namespace graft::bench {

// The outcome of one graph. kAccuracy is the outcome of a graph that ran but is not correct at a given t; as
// the status of a sample it means: never correct.
enum class GraphStatus {
  kCorrect,
  kAccuracy,
  kTypeMismatch,
  kShapeMismatch,
  kRuntimeFail,
  kCompileFail,
  kEagerFail,
  kPassMiss,
};
std::string_view status_name(GraphStatus status);  // "correct", "accuracy", "type_mismatch", ...

struct ScoredGraph {
  std::string graph;  // path or name
  GraphStatus status = GraphStatus::kEagerFail;
  std::optional<double> speedup;  // e2e
  // For kCorrect: whether all outputs are correct at each level (indexed by level_index). Ignored for other
  // statuses.
  std::array<bool, kLevelCount> correct{};
  Place place;  // where this was read, for errors; may be empty

  bool correct_at(int t) const { return status == GraphStatus::kCorrect && correct[level_index(t)]; }
  // Sets `correct` from the level on from which a graph is correct; nullopt: none.
  void set_correct_from(std::optional<int> level);
};

// Which failures count as 1 from which positive t on.
enum class Interpretation {
  kDefault,           // levels -10..4
  kMismatchExtended,  // levels -10..5; failures of type and shape are told from failures at run time
};

// When a graph whose eager phase failed is tolerated under kDefault.
enum class EagerFailRule { kNever, kFromThree };

struct ScoreOptions {
  double penalty = 0.0;  // p
  double base = 0.1;     // b
  Interpretation interpretation = Interpretation::kDefault;
  EagerFailRule eager_fail = EagerFailRule::kNever;
  // Weights of AS by level, used as they are. Empty: the standard ones. The keys must be the levels of the
  // interpretation.
  std::map<int, double> weights;
};

int last_level(Interpretation interpretation);  // 4 or 5

// The error number of a failure and the first level that tolerates it; nullopt: none.
struct ToleratedFrom {
  int errno_value = 0;
  std::optional<int> level;
};
ToleratedFrom tolerated_from(GraphStatus failure, const ScoreOptions& options);

// The standard weights, normalised to a sum of 1: levels -10..4.
const std::map<int, double>& standard_weights();

// The macro form of S and ES at one level.
struct MacroScore {
  double alpha = 1.0;        // geometric mean of the correct speed-ups; 1 if none
  double beta = 1.0;         // geometric mean of those below 1; 1 if none
  double lambda = 0.0;       // share of correct graphs
  double eta = 0.0;          // share of those below 1 among the correct ones
  double gamma = 1.0;        // what a failure counts
  std::map<int, double> pi;  // by error number: its share among the failures at t = 1 (only for t >= 1)
  double s = 0.0;
  double es = 0.0;
};

struct LevelScore {
  int t = 0;
  double s = 0.0;
  double es = 0.0;
  MacroScore macro;
  bool verified = false;  // |es - macro.es| <= 1e-3 + 1e-3 |macro.es|
};

struct Scores {
  std::vector<LevelScore> levels;  // by t, ascending
  // AS; nullopt where the levels and the weights do not go together (kMismatchExtended without weights of its
  // own).
  std::optional<double> aggregated;

  const LevelScore& at(int t) const;
};

// An error for: no graphs; a graph that is correct at a level but has no speed-up (with its place); weights
// with other keys.
Result<Scores> score(std::span<const ScoredGraph> graphs, const ScoreOptions& options = {});

// Weights for ScoreOptions from a file: a JSON object of levels, or a Python file whose function
// get_weights() returns a constant dict (it is read, not run).
Result<std::map<int, double>> read_weights(const std::string& path);

// log10 of the aggregated score with GraphNet's weights (its sum of weights is 1 as well): sum of w(t) log10
// ES(t), levels -10..4.
Result<double> graphnet_log10_score(const Scores& scores);

enum class ScoreKind { kS, kEs };
// Indices of the graphs that count as wrong at t. For kEs and t >= 1: those wrong at 1 and not tolerated at
// t, and those right at 1 but wrong at t.
std::vector<size_t> incorrect_graphs(std::span<const ScoredGraph> graphs, ScoreKind kind, int t,
                                     const ScoreOptions& options = {});

// {"t": value} with the levels as text keys.
Json s_json(const Scores& scores);
Json es_json(const Scores& scores);

}  // namespace graft::bench
