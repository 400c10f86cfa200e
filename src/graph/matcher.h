// Finds every place of a graph where a pattern occurs.
//
// Modes:
//  kPlain       what torch.fx.passes' SubgraphMatcher reports on these two graphs (output ignored, parameters
//  are wildcards,
//               overlaps removed, literals compared): arguments by place and spelling, one node per
//               parameter, no look at writes.
//  kNormalized  semantically the same calls match: arguments are bound to the operator's signature first
//  (defaults filled
//               in, positional and keyword forms unified), two parameters may be one value, and a match is
//               legal only where replacing it cannot change a result (writes, aliases, random numbers, region
//               borders, order).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace graft::graph {

enum class MatchMode : uint8_t { kPlain, kNormalized };

struct Match {
  // By NodeId of the pattern: the graph's node or literal it stands for. Entries of the pattern's output are
  // unset (kUnknown).
  std::vector<Value> bindings;
  // The graph's nodes matched by pattern nodes other than parameters, each once, in graph order.
  std::vector<NodeId> nodes;
};

struct MatchOptions {
  MatchMode mode = MatchMode::kNormalized;
};

struct MatchResult {
  std::vector<Match>
      matches;  // not overlapping, in the order found: by the place of the first returned value's node
};

// A pattern made ready once and matched against many graphs.
class Matcher {
 public:
  // Errors: a pattern without a returned computation, or with a computed value or parameter that nothing
  // uses.
  static Result<Matcher> create(const Graph& pattern, MatchOptions options = {});

  MatchResult match(const Graph& graph) const;

 private:
  Matcher(const Graph& pattern, MatchOptions options) : pattern_(&pattern), options_(options) {}

  const Graph* pattern_;  // must outlive the matcher
  MatchOptions options_;
  std::vector<NodeId> returning_;  // distinct returned nodes in order
  std::vector<NodeId> anchors_;    // returned nodes that nothing else of the pattern uses
  friend class MatchRun;
};

}  // namespace graft::graph
