#include "graph/matcher.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "graph/commutative.h"
#include "graph/effects.h"
#include "graph/legality.h"

namespace graft::graph {

Result<Matcher> Matcher::create(const Graph& pattern, MatchOptions options) {
  Matcher matcher(pattern, options);
  const NodeId output = pattern.output();
  if (output == kNoNode) return fault("a pattern without an output");
  matcher.returning_ = pattern.inputs(output);
  bool computes = false;
  const bool normalized = options.mode == MatchMode::kNormalized;
  int hints = 0;
  for (NodeId id = pattern.first(); id != kNoNode; id = pattern.next(id)) {
    const Node& node = pattern.node(id);
    if (node.op == Op::kOutput) continue;
    computes = computes || node.op != Op::kPlaceholder;
    const Place place{pattern.file, node.lines.first, node.lines.column};
    if (normalized && node.op == Op::kGetAttr && !pattern.traced.empty()) {
      return input_error("the pattern made a tensor while it was traced, whose value no match can compare",
                         place, "a parameter of the pattern in its place");
    }
    if (normalized && node.commutative && ++hints > kMaxCommutative) {
      return input_error(
          "the pattern has more than " + std::to_string(kMaxCommutative) + " commutative() hints", place,
          "hints only where the order differs between graphs");
    }
    if (pattern.user_count(id) == 0) {
      const bool parameter = node.op == Op::kPlaceholder;
      return input_error(std::string(parameter ? "parameter '" : "value '") +
                             std::string(pattern.node_name(id)) + "' of the pattern is not used",
                         place, "every parameter and value leads to a returned value");
    }
    if (node.op == Op::kPlaceholder && pattern.user_count(id) == 1) {
      bool only_returned = false;
      pattern.for_each_user(id, [&](NodeId user) { only_returned = user == output; });
      if (only_returned) {
        return input_error(
            "parameter '" + std::string(pattern.node_name(id)) + "' of the pattern is only returned", place,
            "a parameter that the pattern computes with");
      }
    }
  }
  if (!computes) {
    return input_error("the pattern computes nothing",
                       Place{pattern.file, pattern.node(output).lines.first, 0});
  }
  for (const NodeId id : matcher.returning_) {
    if (pattern.user_count(id) == 1) matcher.anchors_.push_back(id);
  }
  if (normalized) {
    matcher.calls_.resize(pattern.pool_size());
    for (NodeId id = pattern.first(); id != kNoNode; id = pattern.next(id))
      matcher.calls_[id] = bind_all(pattern, id);
  }
  return matcher;
}

// One search in one graph.
class MatchRun {
 public:
  MatchRun(const Matcher& matcher, const Graph& graph)
      : matcher_(matcher),
        pattern_(*matcher.pattern_),
        graph_(graph),
        plain_(matcher.options_.mode == MatchMode::kPlain),
        bindings_(pattern_.pool_size()),
        image_(graph.pool_size(), 0),
        used_(graph.pool_size(), 0) {
    for (size_t symbol = 0; symbol < pattern_.symbols().size(); ++symbol) {
      translated_.push_back(graph.symbols().find(pattern_.text(static_cast<Symbol>(symbol))));
    }
    swappable_.assign(pattern_.pool_size(), 0);
    for (NodeId id = pattern_.first(); id != kNoNode && !plain_; id = pattern_.next(id))
      swappable_[id] = pattern_.node(id).commutative && order_matters(id);
  }

  MatchResult run() {
    order_anchors();
    for (const NodeId anchor : anchors_) {
      candidates_.push_back(nodes_equal_to(anchor));
      if (candidates_.back().nodes.empty()) return std::move(result_);
    }
    place_anchor(0);
    return std::move(result_);
  }

 private:
  struct Candidates {
    std::vector<NodeId> nodes;  // in graph order
    size_t begin = 0;           // those before are used up by kept matches
  };
  // How to reach an anchor from a pattern node that an earlier anchor has bound: users to follow, the last is
  // the anchor.
  struct Route {
    NodeId from = kNoNode;
    std::vector<NodeId> steps;
  };

