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
//               borders, order). Operands of a node that the pattern declares commutative match in either
//               order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/signatures.h"

namespace graft::graph {

enum class MatchMode : uint8_t { kPlain, kNormalized };

// What a pattern node stands for in the graph.
struct Binding {
  // A node or literal of the graph; kUnknown where unbound.
  Value value = Value::unknown();
  // The graph `value` lies in where it is not the matched one: a default value of an operator's signature.
  const Graph* owner = nullptr;
  // Instead of `value`: arguments that a call writes out one by one, as in x.view(2, 3), bound as one list.
  std::vector<Value> packed;
  bool is_packed = false;

  bool bound() const { return is_packed || value.kind != ValueKind::kUnknown; }
};

struct Match {
  std::vector<Binding> bindings;  // by NodeId of the pattern; the output's is unbound
  // The graph's nodes matched by pattern nodes other than parameters, each once, in graph order.
  std::vector<NodeId> nodes;
};

// Why a place that fits the pattern must not be replaced.
struct Refusal {
  std::string reason;             // one sentence
  std::string hint;               // what to change; may be empty
  NodeId node = kNoNode;          // the graph's node at fault
  NodeId pattern_node = kNoNode;  // the pattern's node it concerns, where there is one
};

struct MatchOptions {
  MatchMode mode = MatchMode::kNormalized;
};

struct MatchResult {
  std::vector<Match>
      matches;  // not overlapping, in the order found: by the place of the first returned value's node
  std::vector<Refusal> refusals;  // places that fit but are not legal, at most kMaxRefusals
  static constexpr size_t kMaxRefusals = 32;
};

// A pattern made ready once and matched against many graphs.
class Matcher {
 public:
  // Errors: a pattern without a returned computation, or with a computed value or parameter that nothing
  // uses.
  static Result<Matcher> create(const Graph& pattern, MatchOptions options = {});

  MatchResult match(const Graph& graph) const;

  const Graph& pattern() const { return *pattern_; }
  const std::vector<NodeId>& returning() const { return returning_; }
  const std::vector<NodeId>& anchors() const { return anchors_; }
  const MatchOptions& options() const { return options_; }

 private:
  Matcher(const Graph& pattern, MatchOptions options) : pattern_(&pattern), options_(options) {}

  const Graph* pattern_;  // must outlive the matcher
  MatchOptions options_;
  std::vector<NodeId> returning_;  // distinct returned nodes in order
  std::vector<NodeId> anchors_;    // returned nodes that nothing else of the pattern uses
  std::vector<std::vector<BoundCall>>
      calls_;  // by NodeId of the pattern, for kNormalized: the overloads it fits
  friend class MatchRun;
};

}  // namespace graft::graph
