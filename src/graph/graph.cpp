#include "graph/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace graft::graph {
namespace {

constexpr uint64_t kRankStep = uint64_t{1} << 24;

// Python's keywords and the names a printed module uses itself.
bool is_reserved(std::string_view name) {
  static const std::unordered_set<std::string_view> kReserved = {
      "False",     "None",     "True",     "and",  "as",    "assert", "async",    "await", "break",
      "class",     "def",      "del",      "elif", "else",  "except", "finally",  "for",   "from",
      "global",    "if",       "import",   "in",   "is",    "lambda", "nonlocal", "not",   "or",
      "pass",      "raise",    "return",   "try",  "while", "with",   "yield",    "self",  "torch",
      "_operator", "operator", "builtins", "math", "slice", "float",  "Ellipsis"};
  return kReserved.contains(name);
}

}  // namespace

std::string_view op_name(Op op) {
  constexpr std::array<std::string_view, 6> kNames = {"placeholder", "get_attr",    "call_function",
                                                      "call_method", "call_module", "output"};
  return kNames[static_cast<size_t>(op)];
}

Value Value::boolean(bool value) {
  Value result;
  result.kind = ValueKind::kBool;
  result.integer = value ? 1 : 0;
  return result;
}

Value Value::of_int(int64_t value) {
  Value result;
  result.kind = ValueKind::kInt;
  result.integer = value;
  return result;
}

Value Value::of_float(double value) {
  Value result;
  result.kind = ValueKind::kFloat;
  result.real = value;
  return result;
}

Value Value::of_node(NodeId node) {
  Value result;
  result.kind = ValueKind::kNode;
  result.index = node;
  return result;
}

Value Value::of_symbol(ValueKind kind, Symbol symbol) {
  Value result;
  result.kind = kind;
  result.index = symbol;
  return result;
}

Value Value::ellipsis() {
  Value result;
  result.kind = ValueKind::kEllipsis;
  return result;
}

Value Value::unknown() {
  Value result;
  result.kind = ValueKind::kUnknown;
  return result;
}

bool Value::has_symbol() const {
  switch (kind) {
    case ValueKind::kBigInt:
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kDtype:
    case ValueKind::kDevice:
    case ValueKind::kLayout:
    case ValueKind::kMemoryFormat:
    case ValueKind::kGlobal:
      return true;
    default:
      return false;
  }
}

std::vector<uint32_t> Graph::numbering() const {
  std::vector<uint32_t> numbers(nodes_.size(), UINT32_MAX);
  uint32_t number = 0;
  for (NodeId id = first_; id != kNoNode; id = nodes_[id].next_) numbers[id] = number++;
  return numbers;
}

std::vector<NodeId> Graph::order() const {
  std::vector<NodeId> result;
  result.reserve(live_);
  for (NodeId id = first_; id != kNoNode; id = nodes_[id].next_) result.push_back(id);
  return result;
}

std::span<const Value> Graph::children(Value value) const {
  if (!value.is_composite() || value.count == 0) return {};
  return std::span<const Value>(values_).subspan(value.index, value.count);
}

const Value* Graph::keyword(NodeId id, std::string_view wanted) const {
  for (const Keyword& keyword : nodes_[id].kwargs) {
    if (text(keyword.name) == wanted) return &keyword.value;
  }
  return nullptr;
}

std::vector<NodeId> Graph::users(NodeId id) const {
  std::vector<NodeId> result;
  result.reserve(user_count(id));
  for_each_user(id, [&](NodeId user) { result.push_back(user); });
  std::sort(result.begin(), result.end(), [&](NodeId a, NodeId b) { return before(a, b); });
  return result;
}

std::vector<NodeId> Graph::inputs(NodeId id) const {
  std::vector<NodeId> result;
  for_each_input(id, [&](NodeId input) {
    if (std::find(result.begin(), result.end(), input) == result.end()) result.push_back(input);
  });
  return result;
}

Value Graph::composite(ValueKind kind, std::span<const Value> values) {
  Value result;
  result.kind = kind;
  result.count = static_cast<uint32_t>(values.size());
  result.index = static_cast<uint32_t>(values_.size());
  // `values` may lie in the pool itself.
  const std::vector<Value> copy(values.begin(), values.end());
  values_.insert(values_.end(), copy.begin(), copy.end());
  return result;
}