  // Whether swapping the operands can make a difference: not where both are parameters used nowhere else.
  bool order_matters(NodeId id) const {
    bool free = true;
    for (const NodeId input : pattern_.inputs(id)) {
      free = free && pattern_.node(input).op == Op::kPlaceholder && pattern_.user_count(input) == 1;
    }
    return !free || pattern_.inputs(id).size() != 2;
  }

  // E(p, g): whether the two nodes are of one kind, arguments aside.
  bool same_operation(NodeId p, NodeId g) const {
    const Node& a = pattern_.node(p);
    if (a.op == Op::kPlaceholder) return true;
    const Node& b = graph_.node(g);
    if (a.op != b.op) return false;
    if (a.op == Op::kGetAttr) return true;  // tensors match whatever their values
    return translated_[a.target] == b.target;
  }

  Candidates nodes_equal_to(NodeId anchor) const {
    Candidates result;
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_.next(id)) {
      if (same_operation(anchor, id)) result.nodes.push_back(id);
    }
    return result;
  }

  // Plans, for every anchor but the first, how it hangs together with those before it.
  void order_anchors() {
    anchors_ = matcher_.anchors_;
    std::vector<char> reached(pattern_.pool_size(), 0);
    for (size_t i = 0; i < anchors_.size(); ++i) {
      Route route;
      if (i > 0) route = find_route(anchors_[i], reached);
      routes_.push_back(std::move(route));
      mark_cone(anchors_[i], reached);
    }
  }

  void mark_cone(NodeId id, std::vector<char>& reached) const {
    if (std::exchange(reached[id], 1)) return;
    pattern_.for_each_input(id, [&](NodeId input) { mark_cone(input, reached); });
  }

  // Breadth first from the anchor down to the nearest node that is already reached.
  Route find_route(NodeId anchor, const std::vector<char>& reached) const {
    std::vector<NodeId> parent(pattern_.pool_size(), kNoNode);
    std::vector<NodeId> queue{anchor};
    for (size_t i = 0; i < queue.size(); ++i) {
      const NodeId id = queue[i];
      if (reached[id]) {
        Route route;
        route.from = id;
        for (NodeId step = parent[id]; step != kNoNode; step = parent[step]) route.steps.push_back(step);
        if (route.steps.empty()) return {};
        return route;
      }
      pattern_.for_each_input(id, [&](NodeId input) {
        if (input == anchor || parent[input] != kNoNode) return;
        parent[input] = id;
        queue.push_back(input);
      });
    }
    return {};
  }

  // Graph nodes the anchor could be, in graph order, through what its route's start is bound to.
  Candidates* reachable(size_t index) {
    const Route& route = routes_[index];
    if (route.from == kNoNode) return &candidates_[index];
    const Value start = bindings_[route.from].value;
    if (!start.is_node()) return &candidates_[index];
    const uint64_t key = (uint64_t{start.node()} << 32) | index;
    const auto [entry, inserted] = reachable_.try_emplace(key);
    if (inserted) {
      std::vector<NodeId> level{start.node()};
      for (const NodeId step : route.steps) {
        std::vector<NodeId> next;
        for (const NodeId id : level) {
          graph_.for_each_user(id, [&](NodeId user) {
            if (same_operation(step, user)) next.push_back(user);
          });
        }
        std::sort(next.begin(), next.end(), [&](NodeId a, NodeId b) { return graph_.before(a, b); });
        next.erase(std::unique(next.begin(), next.end()), next.end());
        level = std::move(next);
      }
      entry->second.nodes = std::move(level);
    }
    return &entry->second;
  }

