#include "python/ast.h"

#include <algorithm>
#include <utility>

#include "python/visitor.h"

namespace graft::python {
namespace {

constexpr std::string_view kKindNames[] = {
#define GRAFT_PYTHON_NAME(Class, name) name,
    GRAFT_PYTHON_NODE_KINDS(GRAFT_PYTHON_NAME)
#undef GRAFT_PYTHON_NAME
};
constexpr std::string_view kContextNames[] = {"Load", "Store", "Del"};
constexpr std::string_view kBoolNames[] = {"And", "Or"};
constexpr std::string_view kBinaryNames[] = {"Add",    "Sub",    "Mult",    "MatMult", "Div",
                                             "Mod",    "Pow",    "LShift",  "RShift",  "BitOr",
                                             "BitXor", "BitAnd", "FloorDiv"};
constexpr std::string_view kUnaryNames[] = {"Invert", "Not", "UAdd", "USub"};
constexpr std::string_view kCompareNames[] = {"Eq",  "NotEq", "Lt",    "LtE", "Gt",
                                              "GtE", "Is",    "IsNot", "In",  "NotIn"};
constexpr std::string_view kBoolTexts[] = {"and", "or"};
constexpr std::string_view kBinaryTexts[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                             "<<", ">>", "|", "^", "&", "//"};
constexpr std::string_view kUnaryTexts[] = {"~", "not", "+", "-"};
constexpr std::string_view kCompareTexts[] = {"==", "!=", "<",      "<=", ">",
                                              ">=", "is", "is not", "in", "not in"};

template <class E>
constexpr size_t index(E value) {
  return static_cast<size_t>(value);
}

}  // namespace

std::string_view class_name(NodeKind kind) {
  return kKindNames[index(kind)];
}
std::string_view class_name(ExprContext context) {
  return kContextNames[index(context)];
}
std::string_view class_name(BoolOperator op) {
  return kBoolNames[index(op)];
}
std::string_view class_name(BinaryOperator op) {
  return kBinaryNames[index(op)];
}
std::string_view class_name(UnaryOperator op) {
  return kUnaryNames[index(op)];
}
std::string_view class_name(CompareOperator op) {
  return kCompareNames[index(op)];
}
std::string_view operator_text(BoolOperator op) {
  return kBoolTexts[index(op)];
}
std::string_view operator_text(BinaryOperator op) {
  return kBinaryTexts[index(op)];
}
std::string_view operator_text(UnaryOperator op) {
  return kUnaryTexts[index(op)];
}
std::string_view operator_text(CompareOperator op) {
  return kCompareTexts[index(op)];
}

size_t tree_depth(const Node& root) {
  size_t depth = 0;
  std::vector<std::pair<const Node*, size_t>> stack{{&root, 1}};
  while (!stack.empty()) {
    auto [node, level] = stack.back();
    stack.pop_back();
    depth = std::max(depth, level);
    size_t next = level + 1;
    for_each_child(*node, [&stack, next](const Node* child) { stack.emplace_back(child, next); });
  }
  return depth;
}

}  // namespace graft::python
