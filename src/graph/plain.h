// The graph torch.fx's symbolic trace makes of the same model.
#pragma once

#include "graph/graph.h"

namespace graft::graph {

// Differences to the text graph, which the trace brings about by running the code with stand-ins for the
// inputs:
//  * calls that no input reaches are run at once and leave no node; where their tensor is used, a get_attr
//  node
//    "_tensor_constant<k>" stands before the user, one for each use;
//  * `x += y` on a traced value is the plain operator, and so is everything else in place that Python's
//  protocol turns into
//    one;
//  * a method or operator of such a constant tensor with a traced argument is a call_method node.
// Nodes keep names and lines; numbering() of the result is torch's numbering.
Graph plain_graph(const Graph& graph);

}  // namespace graft::graph
