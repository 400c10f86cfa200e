// A list of passes applied to a model, one after the other.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/pass_file.h"
#include "graph/rewriter.h"

namespace graft::graph {

struct AppliedPass {
  std::string name;  // file stem
  std::string path;
  std::string
      replacement;  // name of the function the printed source calls: "graft_replacement_<index in the list>"
  size_t matches = 0;   // replaced; 0: the source does not call the function
  std::string why_not;  // where nothing was replaced: the reason, for people
};

struct RewrittenModel {
  Graph graph;
  std::string source;               // importable text of the rewritten class GraphModule
  std::vector<AppliedPass> passes;  // one for each pass of the list, in order
  size_t matches = 0;               // over all passes
};

// Passes with violations are applied too: whether they may run is the caller's decision.
Result<RewrittenModel> apply_passes(const Graph& graph, const std::vector<PassFile>& passes,
                                    const RewriteOptions& options = {});

}  // namespace graft::graph