  // Places the anchors from `index` on in every way until one way is kept. True when a match was kept:
  // everything that shares the first anchor would overlap it.
  bool place_anchor(size_t index) {
    if (index == anchors_.size()) return keep();
    Candidates& candidates = *reachable(index);
    while (candidates.begin < candidates.nodes.size() && used_[candidates.nodes[candidates.begin]])
      ++candidates.begin;
    for (size_t i = candidates.begin; i < candidates.nodes.size(); ++i) {
      const NodeId node = candidates.nodes[i];
      if (used_[node]) continue;
      const size_t mark = trail_.size();
      // Every way to orient the commutative nodes met below the anchor, in the order of a depth-first search:
      // the walk is repeated with the last order that was not yet swapped swapped.
      std::vector<char> orders;
      bool kept = false;
      do {
        orders_ = &orders;
        next_order_ = 0;
        kept = match_nodes(anchors_[index], node) && place_anchor(index + 1);
        undo(mark);
        while (!orders.empty() && orders.back()) orders.pop_back();
        if (!orders.empty()) orders.back() = 1;
      } while (!kept && !orders.empty());
      if (kept && index > 0) return true;
    }
    return false;
  }

  // Whether the operands of the commutative node p are taken in swapped order this time.
  bool swapped(NodeId p) {
    if (!swappable_[p]) return false;
    if (next_order_ == orders_->size()) orders_->push_back(0);
    return (*orders_)[next_order_++] != 0;
  }

  // One argument of a call in the graph: a value, a default of the signature, or arguments written out one by
  // one.
  struct Operand {
    const Graph* owner = nullptr;  // nullptr: the graph
    Value value;
    std::span<const Value> packed;
    bool is_packed = false;
    uint32_t repeat = 0;  // the parameter is a list of this length that may be given as one number
  };

  void bind(NodeId p, Binding binding) {
    if (binding.value.is_node()) ++image_[binding.value.node()];
    bindings_[p] = std::move(binding);
    trail_.push_back(p);
  }

  void undo(size_t mark) {
    while (trail_.size() > mark) {
      Binding& binding = bindings_[trail_.back()];
      trail_.pop_back();
      if (binding.value.is_node()) --image_[binding.value.node()];
      binding = Binding();
    }
  }

  bool bound(NodeId p) const { return bindings_[p].bound(); }

  bool match_nodes(NodeId p, NodeId g) {
    if (bound(p)) return bindings_[p].value.is_node() && bindings_[p].value.node() == g;
    const bool parameter = pattern_.node(p).op == Op::kPlaceholder;
    if (image_[g] != 0 && (plain_ || !parameter)) return false;
    if (!parameter && used_[g]) return false;
    if (!same_operation(p, g)) return false;
    Binding binding;
    binding.value = Value::of_node(g);
    bind(p, std::move(binding));
    return parameter || match_arguments(p, g);
  }

  bool match_arguments(NodeId p, NodeId g) {
    const bool swap = swapped(p);
    if (!plain_ && !matcher_.calls_[p].empty()) {
      const auto [entry, inserted] = calls_.try_emplace(g);
      if (inserted) entry->second = bind_call(graph_, g);
      if (entry->second) {
        // A parameter of the pattern fits many overloads: the graph's call says which one is meant.
        const BoundCall& meant = *entry->second;
        const std::vector<BoundCall>& fitting = matcher_.calls_[p];
        const auto same = std::find_if(fitting.begin(), fitting.end(), [&](const BoundCall& call) {
          return call.signature == meant.signature;
        });
        const BoundCall& call = same != fitting.end() ? *same : fitting.front();
        if (!swap) return match_calls(call, meant, p, g);
        BoundCall other = call;
        std::swap(other.arguments[0], other.arguments[1]);
        return match_calls(other, meant, p, g);
      }
    }
    const Node& a = pattern_.node(p);
    const Node& b = graph_.node(g);
    if (a.args.size() != b.args.size() || a.kwargs.size() != b.kwargs.size()) return false;
    for (size_t i = 0; i < a.args.size(); ++i) {
      if (!match_values(a.args[swap && a.args.size() == 2 ? 1 - i : i], b.args[i])) return false;
    }
    for (size_t i = 0; i < a.kwargs.size(); ++i) {
      const Symbol name = translated_[a.kwargs[i].name];
      const Keyword* other = &b.kwargs[i];
      if (other->name != name) {
        if (plain_) return false;
        const auto found = std::find_if(b.kwargs.begin(), b.kwargs.end(),
                                        [&](const Keyword& keyword) { return keyword.name == name; });
        if (found == b.kwargs.end()) return false;
        other = &*found;
      }
      if (!match_values(a.kwargs[i].value, other->value)) return false;
    }
    return true;
  }

