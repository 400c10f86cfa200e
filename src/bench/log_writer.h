// Writes the log of an evaluation in the form that PassBench's aggregators read back to the same scores.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare.h"
#include "bench/score.h"
#include "bench/statistics.h"

namespace graft::bench {

inline constexpr std::string_view kDefaultLogPrompt = "graph-net-test-compiler-log";

struct LogTimes {
  Statistics e2e;
  std::optional<Statistics> gpu;
};

struct LogGraph {
  std::string path;   // of the graph folder; no white space may be in it, else it is replaced by '_'
  std::string model;  // see GraphFolder::model_name
  std::string device = "cpu";
  std::string hardware;
  std::string compiler = "pass_mgr";
  int warmup = 0;
  int trials = 0;
  std::string torch_version;

  // The outcome. For kCorrect and kAccuracy `outputs` decides; kEagerFail also stands for runs that failed
  // before any output, as in the reference's logs.
  GraphStatus status = GraphStatus::kEagerFail;
  std::string failure;                    // one line of explanation for a failure; may be empty
  std::vector<std::string> eager_dtypes;  // one an output
  std::vector<std::string> compiled_dtypes;
  std::vector<Comparison> outputs;  // with equal dtypes; one an output
  std::optional<LogTimes> eager;
  std::optional<LogTimes> compiled;
  // The lines the reference evaluator itself would print: types are named only where both phases ran, so its
  // readers class every failure at run time as eager_fail, and another dtype as shape_mismatch.
  bool reference_form = false;
};

// The status that the reference's readers give a graph from the log the reference would have written of it.
GraphStatus status_in_reference_log(GraphStatus status);

// The e2e speed-up as the log carries it, rounded to five decimals; nullopt where it has none (a phase
// without times, or a ratio that is not above 0). Scores made of this value equal those read back from the
// log.
std::optional<double> logged_speedup(const LogGraph& graph);

// The lines of one graph, each with a line feed. Speed-ups are the ratios of the medians.
std::string log_text(const LogGraph& graph, std::string_view prompt = kDefaultLogPrompt);

}  // namespace graft::bench
