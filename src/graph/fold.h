// Arithmetic on constants with Python's results: what a trace computes before it reaches the graph.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "python/ast.h"

namespace graft::graph {

// The functions give nothing where an operand is no plain constant, or where Python would raise or need a big
// int.
std::optional<Value> fold_binary(Graph& graph, python::BinaryOperator op, Value left, Value right);
std::optional<Value> fold_unary(python::UnaryOperator op, Value operand);
std::optional<Value> fold_compare(const Graph& graph, python::CompareOperator op, Value left, Value right);
// bool(value); nothing for nodes and values that are not known.
std::optional<bool> truth(const Graph& graph, Value value);
// value[index] of a constant tuple, list, dict or string-free container.
std::optional<Value> fold_getitem(Graph& graph, Value container, Value index);

}  // namespace graft::graph
