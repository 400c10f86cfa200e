// Evaluates rewritten graphs against the originals: one trusted reference worker for everything, one
// candidate worker a graph.
//
// The host owns what decides: the inputs, the clock, the expected outputs and the comparison. See
// docs/evaluation.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/python_environment.h"
#include "base/result.h"
#include "referee/prepare.h"
#include "referee/result.h"
#include "referee/worker.h"

namespace graft::referee {

struct EvaluationOptions {
  std::string device = "cpu";  // "cpu" or "cuda"
  int warmup = 25;
  int trials = 100;
  double timeout_seconds = 300;  // a graph's, from the moment its workers are ready
  int threads = 0;               // torch's intra-op threads in both workers; 0: torch's own choice
  // The tolerance level at which a graph must be correct to count as right. -3 lies between torch's own
  // default tolerances
  // (-5), which reordered float32 sums miss, and 0 (atol = rtol = 1), which accepts nearly anything.
  int correct_at = -3;
  CandidateKind candidate = CandidateKind::kPasses;
  // Of torch.compile, for the inductor candidate: {"fullgraph", "dynamic", "mode", "options"}, each optional.
  Json inductor_options = Json::object();
  bool inductor_baseline = false;  // measured beside the passes of every graph that ran
  // Timing as the reference evaluator does it: through torch.compile, torch seeded inside the timed call.
  // With $GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD set there is one measurement, which counts as failed when it
  // is noisy. Never in one table with times of the graph itself.
  bool strict_passbench = false;
};

class Evaluator {
 public:
  // Finds Python and starts the reference worker in the background. kMissing where there is no Python.
  static Result<std::unique_ptr<Evaluator>> start(const EvaluationOptions& options);
  ~Evaluator();

  // Waits for the reference worker. kMissing where torch or the device is not there. Fills what `info` says
  // of the machine.
  Status ready(RunInfo& info);

  // The reference worker, started again where it has ended. For requests besides evaluate(), which are over
  // by the time it is called.
  Result<Worker*> reference();
  // When such a request must be done: the time limit of a graph, from this moment.
  Deadline deadline() const;

  // Never fails because of the sample or the pass: that is a verdict. Errors: kInterrupted, or kMissing and
  // kFault where no further graph can be evaluated either.
  Result<GraphResult> evaluate(const PreparedGraph& graph);

 private:
  friend class Evaluation;
  explicit Evaluator(const EvaluationOptions& options) : options_(options) {}
  Result<std::unique_ptr<Worker>> start_worker(WorkerOptions::Role role, const std::string& name);
  Status restart_reference();
  int64_t trusted_waited_ns() const;  // how long the host has waited for its trusted workers

  EvaluationOptions options_;
  PythonEnvironment python_;
  std::unique_ptr<TemporaryDirectory> scratch_;  // where workers stand
  std::unique_ptr<Worker> reference_;
  std::unique_ptr<Worker> baseline_;  // trusted as well; where a baseline is asked for
  int candidates_ = 0;
};

}  // namespace graft::referee
