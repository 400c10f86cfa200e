// Everything about a sample that is settled before any process starts: texts read, graphs imported, passes
// matched, the rewritten text printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/materialize.h"
#include "bench/sample.h"
#include "referee/result.h"

namespace graft::referee {

// A call in the rewritten text and the pass whose replacement function it calls.
struct Replacement {
  std::string symbol;  // "graft_replacement_0"
  std::string pass;
  std::string path;
};

// What runs in the candidate worker.
enum class CandidateKind : uint8_t {
  kPasses,    // the graph with its passes applied
  kIdentity,  // the original graph, read and printed back: a control whose speed-up is 1 within noise
  kInductor,  // the original graph through torch.compile
};

struct PrepareOptions {
  std::string device = "cpu";
  CandidateKind candidate = CandidateKind::kPasses;
  // Limits on output passes, see bench::apply_pass_limits; < 0: none.
  int function_limit = -1;
  int pattern_limit = -1;
  // Passes over a limit are dropped as the reference evaluator drops them, not in order.
  bool strict_passbench = false;
};

struct PreparedGraph {
  bench::GraphFolder folder;
  std::string source;  // model.py
  bench::MaterializePlan plan;
  bool matched = false;
  std::string rewritten;  // where matched
  std::vector<Replacement> replacements;
  std::vector<std::string> import_folders;  // parents of the pass folders, for imports between pass files
  std::vector<PassUse> passes;
  std::optional<std::string> forbidden;  // the rules for pass files that the passes break
  std::optional<Error> failure;          // the graph itself cannot be evaluated
  std::optional<Error> pass_failure;     // the text of a pass cannot be read
};

struct PreparedSample {
  bench::Sample sample;
  std::vector<PreparedGraph> graphs;
};

// An Error where nothing of the sample can be evaluated: it cannot be read, its passes are not there or not
// listed as they should be, or none of its graphs is whole.
Result<PreparedSample> prepare_sample(const std::string& path, const bench::SampleOptions& options,
                                      const PrepareOptions& prepare_options);

// The samples named by a command line: a folder with graph_list.txt is a sample, as is a graph folder when
// `pass_dir` is given; any other folder is searched for samples, in sorted order. An Error where there is
// none.
Result<std::vector<std::string>> find_samples(const std::vector<std::string>& paths, bool with_pass_dir);

}  // namespace graft::referee
