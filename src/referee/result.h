// What an evaluation found, as data, as JSON, as a table and as files.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/compare.h"
#include "bench/score.h"
#include "referee/baseline.h"
#include "referee/measure.h"
#include "referee/outputs.h"
#include "referee/verdict.h"

namespace graft::referee {

// A pass and what became of it in one graph.
struct PassUse {
  std::string name;
  std::string path;
  int matches = 0;
  std::string miss;    // why it did not match; empty when it did
  std::string traced;  // why its functions were run under torch.fx to be read; empty where they were read
};

// What Dynamo made of a graph, and what the passes found in it.
struct CaptureReport {
  struct Break {
    std::string reason;
    std::string file;  // "model.py" for the graph's own; "" where unknown
    int line = 0;
    std::string function;
  };
  size_t graphs = 0;
  std::vector<Break> breaks;
  std::vector<std::string> differences;  // between the text and the captured graph
  std::vector<size_t> matches;           // of each captured graph, where they were matched
  std::string cannot_rewrite;            // why the captured graph cannot be printed; "" where it can
  std::string error_class, error;        // why there is no capture; "" where there is one
};

// One output of the graph: the types of both arms and, where these agree, the comparison.
struct OutputResult {
  OutputInfo eager;
  std::optional<OutputInfo> pass;             // absent where the pass gave fewer outputs
  std::optional<bench::Comparison> compared;  // of tensors
  bool equal_value = false;  // of plain Python values, which are right or wrong at every level
  bool written = true;       // false: the output's room was left untouched

  // The smallest level from which this output counts as correct.
  std::optional<int> correct_from() const;
};

// What one call costs the device beside time, where the device says so (CUDA).
struct Profile {
  std::optional<int64_t> peak_bytes;  // above what was allocated before the call
  std::optional<int64_t> launches;    // kernels
};

struct GraphResult {
  std::string name;
  std::string path;
  bench::GraphStatus status = bench::GraphStatus::kEagerFail;
  Verdict verdict = Verdict::kMachineFault;
  bool matched = false;
  bool strict_passbench = false;    // timed and judged as the reference evaluator does
  std::optional<int> correct_from;  // all outputs; nothing where none is correct up to t = 5
  std::string mode;                 // "normalized" or "passbench"
  std::string matched_on;           // "text" or "capture"; "" where no pass was matched
  std::optional<CaptureReport> capture;
  std::vector<PassUse> passes;
  std::vector<OutputResult> outputs;
  std::optional<Measurement> times;
  // Milliseconds between CUDA events inside the workers: a diagnostic, never a score.
  std::optional<bench::Statistics> eager_gpu, pass_gpu;
  Profile eager_profile, pass_profile;  // diagnostics as well
  int64_t least_bytes = 0;              // every input read and every output written once
  std::optional<BaselineResult> inductor;
  std::vector<std::string> inputs_changed;   // inputs that the original graph writes
  std::optional<bool> inputs_mutated_equal;  // whether both arms left the inputs alike
  // Why, where the verdict is not about numbers: one line, and the traceback of a Python exception.
  std::string message;
  std::string error_class;
  std::string traceback;

  std::string model_name;                                 // of graph_net.json
  std::string rewritten;                                  // the text the candidate ran
  std::string pass_output;                                // what the candidate printed
  double host_ms = 0;                                     // spent by the host itself, not waiting for workers
  std::vector<std::pair<std::string, double>> stages_ms;  // wall time by stage, in order
  double seconds = 0;                                     // from start to verdict

  std::optional<double> speedup() const;
  bench::ScoredGraph scored() const;
};

struct SampleResult {
  std::string name;
  std::string path;
  std::string pass_dir;
  Verdict verdict = Verdict::kMachineFault;
  bool matched = false;  // every graph
  std::vector<GraphResult> graphs;
  std::optional<double> speedup;  // geometric mean over graphs that were measured
  bench::Interval interval;
  std::optional<bench::Scores> scores;
  std::string folder;  // of its files

  // Settles verdict, matched, speed-up and scores from the graphs.
  Status settle();
};

// What was asked and where it ran.
struct RunInfo {
  std::string device;
  std::string hardware;
  std::string python_version;
  std::string torch_version;
  int threads = 0;
  std::vector<int> cpus;
  int warmup = 0;
  int trials = 0;
  double timeout_seconds = 0;
  int correct_at = 0;
  double bytes_per_second = 0;  // what a copy of a large tensor moves on the device; 0: not known
  bool strict_passbench = false;
  std::string candidate = "passes";
  std::string mode;     // "normalized" or "passbench"
  std::string started;  // UTC, ISO 8601
  std::string folder;
};

Json to_json(const GraphResult& graph);
Json to_json(const SampleResult& sample);
// The document of a run: schema "graft/bench-run/v1".
Json to_json(const RunInfo& info, const std::vector<SampleResult>& samples, bool interrupted);

// Where the files of one graph go: the sample's folder, or one below it for each graph where there are
// several.
std::string graph_folder(const SampleResult& sample, size_t index);

// Writes result.json, validation.log, aggregated_score.json and, for each graph, model.py and output.txt into
// the sample's folder, each atomically. `sample.folder` is set; `id` is that of the score file.
Status write_sample_files(const SampleResult& sample, const RunInfo& info, int id);

// The table for people, one line a sample and, for samples of several graphs, one line a graph. Ends in a
// line feed.
std::string table(const std::vector<SampleResult>& samples);
// One line a graph whose answer is no: its name and why, without control characters; "" where every answer is
// yes. Only the first lines of a long reason; the whole of it is in result.json.
std::string reasons(const std::vector<SampleResult>& samples);
// "2 of 3 samples are right and faster ...": the last line of a run.
std::string conclusion(const std::vector<SampleResult>& samples, const std::string& folder);

}  // namespace graft::referee
