// The graph of one GraphModule: what torch.fx calls a Graph, as plain data.
//
// Nodes live in a pool and are named by their index (NodeId), which stays valid for the life of the graph,
// also after the node is removed. Their order is a linked list. A copy of a graph is a copy of a few vectors.
//
// Node kinds, targets and the form of arguments are those of torch.fx: operators are call_function nodes with
// targets such as "_operator.add", `x[i]` is "_operator.getitem", `x.shape` is "builtins.getattr" with the
// attribute's name as second argument. Additions: `x += y` is "_operator.iadd" and `x[i] = y` is
// "_operator.setitem", both of which write to x.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "graph/symbol.h"

namespace graft::graph {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

enum class Op : uint8_t { kPlaceholder, kGetAttr, kCallFunction, kCallMethod, kCallModule, kOutput };
// "placeholder", "get_attr", "call_function", "call_method", "call_module", "output".
std::string_view op_name(Op op);

enum class ValueKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kBigInt,   // symbol: decimal digits of an int outside 64 bits
  kFloat,    // also inf and nan
  kComplex,  // real holds the imaginary part of a literal such as 2j
  kString,   // symbol
  kBytes,    // symbol: the raw bytes
  kEllipsis,
  kDtype,         // symbol: "torch.float32"
  kDevice,        // symbol: "cuda" or "cuda:0"
  kLayout,        // symbol: "torch.strided"
  kMemoryFormat,  // symbol: "torch.contiguous_format"
  kGlobal,        // symbol: the dotted name of a function or object used as a value, "torch.float32" aside
  kNode,          // index: the node that makes the value
  kTuple,         // children
  kList,          // children
  kDict,          // children: key, value, key, value, ...
  kSlice,         // three children: start, stop, step
  kUnknown,       // a literal whose value is not known here; equal to nothing
};

// One argument. Sixteen bytes, trivially copied; the children of a composite lie in the graph's value pool.
struct Value {
  ValueKind kind = ValueKind::kNone;
  uint32_t count = 0;  // number of children
  union {
    int64_t integer = 0;  // kBool (0 or 1), kInt
    double real;          // kFloat, kComplex
    uint32_t index;       // node, first child or symbol
  };

  static Value none() { return {}; }
  static Value boolean(bool value);
  static Value of_int(int64_t value);
  static Value of_float(double value);
  static Value of_node(NodeId node);
  static Value of_symbol(ValueKind kind, Symbol symbol);
  static Value ellipsis();
  static Value unknown();

  bool is_none() const { return kind == ValueKind::kNone; }
  bool is_node() const { return kind == ValueKind::kNode; }
  bool is_sequence() const { return kind == ValueKind::kTuple || kind == ValueKind::kList; }
  bool is_composite() const { return kind >= ValueKind::kTuple && kind <= ValueKind::kSlice; }
  bool has_symbol() const;
  NodeId node() const { return index; }
};

struct Keyword {
  Symbol name = kNoSymbol;
  Value value;
};

// Lines of the text a node came from, counted from 1; 0 where it came from no text.
struct Lines {
  int first = 0;
  int last = 0;
  int column = 0;  // of the expression's start, in code points from 1
};

struct Node {
  Op op = Op::kCallFunction;
  bool removed = false;
  // call_function: dotted name; call_method: method; call_module, get_attr: dotted path below self;
  // placeholder: parameter name; output: "output".
  Symbol target = kNoSymbol;
  Symbol name = kNoSymbol;        // unique in the graph; a Python identifier
  Symbol annotation = kNoSymbol;  // the source text of a parameter's annotation, where it has one
  bool keyword_only = false;      // placeholder after `*`
  bool commutative = false;       // of a pattern: the hint says that its two operands may be swapped
  Lines lines;
  std::vector<Value> args;  // placeholder: its default value, if any; output: the one returned value
  std::vector<Keyword> kwargs;

 private:
  friend class Graph;
  NodeId previous_ = kNoNode;
  NodeId next_ = kNoNode;
  uint64_t rank_ = 0;           // grows along the order
  std::vector<NodeId> users_;   // each once; may name removed nodes
  uint32_t removed_users_ = 0;  // how many of users_ are removed
};

class Graph {
 public:
  // The name of the model or pattern, and the file it was read from; both may be empty.
  std::string name;
  std::string file;
  // Of a pattern: why its text was run under torch.fx instead of being read; empty where it was read.
  std::string traced;
  // Modules the text imported besides torch, for the printer: "operator", "einops.layers".
  std::vector<std::string> imports;
  // Text of the class GraphModule besides forward (indented as read), and of the module's functions, classes
  // and assignments before it: printed again as they are.
  std::string members;
  std::string prelude;

  // --- reading
  // -----------------------------------------------------------------------------------------------------------
  const Node& node(NodeId id) const { return nodes_[id]; }
  NodeId first() const { return first_; }
  NodeId last() const { return last_; }
  NodeId next(NodeId id) const { return nodes_[id].next_; }
  NodeId previous(NodeId id) const { return nodes_[id].previous_; }
  // The output node, or kNoNode while a graph is being made.
  NodeId output() const { return output_; }
  const std::vector<NodeId>& placeholders() const { return placeholders_; }
  // Live nodes, all kinds.
  size_t size() const { return live_; }
  // One more than the greatest NodeId: for tables by NodeId.
  size_t pool_size() const { return nodes_.size(); }
  // True when a stands before b in the order.
  bool before(NodeId a, NodeId b) const { return nodes_[a].rank_ < nodes_[b].rank_; }
  // Grows along the order; changes when nodes are inserted.
  uint64_t rank(NodeId id) const { return nodes_[id].rank_; }
  // Position in the order, by NodeId; UINT32_MAX for removed nodes.
  std::vector<uint32_t> numbering() const;
  std::vector<NodeId> order() const;

