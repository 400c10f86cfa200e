#include "graph/nearest_miss.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>

#include "graph/printer.h"
#include "graph/signatures.h"
#include "graph/vocabulary.h"

namespace graft::graph {
namespace {

// What agreements and differences weigh. A node counts more than all the literals of a usual call.
constexpr int kNodeWeight = 10;
constexpr int kLiteralWeight = 1;
constexpr int kBindingWeight = 2;
// The same operator in another form: in place, or as a method.
constexpr int kRelatedWeight = 3;
constexpr int kDifferenceWeight = 4;
// A step left out is a bolder reading than a step that differs.
constexpr int kSkipWeight = 2;
// Graphs larger than this are searched only where the operation, or that of an input, agrees.
constexpr size_t kThoroughSize = 20000;
// Operands of commutative nodes are looked at in the other order this often for one place.
constexpr int kMaxSwaps = 64;

struct State {
  std::vector<Value> bindings;  // by NodeId of the pattern
  std::vector<Difference> differences;
  int score = 0;
  size_t matched = 0;
  bool skipped = false;  // one step of either side may be left out
};

class Aligner {
 public:
  Aligner(const Matcher& matcher, const Graph& graph)
      : matcher_(matcher),
        pattern_(matcher.pattern()),
        graph_(graph),
        normalized_(matcher.options().mode == MatchMode::kNormalized),
        orders_(matcher.pattern().pool_size(), Order::kBetter) {}

  std::optional<NearestMiss> run() {
    // The search only counts; the best place is then laid out again with words.
    quiet_ = true;
    std::optional<int> best_score;
    NodeId place = kNoNode;
    const NodeId anchor = matcher_.anchors().front();
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_.next(id)) {
      const Op op = graph_.node(id).op;
      if (op == Op::kPlaceholder || op == Op::kOutput || !promising(anchor, id)) continue;
      const State state = lay(anchor, id);
      if (!best_score || state.score > *best_score) {
        best_score = state.score;
        place = id;
      }
    }
    if (!best_score) return std::nullopt;
    settle_orders(anchor, place, *best_score);
    quiet_ = false;
    State best = lay(anchor, place);
    for (size_t i = 1; i < matcher_.anchors().size(); ++i) place_anchor(best, matcher_.anchors()[i]);
    if (best.differences.empty()) return std::nullopt;
    NearestMiss miss;
    miss.differences = std::move(best.differences);
    miss.matched = best.matched;
    for (NodeId p = pattern_.first(); p != kNoNode; p = pattern_.next(p)) {
      const Op op = pattern_.node(p).op;
      if (op != Op::kPlaceholder && op != Op::kOutput) ++miss.total;
    }
    miss.place = place;
    return miss;
  }

 private:
  // How the operands of a commutative node are laid on the graph's: in the order that agrees better, or as
  // said.
  enum class Order : uint8_t { kBetter, kAsWritten, kSwapped };

  // The pattern laid on the graph with its first anchor on `place`.
  State lay(NodeId anchor, NodeId place) {
    State state;
    state.bindings.assign(pattern_.pool_size(), Value::unknown());
    swaps_left_ = kMaxSwaps;
    align(state, anchor, place);
    return state;
  }

  // An order that agrees where it is chosen may disagree with what comes later: for every commutative node
  // both are tried over the whole pattern.
  void settle_orders(NodeId anchor, NodeId place, int score) {
    for (NodeId p = pattern_.first(); p != kNoNode && normalized_; p = pattern_.next(p)) {
      if (!pattern_.node(p).commutative) continue;
      Order best = orders_[p];
      for (const Order order : {Order::kAsWritten, Order::kSwapped}) {
        orders_[p] = order;
        const int found = lay(anchor, place).score;
        if (found <= score) continue;
        score = found;
        best = order;
      }
      orders_[p] = best;
    }
  }

  bool same_operation(NodeId p, NodeId g) const {
    const Node& a = pattern_.node(p);
    const Node& b = graph_.node(g);
    return a.op == b.op && (a.op == Op::kGetAttr || pattern_.target(p) == graph_.target(g));
  }

  // The name of what is computed: "add" for _operator.add, _operator.iadd, torch.add, .add() and .add_().
  static std::string stem(const Graph& graph, NodeId id) {
    const Op op = graph.node(id).op;
    if (op != Op::kCallFunction && op != Op::kCallMethod) return {};
    const std::string_view target = graph.target(id);
    std::string_view name =
        target.substr(target.rfind('.') == std::string_view::npos ? 0 : target.rfind('.') + 1);
    if (target.starts_with("_operator.") && operator_syntax(target) != nullptr &&
        operator_syntax(target)->in_place) {
      name.remove_prefix(1);
    }
    while (name.ends_with('_')) name.remove_suffix(1);
    return std::string(name);
  }

