// The hint graft.pattern.commutative(value) of a pattern: the operator that makes `value` takes its two
// operands in either order.
#pragma once

#include <string_view>

#include "base/result.h"
#include "graph/graph.h"

namespace graft::graph {

// The module of the hints, and the hint's name as a pattern may call it.
inline constexpr std::string_view kHintModule = "graft.pattern";
inline constexpr std::string_view kCommutativeHint = "graft.pattern.commutative";

// Patterns with more hints than this are refused: each may double the work of a match.
inline constexpr int kMaxCommutative = 12;

// Sets Node::commutative of the node behind `value`. An Error at `place` where `value` is no call of an
// operator that is commutative in mathematics (+, *, maximum, minimum, ==, !=, logical and bitwise and, or,
// xor, in their torch, method and operator spellings) with exactly its two operands: add with `alpha` is
// none.
Status mark_commutative(Graph& graph, Value value, const Place& place);

}  // namespace graft::graph
