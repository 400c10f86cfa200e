// Replaces the matches of one pass in a graph.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/matcher.h"
#include "graph/pass_file.h"

namespace graft::graph {

struct RewriteOptions {
  MatchMode mode = MatchMode::kNormalized;
};

struct RewriteReport {
  size_t found = 0;               // matches in the graph as it was
  size_t replaced = 0;            // of those, how many were replaced
  std::vector<NodeId> made;       // the new nodes, in graph order
  std::vector<Refusal> refusals;  // places that fit the pattern but were not replaced
  std::string why_not;            // where nothing was found: the nearest miss, for people
};

// Every match of the pattern becomes: the nodes of replacement_args, one call_function node with target
// `function`, and, for a pattern that returns several values, one getitem node for each. A later match that
// refers to a replaced value refers to its replacement. New nodes stand before the first user of a returned
// value and behind everything they use. Nodes of the match are removed unless something else still uses them.
// The graph is verified afterwards.
Result<RewriteReport> rewrite(Graph& graph, const PassFile& pass, const std::string& function,
                              const RewriteOptions& options = {});

}  // namespace graft::graph