  // Two calls with their arguments under the names of the signatures they fit.
  bool match_calls(const BoundCall& a, const BoundCall& b, NodeId p, NodeId g) {
    const std::vector<Parameter>& parameters = a.signature->parameters;
    if (a.signature != b.signature) {
      // Overloads that only differ in the types they take: every parameter of the one must be known to the
      // other.
      for (size_t i = 0; i < b.arguments.size(); ++i) {
        const bool given = b.arguments[i].source != BoundCall::Source::kDefault;
        if (given && a.find(b.signature->parameters[i].name) == nullptr) return false;
      }
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      size_t j = i;
      if (a.signature != b.signature) {
        const BoundCall::Argument* found = b.find(parameters[i].name);
        if (found == nullptr) {
          if (a.arguments[i].source != BoundCall::Source::kDefault) return false;
          continue;
        }
        j = static_cast<size_t>(found - b.arguments.data());
      }
      if (parameters[i].variadic) continue;
      if (!match_argument(a, i, b, j, p, g)) return false;
    }
    return true;
  }

  bool match_argument(const BoundCall& a, size_t i, const BoundCall& b, size_t j, NodeId p, NodeId g) {
    const BoundCall::Argument& left = a.arguments[i];
    const BoundCall::Argument& right = b.arguments[j];
    const Parameter& parameter = a.signature->parameters[i];
    if (left.source == BoundCall::Source::kDefault && right.source == BoundCall::Source::kDefault) {
      return a.signature == b.signature ||
             equal_literals(default_values(), parameter.default_value, default_values(),
                            b.signature->parameters[j].default_value);
    }
    Operand operand;
    operand.repeat = list_length(parameter.type);
    switch (right.source) {
      case BoundCall::Source::kDefault:
        operand.owner = &default_values();
        operand.value = b.signature->parameters[j].default_value;
        break;
      case BoundCall::Source::kValue:
        operand.value = right.value;
        break;
      case BoundCall::Source::kPacked:
        operand.is_packed = true;
        operand.packed = std::span(graph_.node(g).args).subspan(right.first, right.count);
        break;
    }
    switch (left.source) {
      case BoundCall::Source::kDefault:
        return match_default(parameter.default_value, operand);
      case BoundCall::Source::kValue:
        return match_operand(left.value, operand);
      case BoundCall::Source::kPacked:
        return match_list(std::span(pattern_.node(p).args).subspan(left.first, left.count), operand);
    }
    return false;
  }

  // 2 for "int[2]", 0 for types that are no list of fixed length.
  static uint32_t list_length(std::string_view type) {
    if (type.ends_with('?')) type.remove_suffix(1);
    if (type.size() < 3 || type.back() != ']' || type[type.size() - 3] != '[') return 0;
    const char digit = type[type.size() - 2];
    return digit >= '1' && digit <= '9' ? static_cast<uint32_t>(digit - '0') : 0;
  }

  static bool is_number(Value value) {
    return value.kind == ValueKind::kInt || value.kind == ValueKind::kFloat;
  }

