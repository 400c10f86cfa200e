// What dotted names mean: torch's dtypes, layouts and memory formats, float constants, and which name torch
// itself gives to a function that is reachable under several.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace graft::graph {

// The literal a dotted name stands for: "torch.half" is the dtype torch.float16, "math.inf" a float. None for
// functions and everything unknown.
std::optional<Value> literal_of_global(Graph& graph, std::string_view dotted);

// One name per function object: "torch.nn.functional.gelu" -> "torch._C._nn.gelu", "operator.add" ->
// "_operator.add". Other names come back unchanged.
std::string canonical_function(std::string_view dotted);

// Builtins that may be called in a graph: "int" -> true. Their targets are "builtins.<name>".
bool is_callable_builtin(std::string_view name);

// The operator functions behind Python's syntax, without the "_operator." in front.
struct OperatorSyntax {
  std::string_view function;  // "add"
  std::string_view text;      // "+"
  int arity = 2;              // 1 or 2
  bool in_place = false;      // iadd: "+="
};
// nullptr where `target` is not "_operator.<one of them>".
const OperatorSyntax* operator_syntax(std::string_view target);

}  // namespace graft::graph
