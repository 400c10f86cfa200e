// The identity of what a graph computes, whatever its values are called.
#pragma once

#include <string>

#include "graph/graph.h"

namespace graft::graph {

// "graph-v1:" and 64 hexadecimal digits: the SHA-256 of node kinds, targets, arguments and literals in graph
// order, nodes by their number. Equal for two graphs that differ only in names, lines and annotations;
// parameter names do not count either, their number and order do.
std::string graph_hash(const Graph& graph);

}  // namespace graft::graph