  bool related(NodeId p, NodeId g) const {
    const std::string name = stem(pattern_, p);
    return !name.empty() && name == stem(graph_, g);
  }

  bool promising(NodeId anchor, NodeId g) const {
    if (graph_.size() <= kThoroughSize || same_operation(anchor, g)) return true;
    bool found = false;
    graph_.for_each_input(g, [&](NodeId input) {
      pattern_.for_each_input(anchor, [&](NodeId p) {
        found = found || (pattern_.node(p).op != Op::kPlaceholder && same_operation(p, input));
      });
    });
    return found;
  }

  // A further returned value: among the users of what is bound already, else anywhere.
  void place_anchor(State& state, NodeId anchor) {
    std::vector<NodeId> candidates;
    pattern_.for_each_input(anchor, [&](NodeId input) {
      const Value bound = state.bindings[input];
      if (!bound.is_node()) return;
      graph_.for_each_user(bound.node(), [&](NodeId user) { candidates.push_back(user); });
    });
    if (candidates.empty()) {
      for (NodeId id = graph_.first(); id != kNoNode; id = graph_.next(id)) {
        if (same_operation(anchor, id)) candidates.push_back(id);
      }
    }
    quiet_ = true;
    std::optional<int> best_score;
    NodeId place = kNoNode;
    for (const NodeId id : candidates) {
      if (graph_.node(id).op == Op::kOutput) continue;
      State attempt = state;
      swaps_left_ = kMaxSwaps;
      align(attempt, anchor, id);
      if (!best_score || attempt.score > *best_score) {
        best_score = attempt.score;
        place = id;
      }
    }
    quiet_ = false;
    if (best_score) {
      swaps_left_ = kMaxSwaps;
      align(state, anchor, place);
      return;
    }
    Difference difference;
    difference.kind = Difference::Kind::kPatternExtra;
    difference.pattern_node = anchor;
    difference.expected = std::string(pattern_.target(anchor));
    difference.message =
        "nothing in the graph fits " + pattern_label(anchor) + ", " + print_node(pattern_, anchor);
    difference.hint = "return only values that the graph computes";
    add(state, std::move(difference));
  }

  std::string pattern_label(NodeId p) const {
    std::string text = "the pattern's '" + std::string(pattern_.node_name(p)) + "'";
    return text + place_text(pattern_, p);
  }
  std::string graph_label(NodeId g) const {
    return "'" + std::string(graph_.node_name(g)) + "'" + place_text(graph_, g);
  }
  static std::string place_text(const Graph& graph, NodeId id) {
    const int line = graph.node(id).lines.first;
    if (line <= 0) return "";
    return " (" + (graph.file.empty() ? "line " : graph.file + ":") + std::to_string(line) + ")";
  }

  void add(State& state, Difference difference) {
    state.score -= kDifferenceWeight;
    const bool skip = difference.kind == Difference::Kind::kPatternExtra ||
                      difference.kind == Difference::Kind::kGraphExtra;
    if (skip) state.score -= kSkipWeight;
    state.differences.push_back(std::move(difference));
  }

  void align(State& state, NodeId p, NodeId g) {
    const Node& a = pattern_.node(p);
    const Value bound = state.bindings[p];
    if (bound.kind != ValueKind::kUnknown) {
      if (bound.is_node() && bound.node() == g) {
        state.score += kBindingWeight;
      } else {
        note_binding(state, p, text(graph_, bound), std::string(graph_.node_name(g)), g);
      }
      return;
    }
    if (a.op == Op::kPlaceholder) {
      state.bindings[p] = Value::of_node(g);
      return;
    }
    if (same_operation(p, g)) {
      state.bindings[p] = Value::of_node(g);
      state.score += kNodeWeight;
      ++state.matched;
      align_arguments(state, p, g);
      return;
    }
    // Three readings of a different operation; the one that agrees best below counts.
    State other = state;
    other.bindings[p] = Value::of_node(g);
    Difference difference;
    difference.kind = Difference::Kind::kOperation;
    difference.pattern_node = p;
    difference.graph_node = g;
    if (!quiet_) describe_operation(difference);
    add(other, std::move(difference));
    if (related(p, g)) other.score += kRelatedWeight;
    if (graph_.node(g).op != Op::kPlaceholder && graph_.node(g).op != Op::kOutput)
      align_arguments(other, p, g);
    if (!state.skipped) {
      try_skips(state, p, g, other);
    }
    state = std::move(other);
  }

