// Why a pattern does not occur: the place of a graph that comes nearest to it, and where it first differs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "graph/graph.h"
#include "graph/matcher.h"

namespace graft::graph {

struct Difference {
  enum class Kind : uint8_t {
    kOperation,     // another operator or kind of node
    kArgument,      // another literal, or a literal on one side and a computed value on the other
    kArity,         // an argument that only one side gives
    kBinding,       // a parameter or value that stands for two different things
    kPatternExtra,  // the pattern computes a step that the graph does not have
    kGraphExtra,    // the graph computes a step that the pattern does not have
    kRefused,       // the place fits, but a replacement could change a result
  };
  Kind kind = Kind::kOperation;
  NodeId pattern_node = kNoNode;  // where the two differ; kNoNode where only one side has a node
  NodeId graph_node = kNoNode;
  std::string parameter;  // kArgument, kArity: the argument's name, or "argument 2"
  std::string expected;   // what the pattern has
  std::string actual;     // what the graph has
  std::string message;    // one sentence with names and lines of both files
  std::string hint;       // what to change; may be empty
};
// "operation", "argument", "arity", "binding", "pattern_extra", "graph_extra", "refused".
std::string_view difference_name(Difference::Kind kind);

struct NearestMiss {
  std::vector<Difference> differences;  // the one nearest to the pattern's result first; never empty
  size_t matched = 0;                   // pattern nodes (parameters aside) that agree at that place
  size_t total = 0;                     // of how many
  NodeId place = kNoNode;               // the graph's node the pattern's first returned value was laid on

  // One sentence: the first difference and how much agrees.
  std::string to_string() const;
};

// For a pattern that `found` no match for. Nothing for an empty graph, or where `found` has a match. Time is
// linear in the graph for a fixed pattern.
std::optional<NearestMiss> nearest_miss(const Matcher& matcher, const Graph& graph, const MatchResult& found);

Json nearest_miss_json(const NearestMiss& miss, const Graph& pattern, const Graph& graph);

}  // namespace graft::graph
