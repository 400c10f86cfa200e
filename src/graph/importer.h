// Python text -> Graph, without running it.
//
// Understood: straight-line code over tensors as captured graphs have it (calls, methods, operators,
// subscripts, attribute chains, slices, nested containers, `x += y`, `x[i] = y`, unpacking, releases by `=
// None` or `del`, annotations), literals of torch (dtypes, devices, layouts, memory formats, inf and nan),
// and arithmetic on constants, which is folded as a trace would fold it. Names follow Python's scopes: a
// parameter or local hides an import or builtin. Everything else is an error with its place; nothing is left
// out silently.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/scope.h"
#include "python/parser.h"

namespace graft::graph {

struct ImportOptions {
  // Also follow what a trace would unroll: `for` and comprehensions over constants, `if` on constants, calls
  // of functions of the same file, closures.
  bool unroll = false;
  // The function is a method: its first parameter is `self`.
  bool method = false;
  // Stop unrolling beyond this many nodes.
  size_t max_nodes = 1000000;
};

// The forward of the class GraphModule. Errors: no such class or method, a parse error, whatever is not
// understood.
Result<Graph> import_model(const python::ParsedModule& module);

// One function of a module.
Result<Graph> import_function(const ModuleScope& scope, const python::FunctionBase& function,
                              const ImportOptions& options);

// Parses and imports; `file` is named in errors.
Result<Graph> import_model_text(std::string text, std::string file = {});
Result<Graph> import_model_file(const std::string& path);

}  // namespace graft::graph