  std::span<const Value> children(Value value) const;
  std::string_view text(Symbol symbol) const { return symbols_.text(symbol); }
  std::string_view target(NodeId id) const { return symbols_.text(nodes_[id].target); }
  std::string_view node_name(NodeId id) const { return symbols_.text(nodes_[id].name); }
  const SymbolTable& symbols() const { return symbols_; }
  // The keyword's value, or nullptr.
  const Value* keyword(NodeId id, std::string_view wanted) const;
  bool is_call(NodeId id, std::string_view function) const {
    return nodes_[id].op == Op::kCallFunction && target(id) == function;
  }

  // Calls visit(NodeId) for each live user once, in the order of their making.
  template <class Visit>
  void for_each_user(NodeId id, Visit visit) const {
    for (const NodeId user : nodes_[id].users_) {
      if (!nodes_[user].removed) visit(user);
    }
  }
  // Live users in graph order.
  std::vector<NodeId> users(NodeId id) const;
  size_t user_count(NodeId id) const { return nodes_[id].users_.size() - nodes_[id].removed_users_; }

  // Calls visit(NodeId) for every reference to a node inside `value`, with repeats, depth first.
  template <class Visit>
  void for_each_node(Value value, Visit& visit) const {
    if (value.is_node()) {
      visit(value.node());
    } else if (value.is_composite()) {
      for (const Value& child : children(value)) for_each_node(child, visit);
    }
  }
  // The same over all arguments of a node, positional ones first.
  template <class Visit>
  void for_each_input(NodeId id, Visit visit) const {
    for (const Value& value : nodes_[id].args) for_each_node(value, visit);
    for (const Keyword& keyword : nodes_[id].kwargs) for_each_node(keyword.value, visit);
  }
  // Distinct inputs in order of first appearance.
  std::vector<NodeId> inputs(NodeId id) const;

  // --- making
  // ------------------------------------------------------------------------------------------------------------
  Symbol intern(std::string_view text) { return symbols_.intern(text); }
  Value string(std::string_view text) { return Value::of_symbol(ValueKind::kString, intern(text)); }
  // kTuple, kList, kDict or kSlice of the given children.
  Value composite(ValueKind kind, std::span<const Value> values);

  // Appends (or inserts before `before`) a node. `name` is made unique. Placeholders belong before all other
  // nodes. Exactly one output node may be added, as the last.
  NodeId add(Op op, std::string_view target, std::string_view name, std::vector<Value> args = {},
             std::vector<Keyword> kwargs = {}, Lines lines = {}, NodeId before = kNoNode);
  Node& mutable_annotation(NodeId id) { return nodes_[id]; }  // for annotation, flags and lines only

  // `wanted` when free, else with "_1", "_2", ... behind it. Never a Python keyword, `self`, `torch` or a
  // name the printer needs. Reserves what it returns.
  Symbol unique_name(std::string_view wanted);

  // --- mutation; keeps users right
  // ----------------------------------------------------------------------------------------- Every use of
  // `old` becomes `value` (a node or a literal), also inside lists, tuples, dicts and slices. A node in
  // `value` must stand before every user.
  void replace_uses(NodeId old, Value value);
  // Removes a node that has no users.
  void remove(NodeId id);
  void move_before(NodeId id, NodeId position);

  // A copy of `value` of another graph: symbols and children are brought over, nodes go through `map` (by
  // NodeId of the other graph), which must hold a value for each.
  Value copy_value(const Graph& from, Value value, std::span<const Value> map);

  // Definition before use, no reference to a removed node, users as the arguments say, one output at the end,
  // unique names.
  Status verify() const;

 private:
  void link_before(NodeId id, NodeId position);
  void unlink(NodeId id);
  void renumber();
  void add_user(NodeId input, NodeId user);
  bool substitute(Value& value, NodeId old, Value replacement);

  std::vector<Node> nodes_;
  std::vector<Value> values_;
  SymbolTable symbols_;
  std::unordered_map<Symbol, uint32_t> names_;  // taken names -> next suffix to try
  std::vector<NodeId> placeholders_;
  NodeId first_ = kNoNode;
  NodeId last_ = kNoNode;
  NodeId output_ = kNoNode;
  size_t live_ = 0;
};

// Structural equality of two literal or composite values of (possibly) two graphs: same Python type and equal
// value, so 1, 1.0 and True differ; nan equals nan; lists and tuples differ; nodes are compared by
// `same_node(a, b)`.
template <class SameNode>
bool equal_values(const Graph& a_graph, Value a, const Graph& b_graph, Value b, SameNode& same_node);

// Literals only: false where either holds a node.
bool equal_literals(const Graph& a_graph, Value a, const Graph& b_graph, Value b);

template <class SameNode>
bool equal_values(const Graph& a_graph, Value a, const Graph& b_graph, Value b, SameNode& same_node) {
  if (a.kind != b.kind) return false;
  if (a.is_node()) return same_node(a.node(), b.node());
  if (!a.is_composite()) return equal_literals(a_graph, a, b_graph, b);
  if (a.count != b.count) return false;
  const auto a_children = a_graph.children(a);
  const auto b_children = b_graph.children(b);
  for (size_t i = 0; i < a_children.size(); ++i) {
    if (!equal_values(a_graph, a_children[i], b_graph, b_children[i], same_node)) return false;
  }
  return true;
}

}  // namespace graft::graph
