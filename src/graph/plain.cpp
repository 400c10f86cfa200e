#include "graph/plain.h"

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/signatures.h"
#include "graph/vocabulary.h"

namespace graft::graph {
namespace {

// The Tensor method behind an operator whose left operand is a real tensor and whose right one is traced.
std::string_view tensor_method(std::string_view function) {
  static const std::unordered_map<std::string_view, std::string_view> kMethods = {
      {"add", "add"},
      {"sub", "sub"},
      {"mul", "mul"},
      {"matmul", "matmul"},
      {"truediv", "div"},
      {"mod", "remainder"},
      {"pow", "pow"},
      {"lshift", "__lshift__"},
      {"rshift", "__rshift__"},
      {"or_", "__or__"},
      {"xor", "__xor__"},
      {"and_", "__and__"},
      {"floordiv", "__floordiv__"},
      {"eq", "eq"},
      {"ne", "ne"},
      {"lt", "lt"},
      {"le", "le"},
      {"gt", "gt"},
      {"ge", "ge"},
      {"getitem", "__getitem__"},
      {"iadd", "add_"},
      {"isub", "sub_"},
      {"imul", "mul_"},
      {"itruediv", "div_"},
      {"imod", "remainder_"},
      {"ipow", "pow_"},
      {"ifloordiv", "floor_divide_"}};
  const auto found = kMethods.find(function);
  return found == kMethods.end() ? std::string_view{} : found->second;
}

// What a call that runs at trace time gives.
enum class Eager : uint8_t { kNo, kTensor, kLiteral };

class Tracer {
 public:
  explicit Tracer(const Graph& graph)
      : from_(graph), map_(graph.pool_size()), eager_(graph.pool_size(), Eager::kNo) {}

  Graph run() {
    to_.name = from_.name;
    to_.file = from_.file;
    to_.traced = from_.traced;
    for (NodeId id = from_.first(); id != kNoNode; id = from_.next(id)) visit(id);
    return std::move(to_);
  }

 private:
  static constexpr std::string_view kOperator = "_operator.";

  bool traced(NodeId id) const {
    bool any = false;
    from_.for_each_input(id, [&](NodeId input) { any = any || eager_[input] == Eager::kNo; });
    return any;
  }

  // A call on constants only: which kind of thing it gives.
  Eager result_kind(NodeId id) const {
    const std::string_view target = from_.target(id);
    if (from_.node(id).op == Op::kCallMethod) {
      constexpr std::array<std::string_view, 11> kLiterals = {"size",     "dim",          "numel",
                                                              "item",     "tolist",       "stride",
                                                              "nelement", "element_size", "is_floating_point",
                                                              "data_ptr", "ndimension"};
      for (const std::string_view name : kLiterals) {
        if (target == name) return Eager::kLiteral;
      }
      return Eager::kTensor;
    }
    if (target == "builtins.getattr") {
      const Value name = from_.node(id).args[1];
      const std::string_view attribute =
          name.kind == ValueKind::kString ? from_.text(name.index) : std::string_view{};
      const bool tensor = attribute == "T" || attribute == "mT" || attribute == "H" || attribute == "data" ||
                          attribute == "real" || attribute == "imag" || attribute == "grad";
      return tensor ? Eager::kTensor : Eager::kLiteral;
    }
    if (target.starts_with("builtins.") || target.starts_with("math.") || target == "torch.finfo" ||
        target == "torch.iinfo" || target == "torch._C._log_api_usage_once" || target == "torch.sym_sum") {
      return Eager::kLiteral;
    }
    if (target.starts_with(kOperator)) {
      // Of literals a literal, of tensors a tensor.
      Eager kind = Eager::kLiteral;
      from_.for_each_input(id, [&](NodeId input) {
        if (eager_[input] == Eager::kTensor) kind = Eager::kTensor;
      });
      return kind;
    }
    return Eager::kTensor;
  }

  // The object an in-place call on a constant gives back is the constant itself.
  NodeId written_constant(NodeId id) const {
    const Node& node = from_.node(id);
    if (node.args.empty() || !node.args[0].is_node() || eager_[node.args[0].node()] != Eager::kTensor)
      return kNoNode;
    const std::string_view target = from_.target(id);
    if (node.op == Op::kCallMethod && target.ends_with("_") && !target.ends_with("__"))
      return node.args[0].node();
    const OperatorSyntax* syntax = node.op == Op::kCallFunction ? operator_syntax(target) : nullptr;
    return syntax != nullptr && syntax->in_place ? node.args[0].node() : kNoNode;
  }