  // The pattern left the argument out.
  bool match_default(Value expected, const Operand& operand) {
    if (operand.is_packed) return false;
    const Graph& owner = operand.owner != nullptr ? *operand.owner : graph_;
    if (expected.is_sequence() && operand.value.is_sequence()) {
      const auto a = default_values().children(expected);
      const auto b = owner.children(operand.value);
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [&](Value x, Value y) { return equal_literals(default_values(), x, owner, y); });
    }
    if (operand.repeat > 0 && expected.is_sequence() && is_number(operand.value)) {
      const auto a = default_values().children(expected);
      return std::all_of(a.begin(), a.end(),
                         [&](Value x) { return equal_literals(default_values(), x, owner, operand.value); });
    }
    return equal_literals(default_values(), expected, owner, operand.value);
  }

  bool match_operand(Value p, const Operand& operand) {
    if (operand.is_packed) {
      if (p.is_sequence()) return match_list(pattern_.children(p), operand);
      if (!p.is_node() || pattern_.node(p.node()).op != Op::kPlaceholder) return false;
      return bind_or_compare(p.node(), operand);
    }
    if (operand.owner == nullptr) {
      if (operand.repeat > 0 && p.is_sequence() && !operand.value.is_sequence()) {
        return match_list(pattern_.children(p), operand);
      }
      if (operand.repeat > 0 && is_number(p) && operand.value.is_sequence()) {
        const auto children = graph_.children(operand.value);
        return children.size() == operand.repeat &&
               std::all_of(children.begin(), children.end(),
                           [&](Value child) { return match_values(p, child); });
      }
      return match_values(p, operand.value);
    }
    // A default of the graph's call against what the pattern wrote.
    if (p.is_node()) {
      if (pattern_.node(p.node()).op != Op::kPlaceholder || operand.value.kind == ValueKind::kUnknown)
        return false;
      return bind_or_compare(p.node(), operand);
    }
    if (p.is_sequence() && operand.value.is_sequence()) {
      const auto a = pattern_.children(p);
      const auto b = operand.owner->children(operand.value);
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [&](Value x, Value y) { return equal_literals(pattern_, x, *operand.owner, y); });
    }
    if (operand.repeat > 0 && is_number(p) && operand.value.is_sequence()) {
      const auto b = operand.owner->children(operand.value);
      return std::all_of(b.begin(), b.end(),
                         [&](Value y) { return equal_literals(pattern_, p, *operand.owner, y); });
    }
    return equal_literals(pattern_, p, *operand.owner, operand.value);
  }

  // The pattern's list against an argument that may be a list, arguments written out, or one number for all.
  bool match_list(std::span<const Value> list, const Operand& operand) {
    if (operand.owner != nullptr) return false;
    if (operand.is_packed || operand.value.is_sequence()) {
      const std::span<const Value> other =
          operand.is_packed ? operand.packed : graph_.children(operand.value);
      if (list.size() != other.size()) return false;
      for (size_t i = 0; i < list.size(); ++i) {
        if (!match_values(list[i], other[i])) return false;
      }
      return true;
    }
    if (operand.repeat == 0 || list.size() != operand.repeat || !is_number(operand.value)) return false;
    return std::all_of(list.begin(), list.end(),
                       [&](Value value) { return match_values(value, operand.value); });
  }

  bool bind_or_compare(NodeId p, const Operand& operand) {
    if (!bound(p)) {
      Binding binding;
      binding.owner = operand.owner;
      binding.value = operand.is_packed ? Value::unknown() : operand.value;
      binding.is_packed = operand.is_packed;
      binding.packed.assign(operand.packed.begin(), operand.packed.end());
      bind(p, std::move(binding));
      return true;
    }
    const Binding& binding = bindings_[p];
    auto same = [](NodeId x, NodeId y) { return x == y; };
    const Graph& left_owner = binding.owner != nullptr ? *binding.owner : graph_;
    const Graph& right_owner = operand.owner != nullptr ? *operand.owner : graph_;
    if (!binding.is_packed && !operand.is_packed) {
      return equal_values(left_owner, binding.value, right_owner, operand.value, same);
    }
    const std::span<const Value> left =
        binding.is_packed ? std::span<const Value>(binding.packed) : left_owner.children(binding.value);
    const std::span<const Value> right =
        operand.is_packed ? operand.packed : right_owner.children(operand.value);
    const bool lists = (binding.is_packed || binding.value.is_sequence()) &&
                       (operand.is_packed || operand.value.is_sequence());
    return lists && std::equal(left.begin(), left.end(), right.begin(), right.end(), [&](Value x, Value y) {
             return equal_values(left_owner, x, right_owner, y, same);
           });
  }

  bool match_values(Value p, Value g) {
    if (p.is_node() && g.is_node()) return match_nodes(p.node(), g.node());
    if (p.is_sequence() && g.is_sequence()) return match_children(p, g);
    if (p.is_node()) {
      if (pattern_.node(p.node()).op != Op::kPlaceholder || g.kind == ValueKind::kUnknown) return false;
      Operand operand;
      operand.value = g;
      return bind_or_compare(p.node(), operand);
    }
    if (g.is_node()) return false;
    if (!plain_ && p.kind == g.kind && p.is_composite()) return match_children(p, g);
    return equal_literals(pattern_, p, graph_, g);
  }

  bool match_children(Value p, Value g) {
    if (p.count != g.count) return false;
    const auto a = pattern_.children(p);
    const auto b = graph_.children(g);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!match_values(a[i], b[i])) return false;
    }
    return true;
  }

  // The finished assignment, checked as a whole; recorded when legal.
  bool keep() {
    Match match;
    match.bindings = bindings_;
    for (NodeId p = pattern_.first(); p != kNoNode; p = pattern_.next(p)) {
      if (pattern_.node(p).op == Op::kOutput) continue;
      if (!bound(p)) return false;
      if (pattern_.node(p).op != Op::kPlaceholder) match.nodes.push_back(bindings_[p].value.node());
    }
    std::sort(match.nodes.begin(), match.nodes.end(),
              [&](NodeId a, NodeId b) { return graph_.before(a, b); });
    if (!plain_ && !effects_) effects_.emplace(graph_);
    if (std::optional<Refusal> refusal =
            check_match(matcher_, graph_, plain_ ? nullptr : &*effects_, match)) {
      // The same place may fit in several orders of commutative operands.
      const auto same = [&](const Refusal& other) {
        return other.node == refusal->node && other.pattern_node == refusal->pattern_node &&
               other.reason == refusal->reason;
      };
      if (result_.refusals.size() < MatchResult::kMaxRefusals &&
          std::none_of(result_.refusals.begin(), result_.refusals.end(), same))
        result_.refusals.push_back(*std::move(refusal));
      return false;
    }
    for (const NodeId id : match.nodes) used_[id] = 1;
    result_.matches.push_back(std::move(match));
    return true;
  }

  const Matcher& matcher_;
  const Graph& pattern_;
  const Graph& graph_;
  const bool plain_;
  std::vector<Symbol>
      translated_;  // symbols of the pattern -> symbols of the graph, kNoSymbol where it has none
  std::vector<Binding> bindings_;
  std::vector<char> swappable_;          // by NodeId of the pattern: both orders of the operands are tried
  std::vector<char>* orders_ = nullptr;  // below the anchor in hand: 1 for each order that is swapped, as met
  size_t next_order_ = 0;
  std::unordered_map<NodeId, std::optional<BoundCall>> calls_;
  std::optional<EffectMap> effects_;
  std::vector<uint32_t> image_;  // by NodeId of the graph: how many pattern nodes are bound to it
  std::vector<char> used_;       // by NodeId of the graph: taken by a kept match
  std::vector<NodeId> trail_;
  std::vector<NodeId> anchors_;
  std::vector<Route> routes_;
  std::vector<Candidates> candidates_;
  std::unordered_map<uint64_t, Candidates> reachable_;
  MatchResult result_;
};

MatchResult Matcher::match(const Graph& graph) const {
  return MatchRun(*this, graph).run();
}

}  // namespace graft::graph