  void try_skips(const State& state, NodeId p, NodeId g, State& best) {
    for (const NodeId input : pattern_.inputs(p)) {
      if (pattern_.node(input).op == Op::kPlaceholder) continue;
      State attempt = state;
      attempt.skipped = true;
      Difference difference;
      difference.kind = Difference::Kind::kPatternExtra;
      difference.pattern_node = p;
      difference.graph_node = g;
      if (!quiet_) describe_pattern_extra(difference);
      add(attempt, std::move(difference));
      align(attempt, input, g);
      if (attempt.score > best.score) best = std::move(attempt);
    }
    if (graph_.node(g).op == Op::kPlaceholder) return;
    for (const NodeId input : graph_.inputs(g)) {
      if (!same_operation(p, input)) continue;
      State attempt = state;
      attempt.skipped = true;
      Difference difference;
      difference.kind = Difference::Kind::kGraphExtra;
      difference.pattern_node = p;
      difference.graph_node = g;
      if (!quiet_) describe_graph_extra(difference);
      add(attempt, std::move(difference));
      align(attempt, p, input);
      if (attempt.score > best.score) best = std::move(attempt);
    }
  }

  void describe_operation(Difference& difference) const {
    const NodeId p = difference.pattern_node;
    const NodeId g = difference.graph_node;
    difference.expected = operation_text(pattern_, p);
    difference.actual = operation_text(graph_, g);
    difference.message =
        pattern_label(p) + " is " + difference.expected + ", " + graph_label(g) + " is " + difference.actual;
    difference.hint = hint_for_operation(p, g);
  }

  void describe_pattern_extra(Difference& difference) const {
    difference.expected = operation_text(pattern_, difference.pattern_node);
    difference.actual = operation_text(graph_, difference.graph_node);
    difference.message = pattern_label(difference.pattern_node) + ", " + difference.expected +
                         ", has no counterpart before " + graph_label(difference.graph_node);
    difference.hint = "leave it out of the pattern";
  }

  void describe_graph_extra(Difference& difference) const {
    difference.expected = operation_text(pattern_, difference.pattern_node);
    difference.actual = operation_text(graph_, difference.graph_node);
    difference.message = graph_label(difference.graph_node) + ", " + difference.actual +
                         ", has no counterpart behind " + pattern_label(difference.pattern_node);
    difference.hint = "add " + print_node(graph_, difference.graph_node) + " to the pattern";
  }

  static std::string operation_text(const Graph& graph, NodeId id) {
    switch (graph.node(id).op) {
      case Op::kCallMethod:
        return "the method ." + std::string(graph.target(id)) + "()";
      case Op::kCallFunction:
        return std::string(graph.target(id));
      case Op::kPlaceholder:
        return "an input";
      case Op::kGetAttr:
        return "an attribute of the module";
      case Op::kCallModule:
        return "the module " + std::string(graph.target(id));
      case Op::kOutput:
        return "the output";
    }
    return "";
  }

  std::string hint_for_operation(NodeId p, NodeId g) const {
    const Node& b = graph_.node(g);
    if (b.op == Op::kPlaceholder) return "make it a parameter of the pattern";
    return std::string(related(p, g) ? "the same operator, written differently: " : "") + "write " +
           print_node(graph_, g);
  }

  void align_arguments(State& state, NodeId p, NodeId g) {
    const Order order = normalized_ && pattern_.node(p).commutative ? orders_[p] : Order::kAsWritten;
    if (order != Order::kBetter) {
      align_operands(state, p, g, order == Order::kSwapped);
      return;
    }
    State other = state;
    const size_t before = state.differences.size();
    align_operands(state, p, g, false);
    if (state.differences.size() == before || swaps_left_ == 0) return;
    --swaps_left_;
    align_operands(other, p, g, true);
    if (other.score > state.score) state = std::move(other);
  }