  void visit(NodeId id) {
    const Node& node = from_.node(id);
    const bool runs_at_once = node.op != Op::kPlaceholder && node.op != Op::kOutput &&
                              node.op != Op::kGetAttr && node.op != Op::kCallModule && !traced(id);
    if (runs_at_once) {
      eager_[id] = result_kind(id);
      const NodeId same = written_constant(id);
      constant_[id] = same == kNoNode ? id : constant_of(same);
      return;
    }
    std::string target(from_.target(id));
    Op op = node.op;
    if (op == Op::kCallFunction && target.starts_with(kOperator)) {
      std::string function = target.substr(kOperator.size());
      const bool constant_first =
          !node.args.empty() && node.args[0].is_node() && eager_[node.args[0].node()] == Eager::kTensor;
      if (const std::string_view method = tensor_method(function); constant_first && !method.empty()) {
        op = Op::kCallMethod;
        target = method;
      } else if (const OperatorSyntax* syntax = operator_syntax(target);
                 syntax != nullptr && syntax->in_place) {
        // A traced value has no in-place operators: Python takes the plain one.
        function.erase(0, 1);
        if (function == "or" || function == "and") function += '_';
        target = std::string(kOperator) + function;
      }
    }
    if (target.starts_with("torch.ops.")) target = "torch._ops." + target.substr(10);
    std::vector<Value> args;
    std::vector<Keyword> kwargs;
    if (op != Op::kCallFunction || !dispatch(id, args, kwargs, target)) {
      args.clear();
      kwargs.clear();
      for (const Value& value : node.args) args.push_back(bring_over(value, node.lines));
      for (const Keyword& keyword : node.kwargs) {
        kwargs.push_back({to_.intern(from_.text(keyword.name)), bring_over(keyword.value, node.lines)});
      }
    }
    const NodeId made =
        to_.add(op, target, from_.node_name(id), std::move(args), std::move(kwargs), node.lines);
    Node& extra = to_.mutable_annotation(made);
    extra.keyword_only = node.keyword_only;
    if (node.annotation != kNoSymbol) extra.annotation = to_.intern(from_.text(node.annotation));
    map_[id] = Value::of_node(made);
  }

  // A function of torch written in Python hands its arguments on in a form of its own, defaults included.
  bool dispatch(NodeId id, std::vector<Value>& args, std::vector<Keyword>& kwargs, std::string& target) {
    const Callable* callable = find_callable(from_, id);
    if (callable == nullptr || callable->dispatch_positional.empty()) return false;
    const std::optional<BoundCall> bound = bind_call(from_, id);
    if (!bound) return false;
    const Lines lines = from_.node(id).lines;
    const std::vector<Parameter>& parameters = bound->signature->parameters;
    auto value_of = [&](std::string_view name) -> std::optional<Value> {
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].name != name) continue;
        if (bound->arguments[i].source == BoundCall::Source::kValue)
          return bring_over(bound->arguments[i].value, lines);
        return to_.copy_value(default_values(), parameters[i].default_value, {});
      }
      return std::nullopt;
    };
    for (const std::string_view name : callable->dispatch_positional) {
      const std::optional<Value> value = value_of(name);
      if (!value) return false;
      args.push_back(*value);
    }
    for (const std::string_view name : callable->dispatch_keywords) {
      const std::optional<Value> value = value_of(name);
      if (!value) return false;
      if (callable->wrapped && name == "return_indices" && value->kind == ValueKind::kBool &&
          value->integer != 0) {
        target += "_with_indices";
      }
      kwargs.push_back({to_.intern(name), *value});
    }
    return true;
  }

  NodeId constant_of(NodeId id) const {
    const auto found = constant_.find(id);
    return found == constant_.end() ? id : found->second;
  }

  // Arguments are made in order; a constant tensor becomes a node on the spot.
  Value bring_over(Value value, Lines lines) {
    if (value.is_node()) {
      const NodeId id = value.node();
      if (eager_[id] == Eager::kNo) return map_[id];
      if (eager_[id] == Eager::kLiteral) return Value::unknown();
      const auto [entry, inserted] = constant_names_.try_emplace(constant_of(id));
      if (inserted) entry->second = "_tensor_constant" + std::to_string(constant_names_.size() - 1);
      return Value::of_node(to_.add(Op::kGetAttr, entry->second, entry->second, {}, {}, lines));
    }
    if (value.has_symbol()) return Value::of_symbol(value.kind, to_.intern(from_.text(value.index)));
    if (!value.is_composite()) return value;
    std::vector<Value> children;
    children.reserve(value.count);
    for (const Value& child : from_.children(value)) children.push_back(bring_over(child, lines));
    return to_.composite(value.kind, children);
  }

  const Graph& from_;
  Graph to_;
  std::vector<Value> map_;
  std::vector<Eager> eager_;
  std::unordered_map<NodeId, NodeId> constant_;
  std::unordered_map<NodeId, std::string> constant_names_;
};

}  // namespace

Graph plain_graph(const Graph& graph) {
  return Tracer(graph).run();
}

}  // namespace graft::graph
