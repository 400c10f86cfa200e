// Everything about a sample that is settled before any process starts: texts read, graphs imported, passes
// matched on the text, the rewritten text printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/materialize.h"
#include "bench/sample.h"
#include "graph/graph.h"
#include "graph/pass_file.h"
#include "graph/trace_pattern.h"
#include "referee/result.h"

namespace graft::referee {

// A call in the rewritten text and the pass whose replacement function it calls.
struct Replacement {
  std::string symbol;  // "graft_replacement_0"
  std::string pass;
  std::string path;
};

// What patterns are matched on, and how (docs/cli.md).
enum class PassMode {
  kNormalized,  // the text of the graph
  kPassbench,   // what Dynamo makes of it: see match_on_capture() in captures.h
};
// "normalized", "passbench".
std::string_view pass_mode_name(PassMode mode);

// What runs in the candidate worker.
enum class CandidateKind : uint8_t {
  kPasses,    // the graph with its passes applied
  kIdentity,  // the original graph, read and printed back: a control whose speed-up is 1 within noise
  kInductor,  // the original graph through torch.compile
};

struct PrepareOptions {
  std::string device = "cpu";
  CandidateKind candidate = CandidateKind::kPasses;
  PassMode mode = PassMode::kNormalized;
  // Limits on output passes, see bench::apply_pass_limits; < 0: none.
  int function_limit = -1;
  int pattern_limit = -1;
  // Passes over a limit are dropped as the reference evaluator drops them, not in order.
  bool strict_passbench = false;
  // Whether a pass whose text cannot be read may be run under torch.fx.
  graph::TraceOptions trace;
};

struct PreparedGraph {
  bench::GraphFolder folder;
  std::string source;  // model.py
  bench::MaterializePlan plan;
  graph::Graph text;  // the graph of `source`
  PassMode mode = PassMode::kNormalized;
  std::string matched_on;                // "text" or "capture"; "" while no pass was matched
  std::optional<CaptureReport> capture;  // where it was asked for
  std::string miss_note;  // said beside the passes' own reasons where not matched; may be empty
  bool matched = false;
  std::string rewritten;                  // where matched
  std::vector<int64_t> output_of_leaves;  // matched on a capture: see graph::output_of_leaves
  std::vector<Replacement> replacements;
  std::vector<std::string> import_folders;  // parents of the pass folders, for imports between pass files
  std::vector<PassUse> passes;
  std::optional<std::string> forbidden;          // the rules for pass files that the passes break
  std::optional<Error> failure;                  // the graph itself cannot be evaluated
  std::string failure_class, failure_traceback;  // of a Python exception behind `failure`; else empty
  std::optional<Error> pass_failure;             // the text of a pass cannot be read
};

struct PreparedSample {
  bench::Sample sample;
  std::vector<graph::PassFile> passes;  // empty where one of them cannot be read
  std::vector<PreparedGraph> graphs;
};

// The tensors of a graph folder, from weight_meta.py and input_meta.py.
Result<bench::MaterializePlan> read_plan(const bench::GraphFolder& folder);

// An Error where nothing of the sample can be evaluated: it cannot be read, its passes are not there or not
// listed as they should be, or none of its graphs is whole.
Result<PreparedSample> prepare_sample(const std::string& path, const bench::SampleOptions& options,
                                      const PrepareOptions& prepare_options);

// The samples named by a command line: a folder with graph_list.txt is a sample, as is a graph folder when
// `pass_dir` is given; any other folder is searched for samples, in sorted order. An Error where there is
// none.
Result<std::vector<std::string>> find_samples(const std::vector<std::string>& paths, bool with_pass_dir);

}  // namespace graft::referee
