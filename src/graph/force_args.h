// The form in which the reference evaluator traces a pattern before it matches it against a captured graph.
#pragma once

#include "graph/graph.h"

namespace graft::graph {

// plain_graph() of the pattern, then: the arguments of every call of a function with a Python signature
// become positional, defaults filled in; keyword values that such a signature takes only through **kwargs or
// as keyword-only are lost, as they are there. Calls of C++ bindings and methods stay as written. To be
// matched in kPlain against a captured graph.
Graph force_args(const Graph& pattern);

}  // namespace graft::graph