  // `swap`: the pattern's two operands in the other order.
  void align_operands(State& state, NodeId p, NodeId g, bool swap) {
    if (normalized_ && same_operation(p, g)) {
      const std::vector<BoundCall> fitting = bind_all(pattern_, p);
      const std::optional<BoundCall> b = bind_call(graph_, g);
      if (!fitting.empty() && b) {
        const auto same = std::find_if(fitting.begin(), fitting.end(),
                                       [&](const BoundCall& call) { return call.signature == b->signature; });
        BoundCall call = same != fitting.end() ? *same : fitting.front();
        if (swap) std::swap(call.arguments[0], call.arguments[1]);
        align_bound(state, call, *b, p, g);
        return;
      }
    }
    const Node& a = pattern_.node(p);
    const Node& b = graph_.node(g);
    const size_t common = std::min(a.args.size(), b.args.size());
    for (size_t i = 0; i < common; ++i) {
      const size_t from = swap && a.args.size() == 2 ? 1 - i : i;
      align_values(state, a.args[from], b.args[i], p, g, argument_name(i));
    }
    for (size_t i = common; i < a.args.size(); ++i)
      note_arity(state, p, g, argument_name(i), text(pattern_, a.args[i]), "");
    for (size_t i = common; i < b.args.size(); ++i)
      note_arity(state, p, g, argument_name(i), "", text(graph_, b.args[i]));
    for (const Keyword& keyword : a.kwargs) {
      const std::string name(pattern_.text(keyword.name));
      if (const Value* value = graph_.keyword(g, name)) {
        align_values(state, keyword.value, *value, p, g, name);
      } else {
        note_arity(state, p, g, name, text(pattern_, keyword.value), "");
      }
    }
    for (const Keyword& keyword : b.kwargs) {
      const std::string name(graph_.text(keyword.name));
      if (pattern_.keyword(p, name) == nullptr)
        note_arity(state, p, g, name, "", text(graph_, keyword.value));
    }
  }

  static std::string argument_name(size_t index) { return "argument " + std::to_string(index + 1); }

  void align_bound(State& state, const BoundCall& a, const BoundCall& b, NodeId p, NodeId g) {
    using Source = BoundCall::Source;
    for (size_t i = 0; i < a.arguments.size(); ++i) {
      const Parameter& parameter = a.signature->parameters[i];
      const BoundCall::Argument* right = b.find(parameter.name);
      const BoundCall::Argument& left = a.arguments[i];
      const bool left_given = left.source != Source::kDefault;
      const bool right_given = right != nullptr && right->source != Source::kDefault;
      if (!left_given && !right_given) continue;
      const std::string name(parameter.name);
      if (left.source == Source::kValue && right_given && right->source == Source::kValue) {
        if (is_list_of(parameter.type, left.value, right->value)) continue;
        align_values(state, left.value, right->value, p, g, name);
        continue;
      }
      std::span<const Value> left_list =
          left.source == Source::kPacked ? std::span(pattern_.node(p).args).subspan(left.first, left.count)
                                         : pattern_.children(left.value);
      if (left_given && right_given) {
        std::span<const Value> right_list =
            right->source == Source::kPacked
                ? std::span(graph_.node(g).args).subspan(right->first, right->count)
                : graph_.children(right->value);
        if (left.source == Source::kValue && left.value.is_node()) {
          // A parameter of the pattern takes the whole list.
          state.bindings[left.value.node()] = Value::none();
          continue;
        }
        align_lists(state, left_list, right_list, p, g, name);
        continue;
      }
      // One side leaves it out: its default against what the other wrote.
      if (left_given) {
        const Value written = left.value;
        if (written.is_node() && pattern_.node(written.node()).op == Op::kPlaceholder) continue;
        const Value fallback =
            right != nullptr
                ? b.signature->parameters[static_cast<size_t>(right - b.arguments.data())].default_value
                : Value::unknown();
        if (equal_to_default(pattern_, written, fallback)) continue;
        note_argument(state, p, g, name, text(pattern_, written),
                      fallback.kind == ValueKind::kUnknown
                          ? "nothing"
                          : "the default " + text(default_values(), fallback));
      } else {
        const Value written = right->value;
        if (right->source == Source::kValue && equal_to_default(graph_, written, parameter.default_value))
          continue;
        note_argument(state, p, g, name,
                      parameter.default_value.kind == ValueKind::kUnknown
                          ? "nothing"
                          : "the default " + text(default_values(), parameter.default_value),
                      text(graph_, written));
      }
    }
    // Arguments only the other overload knows.
    for (size_t j = 0; j < b.arguments.size(); ++j) {
      const Parameter& parameter = b.signature->parameters[j];
      if (b.arguments[j].source == Source::kDefault || a.find(parameter.name) != nullptr) continue;
      note_arity(
          state, p, g, std::string(parameter.name), "",
          b.arguments[j].source == Source::kValue ? text(graph_, b.arguments[j].value) : "several values");
    }
  }

