#include "graph/commutative.h"

#include <algorithm>
#include <string>
#include <unordered_set>

namespace graft::graph {
namespace {

bool is_commutative_name(std::string_view name) {
  static const std::unordered_set<std::string_view> kNames = {
      "add",         "mul",         "multiply",   "maximum",    "minimum",     "fmax",
      "fmin",        "eq",          "ne",         "not_equal",  "logical_and", "logical_or",
      "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"};
  return kNames.contains(name);
}

// Whether the node calls an operator that is commutative as long as it is given its operands only.
bool is_commutative_operator(const Graph& graph, NodeId id) {
  std::string_view target = graph.target(id);
  if (graph.node(id).op == Op::kCallMethod) return is_commutative_name(target);
  if (graph.node(id).op != Op::kCallFunction) return false;
  constexpr std::string_view kOperator = "_operator.";
  constexpr std::string_view kTorch = "torch.";
  if (target.starts_with(kOperator)) {
    static const std::unordered_set<std::string_view> kNames = {"add",  "mul", "eq", "ne",
                                                                "and_", "or_", "xor"};
    return kNames.contains(target.substr(kOperator.size()));
  }
  return target.starts_with(kTorch) && is_commutative_name(target.substr(kTorch.size()));
}

}  // namespace

Status mark_commutative(Graph& graph, Value value, const Place& place) {
  constexpr const char* kExpected =
      "a sum, product, maximum, minimum, ==, != or a logical or bitwise and, or, xor of two operands";
  if (!value.is_node() || graph.node(value.node()).op == Op::kPlaceholder) {
    return input_error("commutative() needs a value that the pattern computes", place, kExpected);
  }
  const NodeId id = value.node();
  const std::string target =
      (graph.node(id).op == Op::kCallMethod ? "." : "") + std::string(graph.target(id));
  if (!is_commutative_operator(graph, id))
    return input_error("'" + target + "' is not commutative", place, kExpected);
  const Node& node = graph.node(id);
  for (const Keyword& keyword : node.kwargs) {
    const std::string_view name = graph.text(keyword.name);
    static const std::unordered_set<std::string_view> kOperands = {"self", "input", "other", "x", "x1", "x2"};
    if (kOperands.contains(name)) continue;
    return input_error("'" + target + "' with '" + std::string(name) + "=' is not commutative", place,
                       kExpected);
  }
  if (node.args.size() + node.kwargs.size() != 2) {
    return input_error("'" + target + "' of " + std::to_string(node.args.size() + node.kwargs.size()) +
                           " arguments is not commutative",
                       place, kExpected);
  }
  graph.mutable_annotation(id).commutative = true;
  return {};
}

}  // namespace graft::graph