NodeId Graph::add(Op op, std::string_view target, std::string_view wanted_name, std::vector<Value> args,
                  std::vector<Keyword> kwargs, Lines lines, NodeId before) {
  const NodeId id = static_cast<NodeId>(nodes_.size());
  const std::string wanted(wanted_name);  // the view may lie in our own table, which intern() moves
  Node node;
  node.op = op;
  node.target = intern(target);
  node.name = unique_name(wanted);
  node.args = std::move(args);
  node.kwargs = std::move(kwargs);
  node.lines = lines;
  nodes_.push_back(std::move(node));
  ++live_;
  link_before(id, before);
  if (op == Op::kPlaceholder) placeholders_.push_back(id);
  if (op == Op::kOutput) output_ = id;
  for_each_input(id, [&](NodeId input) { add_user(input, id); });
  return id;
}

Symbol Graph::unique_name(std::string_view wanted) {
  if (wanted.empty()) wanted = "value";
  const Symbol base = intern(wanted);
  auto [entry, inserted] = names_.try_emplace(base, 1);
  if (inserted && !is_reserved(wanted)) return base;
  // The suffix counter makes the search constant on average; a taken "name_3" of the text's own is skipped.
  const std::string stem = std::string(wanted) + "_";
  uint32_t suffix = entry->second;
  while (true) {
    const Symbol symbol = intern(stem + std::to_string(suffix));
    ++suffix;
    if (names_.try_emplace(symbol, 1).second) {
      names_[base] = suffix;
      return symbol;
    }
  }
}

void Graph::add_user(NodeId input, NodeId user) {
  std::vector<NodeId>& users = nodes_[input].users_;
  // All references of one user are added together, so a repeat can only be the last entry.
  if (users.empty() || users.back() != user) users.push_back(user);
}

bool Graph::substitute(Value& value, NodeId old, Value replacement) {
  if (value.is_node()) {
    if (value.node() != old) return false;
    value = replacement;
    return true;
  }
  if (!value.is_composite()) return false;
  bool changed = false;
  for (uint32_t i = 0; i < value.count; ++i) {
    // Through the index: the pool does not move here, but a child is a copy-free reference into it.
    changed = substitute(values_[value.index + i], old, replacement) || changed;
  }
  return changed;
}

void Graph::replace_uses(NodeId old, Value value) {
  const std::vector<NodeId> old_users = std::exchange(nodes_[old].users_, {});
  nodes_[old].removed_users_ = 0;
  for (const NodeId user : old_users) {
    Node& node = nodes_[user];
    if (node.removed) continue;
    std::vector<NodeId> fresh;
    auto note = [&](NodeId input) { fresh.push_back(input); };
    for_each_node(value, note);
    for (Value& argument : node.args) substitute(argument, old, value);
    for (Keyword& keyword : node.kwargs) substitute(keyword.value, old, value);
    for (const NodeId input : fresh) {
      std::vector<NodeId>& users = nodes_[input].users_;
      if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
    }
  }
}

void Graph::remove(NodeId id) {
  Node& node = nodes_[id];
  unlink(id);
  node.removed = true;
  --live_;
  for (const NodeId input : inputs(id)) {
    Node& producer = nodes_[input];
    ++producer.removed_users_;
    if (producer.removed_users_ * 2 > producer.users_.size()) {
      std::erase_if(producer.users_, [&](NodeId user) { return nodes_[user].removed; });
      producer.removed_users_ = 0;
    }
  }
  if (node.op == Op::kPlaceholder) std::erase(placeholders_, id);
  if (id == output_) output_ = kNoNode;
}

void Graph::move_before(NodeId id, NodeId position) {
  unlink(id);
  link_before(id, position);
}

void Graph::link_before(NodeId id, NodeId position) {
  const NodeId previous = position == kNoNode ? last_ : nodes_[position].previous_;
  nodes_[id].previous_ = previous;
  nodes_[id].next_ = position;
  (previous == kNoNode ? first_ : nodes_[previous].next_) = id;
  (position == kNoNode ? last_ : nodes_[position].previous_) = id;
  const uint64_t low = previous == kNoNode ? 0 : nodes_[previous].rank_;
  const uint64_t high = position == kNoNode ? low + 2 * kRankStep : nodes_[position].rank_;
  if (high - low < 2) {
    renumber();
  } else {
    nodes_[id].rank_ = low + (high - low) / 2;
  }
}