  bool equal_to_default(const Graph& owner, Value written, Value fallback) const {
    if (fallback.is_sequence()) {
      const auto children = default_values().children(fallback);
      if (written.is_sequence()) {
        const auto others = owner.children(written);
        return std::equal(children.begin(), children.end(), others.begin(), others.end(),
                          [&](Value x, Value y) { return equal_literals(default_values(), x, owner, y); });
      }
      return std::all_of(children.begin(), children.end(),
                         [&](Value x) { return equal_literals(default_values(), x, owner, written); });
    }
    return equal_literals(default_values(), fallback, owner, written);
  }

  // One number for a list of equal numbers, where the operator takes either.
  bool is_list_of(std::string_view type, Value left, Value right) const {
    if (type.find(']') == std::string_view::npos) return false;
    auto all = [](const Graph& list_graph, Value list, const Graph& number_graph, Value number) {
      const auto children = list_graph.children(list);
      return !children.empty() && std::all_of(children.begin(), children.end(), [&](Value child) {
        return equal_literals(list_graph, child, number_graph, number);
      });
    };
    if (left.is_sequence() && right.kind == ValueKind::kInt) return all(pattern_, left, graph_, right);
    if (right.is_sequence() && left.kind == ValueKind::kInt) return all(graph_, right, pattern_, left);
    return false;
  }

  void align_lists(State& state, std::span<const Value> left, std::span<const Value> right, NodeId p,
                   NodeId g, const std::string& name) {
    if (left.size() != right.size()) {
      note_argument(state, p, g, name, std::to_string(left.size()) + " elements",
                    std::to_string(right.size()) + " elements");
      return;
    }
    for (size_t i = 0; i < left.size(); ++i) align_values(state, left[i], right[i], p, g, name);
  }

  void align_values(State& state, Value left, Value right, NodeId p, NodeId g, const std::string& name) {
    if (left.is_node() && right.is_node()) {
      align(state, left.node(), right.node());
      return;
    }
    if (left.is_node() && pattern_.node(left.node()).op == Op::kPlaceholder) {
      Value& bound = state.bindings[left.node()];
      auto same = [](NodeId x, NodeId y) { return x == y; };
      if (bound.kind == ValueKind::kUnknown) {
        bound = right;
      } else if (equal_values(graph_, bound, graph_, right, same)) {
        state.score += kBindingWeight;
      } else {
        note_binding(state, left.node(), text(graph_, bound), text(graph_, right), g);
      }
      return;
    }
    if (left.is_sequence() && right.is_sequence()) {
      align_lists(state, pattern_.children(left), graph_.children(right), p, g, name);
      return;
    }
    if (left.is_composite() && left.kind == right.kind) {
      align_lists(state, pattern_.children(left), graph_.children(right), p, g, name);
      return;
    }
    if (!left.is_node() && !right.is_node() && equal_literals(pattern_, left, graph_, right)) {
      state.score += kLiteralWeight;
      return;
    }
    note_argument(state, p, g, name, text(pattern_, left), text(graph_, right));
  }

  // Texts are only made where somebody will read them.
  std::string text(const Graph& graph, Value value) const {
    return quiet_ ? std::string() : print_value(graph, value);
  }

  bool count_only(State& state, Difference::Kind kind) {
    if (!quiet_) return false;
    Difference difference;
    difference.kind = kind;
    add(state, std::move(difference));
    return true;
  }

  void note_argument(State& state, NodeId p, NodeId g, const std::string& name, std::string expected,
                     std::string actual) {
    if (count_only(state, Difference::Kind::kArgument)) return;
    Difference difference;
    difference.kind = Difference::Kind::kArgument;
    difference.pattern_node = p;
    difference.graph_node = g;
    difference.parameter = name;
    difference.message =
        name + " of " + pattern_label(p) + " is " + expected + ", of " + graph_label(g) + " it is " + actual;
    difference.hint = "write " + print_node(graph_, g) + ", or make it a parameter of the pattern";
    difference.expected = std::move(expected);
    difference.actual = std::move(actual);
    add(state, std::move(difference));
  }

