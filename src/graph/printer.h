// Graph -> Python text.
#pragma once

#include <string>

#include "graph/graph.h"

namespace graft::graph {

// A module with `class GraphModule(torch.nn.Module)` whose forward computes the graph. It needs nothing but
// the modules the graph imports (and whoever runs it to define the functions named graft_replacement_<k>),
// and reads back as the same graph. Every value is released (`x = None`) behind its last use, as torch.fx
// prints it. Names never hide one another: constants are written as float('inf'), torch.device(...), and a
// parameter named like a builtin or a module that is needed gets that name's place only after the other was
// saved.
std::string print_module(const Graph& graph);

// The graph's nodes, one a line: "%7 = call_function torch.relu(%3, inplace=True)  # users: %8, line 12".
std::string print_ir(const Graph& graph);

// Graphviz.
std::string print_dot(const Graph& graph);

// One value as Python text, nodes by their names: for messages.
std::string print_value(const Graph& graph, Value value);
// The node as one Python expression, such as "torch.relu(x, inplace=True)": for messages.
std::string print_node(const Graph& graph, NodeId id);

}  // namespace graft::graph