void Graph::unlink(NodeId id) {
  const NodeId previous = nodes_[id].previous_;
  const NodeId next = nodes_[id].next_;
  (previous == kNoNode ? first_ : nodes_[previous].next_) = next;
  (next == kNoNode ? last_ : nodes_[next].previous_) = previous;
}

void Graph::renumber() {
  uint64_t rank = 0;
  for (NodeId id = first_; id != kNoNode; id = nodes_[id].next_) nodes_[id].rank_ = rank += kRankStep;
}

Value Graph::copy_value(const Graph& from, Value value, std::span<const Value> map) {
  if (value.is_node()) return map[value.node()];
  if (value.has_symbol()) return Value::of_symbol(value.kind, intern(from.text(value.index)));
  if (!value.is_composite()) return value;
  std::vector<Value> copies;
  copies.reserve(value.count);
  for (const Value& child : from.children(value)) copies.push_back(copy_value(from, child, map));
  return composite(value.kind, copies);
}

Status Graph::verify() const {
  auto broken = [&](NodeId id, std::string_view what) {
    return fault("graph '" + name + "' is inconsistent at node '" + std::string(node_name(id)) +
                 "': " + std::string(what));
  };
  std::vector<char> seen(nodes_.size(), 0);
  std::unordered_set<Symbol> names;
  std::vector<std::vector<NodeId>> users(nodes_.size());
  size_t count = 0;
  uint64_t rank = 0;
  bool only_placeholders = true;
  for (NodeId id = first_; id != kNoNode; id = nodes_[id].next_) {
    const Node& node = nodes_[id];
    if (node.removed) return broken(id, "a removed node is still in the order");
    if (node.rank_ <= rank) return broken(id, "its rank does not grow along the order");
    rank = node.rank_;
    if (!names.insert(node.name).second) return broken(id, "its name is taken twice");
    if (node.op == Op::kPlaceholder && !only_placeholders)
      return broken(id, "a placeholder stands behind other nodes");
    if (node.op != Op::kPlaceholder) only_placeholders = false;
    if (node.op == Op::kOutput && node.next_ != kNoNode) return broken(id, "the output is not the last node");
    bool defined = true;
    for_each_input(id, [&](NodeId input) {
      defined = defined && input < nodes_.size() && seen[input];
      if (defined && (users[input].empty() || users[input].back() != id)) users[input].push_back(id);
    });
    if (!defined) return broken(id, "it uses a value that is not defined before it");
    seen[id] = 1;
    ++count;
  }
  if (count != live_) return fault("graph '" + name + "' is inconsistent: its node count is wrong");
  if (output_ == kNoNode || nodes_[output_].removed || last_ != output_) {
    return fault("graph '" + name + "' is inconsistent: it has no output at its end");
  }
  for (NodeId id = first_; id != kNoNode; id = nodes_[id].next_) {
    std::vector<NodeId> recorded;
    for_each_user(id, [&](NodeId user) { recorded.push_back(user); });
    std::vector<NodeId> actual = users[id];
    std::sort(recorded.begin(), recorded.end());
    std::sort(actual.begin(), actual.end());
    if (recorded != actual || recorded.size() != user_count(id))
      return broken(id, "its users are recorded wrongly");
  }
  return {};
}

bool equal_literals(const Graph& a_graph, Value a, const Graph& b_graph, Value b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ValueKind::kNone:
    case ValueKind::kEllipsis:
      return true;
    case ValueKind::kBool:
    case ValueKind::kInt:
      return a.integer == b.integer;
    case ValueKind::kFloat:
    case ValueKind::kComplex:
      return a.real == b.real || (std::isnan(a.real) && std::isnan(b.real));
    case ValueKind::kUnknown:
    case ValueKind::kNode:
      return false;
    case ValueKind::kTuple:
    case ValueKind::kList:
    case ValueKind::kDict:
    case ValueKind::kSlice: {
      auto no_nodes = [](NodeId, NodeId) { return false; };
      return equal_values(a_graph, a, b_graph, b, no_nodes);
    }
    default:
      return a_graph.text(a.index) == b_graph.text(b.index);
  }
}

}  // namespace graft::graph