  void note_arity(State& state, NodeId p, NodeId g, const std::string& name, const std::string& expected,
                  const std::string& actual) {
    if (count_only(state, Difference::Kind::kArity)) return;
    Difference difference;
    difference.kind = Difference::Kind::kArity;
    difference.pattern_node = p;
    difference.graph_node = g;
    difference.parameter = name;
    difference.expected = expected.empty() ? "nothing" : expected;
    difference.actual = actual.empty() ? "nothing" : actual;
    difference.message =
        name + " is given only by " +
        (actual.empty() ? pattern_label(p) + " (" + expected + ")" : graph_label(g) + " (" + actual + ")") +
        ", not by " + (actual.empty() ? graph_label(g) : pattern_label(p));
    difference.hint = "write " + print_node(graph_, g);
    add(state, std::move(difference));
  }

  void note_binding(State& state, NodeId p, const std::string& first, const std::string& second, NodeId g) {
    if (count_only(state, Difference::Kind::kBinding)) return;
    Difference difference;
    difference.kind = Difference::Kind::kBinding;
    difference.pattern_node = p;
    difference.graph_node = g;
    difference.expected = first;
    difference.actual = second;
    difference.message = pattern_label(p) + " would stand for both " + first + " and " + second;
    difference.hint = "use two parameters";
    add(state, std::move(difference));
  }

  const Matcher& matcher_;
  const Graph& pattern_;
  const Graph& graph_;
  const bool normalized_;
  std::vector<Order> orders_;  // by NodeId of the pattern
  int swaps_left_ = kMaxSwaps;
  bool quiet_ = false;
};

}  // namespace

std::string_view difference_name(Difference::Kind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"operation",     "argument",    "arity",  "binding",
                                                      "pattern_extra", "graph_extra", "refused"};
  return kNames[static_cast<size_t>(kind)];
}

std::string NearestMiss::to_string() const {
  std::string text = differences.front().message;
  if (differences.front().kind != Difference::Kind::kRefused) {
    text += "; " + std::to_string(matched) + " of " + std::to_string(total) + " operations agree there";
    if (differences.size() > 1) text += ", " + std::to_string(differences.size()) + " differences";
  }
  if (!differences.front().hint.empty()) text += "; " + differences.front().hint;
  return text;
}

std::optional<NearestMiss> nearest_miss(const Matcher& matcher, const Graph& graph,
                                        const MatchResult& found) {
  if (!found.matches.empty()) return std::nullopt;
  if (!found.refusals.empty()) {
    NearestMiss miss;
    for (const Refusal& refusal : found.refusals) {
      Difference difference;
      difference.kind = Difference::Kind::kRefused;
      difference.pattern_node = refusal.pattern_node;
      difference.graph_node = refusal.node;
      difference.message = refusal.reason;
      difference.hint = refusal.hint;
      miss.differences.push_back(std::move(difference));
    }
    const Graph& pattern = matcher.pattern();
    for (NodeId p = pattern.first(); p != kNoNode; p = pattern.next(p)) {
      const Op op = pattern.node(p).op;
      if (op != Op::kPlaceholder && op != Op::kOutput) ++miss.total;
    }
    miss.matched = miss.total;
    miss.place = found.refusals.front().node;
    return miss;
  }
  return Aligner(matcher, graph).run();
}

Json nearest_miss_json(const NearestMiss& miss, const Graph& pattern, const Graph& graph) {
  const std::vector<uint32_t> numbers = graph.numbering();
  auto node_json = [](const Graph& owner, NodeId id) {
    if (id == kNoNode) return Json();
    return Json::object({{"name", owner.node_name(id)},
                         {"target", owner.target(id)},
                         {"file", owner.file},
                         {"line", owner.node(id).lines.first}});
  };
  Json differences = Json::array();
  for (const Difference& difference : miss.differences) {
    Json in_graph = node_json(graph, difference.graph_node);
    if (difference.graph_node != kNoNode)
      in_graph.set("number", static_cast<int64_t>(numbers[difference.graph_node]));
    differences.push_back(
        Json::object({{"kind", difference_name(difference.kind)},
                      {"pattern", node_json(pattern, difference.pattern_node)},
                      {"graph", std::move(in_graph)},
                      {"parameter", difference.parameter.empty() ? Json() : Json(difference.parameter)},
                      {"expected", difference.expected},
                      {"actual", difference.actual},
                      {"message", difference.message},
                      {"hint", difference.hint}}));
  }
  return Json::object({{"reason", miss.to_string()},
                       {"matched", uint64_t{miss.matched}},
                       {"total", uint64_t{miss.total}},
                       {"differences", std::move(differences)}});
}

}  // namespace graft::graph
