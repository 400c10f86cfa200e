#include "graph/effects.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "graph/signatures.h"
#include "graph/vocabulary.h"

namespace graft::graph {
namespace {

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void append_nodes(const Graph& graph, Value value, std::vector<NodeId>& out) {
  auto visit = [&](NodeId id) {
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  };
  graph.for_each_node(value, visit);
}

// Switches of state that later calls depend on.
bool is_border(std::string_view target) {
  constexpr std::array<std::string_view, 8> kNames = {"torch._C._set_grad_enabled",
                                                      "torch.set_grad_enabled",
                                                      "torch.amp.autocast_mode._enter_autocast",
                                                      "torch.amp.autocast_mode._exit_autocast",
                                                      "torch._C._functorch._vmap_increment_nesting",
                                                      "torch._C._functorch._vmap_decrement_nesting",
                                                      "torch._C._enter_inference_mode",
                                                      "torch._C._exit_inference_mode"};
  return contains(kNames, target) || target.find("_enter_") != std::string_view::npos ||
         target.find("_exit_") != std::string_view::npos;
}

// Attributes of a tensor that are tensors sharing its storage.
bool is_view_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {"T", "mT", "H", "mH", "data", "real", "imag"};
  return contains(kNames, name) || name == "grad";
}

// Functions outside the table that only compute or check.
bool is_harmless(std::string_view target) {
  constexpr std::array<std::string_view, 8> kNames = {"torch._C._log_api_usage_once",
                                                      "torch._check_is_size",
                                                      "torch._check",
                                                      "torch.sym_sum",
                                                      "torch.sym_int",
                                                      "torch.sym_float",
                                                      "torch.finfo",
                                                      "torch.iinfo"};
  return contains(kNames, target) || target.starts_with("builtins.") || target.starts_with("math.") ||
         target.starts_with("graft_replacement_");
}

class Reader {
 public:
  Reader(const Graph& graph, NodeId id)
      : graph_(graph), node_(graph.node(id)), target_(graph.target(id)), id_(id) {}

  Effects read() {
    switch (node_.op) {
      case Op::kPlaceholder:
      case Op::kOutput:
      case Op::kGetAttr:
        return {};
      case Op::kCallModule:
        opaque();
        return std::move(effects_);
      case Op::kCallFunction:
        read_function();
        return std::move(effects_);
      case Op::kCallMethod:
        read_callable();
        return std::move(effects_);
    }
    return {};
  }

 private:
  void write_to(Value value) { append_nodes(graph_, value, effects_.writes); }
  void alias(Value value) { append_nodes(graph_, value, effects_.aliases); }

  void opaque() {
    for (const Value& value : node_.args) write_to(value);
    for (const Keyword& keyword : node_.kwargs) write_to(keyword.value);
    effects_.aliases = effects_.writes;
  }

  void read_function() {
    if (is_border(target_)) {
      effects_.border = true;
      return;
    }
    if (target_ == "builtins.getattr") {
      const bool view = node_.args.size() == 2 && node_.args[1].kind == ValueKind::kString &&
                        is_view_attribute(graph_.text(node_.args[1].index));
      if (view) alias(node_.args[0]);
      return;
    }
    if (target_ == "_operator.getitem") {
      if (!node_.args.empty()) alias(node_.args[0]);
      return;
    }
    if (target_ == "_operator.setitem") {
      if (!node_.args.empty()) write_to(node_.args[0]);
      return;
    }
    if (target_.starts_with("_operator.")) {
      const OperatorSyntax* syntax = operator_syntax(target_);
      if (syntax == nullptr) {
        opaque();
      } else if (syntax->in_place && !node_.args.empty()) {
        write_to(node_.args[0]);
        alias(node_.args[0]);
      }
      return;
    }
    if (is_harmless(target_)) return;
    if (target_.starts_with("torch.ops.")) {
      read_operator();
      return;
    }
    read_callable();
  }

  // torch.ops.aten.name[.overload]: as the method of that name where there is one.
  void read_operator() {
    std::string_view name = target_.substr(std::string_view("torch.ops.").size());
    name = name.substr(name.find('.') == std::string_view::npos ? 0 : name.find('.') + 1);
    name = name.substr(0, name.find('.'));
    const Callable* callable = find_method(name);
    if (callable == nullptr) callable = find_function("torch." + std::string(name));
    if (callable == nullptr) callable = find_function("torch._C._nn." + std::string(name));
    if (callable != nullptr) {
      assume_worst(*callable);
    } else if (name.ends_with("_")) {
      opaque();
    }
  }

  void read_callable() {
    const Callable* callable = find_callable(graph_, id_);
    if (callable == nullptr) {
      opaque();
      return;
    }
    const std::optional<BoundCall> bound = bind_call(graph_, id_);
    if (!bound) {
      assume_worst(*callable);
      return;
    }
    read_bound(*bound);
  }

  // No overload is settled: everything that one of them does to the argument at some place may happen.
  void assume_worst(const Callable& callable) {
    for (const Signature& signature : callable.overloads) {
      effects_.random = effects_.random || signature.random;
      for (size_t i = 0; i < signature.parameters.size(); ++i) {
        const Parameter& parameter = signature.parameters[i];
        Value given;
        if (i < node_.args.size() && !parameter.keyword_only) given = node_.args[i];
        if (const Value* named = graph_.keyword(id_, parameter.name)) given = *named;
        if (parameter.written) write_to(given);
        if (!parameter.alias.empty() || (signature.may_alias && i == 0)) alias(given);
      }
    }
    if (callable.python)
      read_python_flags([&](std::string_view name) -> const Value* { return graph_.keyword(id_, name); });
  }

  void read_bound(const BoundCall& bound) {
    const std::vector<Parameter>& parameters = bound.signature->parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (bound.arguments[i].source != BoundCall::Source::kValue) continue;
      const Value value = bound.arguments[i].value;
      const Parameter& parameter = parameters[i];
      if (parameter.written) write_to(value);
      const std::vector<std::string_view>& results = bound.signature->result_aliases;
      if (!parameter.alias.empty() && std::any_of(results.begin(), results.end(),
                                                  [](std::string_view result) { return !result.empty(); })) {
        alias(value);
      }
      if (bound.signature->may_alias && i == 0) alias(value);
    }
    auto value_of = [&](std::string_view name) -> const Value* {
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].name != name) continue;
        return bound.arguments[i].source == BoundCall::Source::kValue ? &bound.arguments[i].value
                                                                      : &parameters[i].default_value;
      }
      return nullptr;
    };
    effects_.random = bound.signature->random && !is_inactive(value_of);
    read_python_flags(value_of);
  }

  // A dropout that is switched off, or one of probability 0, draws nothing.
  template <class ValueOf>
  bool is_inactive(ValueOf value_of) {
    for (const std::string_view name : {"training", "train"}) {
      const Value* value = value_of(name);
      if (value != nullptr && value->kind == ValueKind::kBool && value->integer == 0) return true;
    }
    for (const std::string_view name : {"p", "dropout_p", "dropout"}) {
      const Value* value = value_of(name);
      if (value == nullptr) continue;
      if (value->kind == ValueKind::kFloat && value->real == 0) return true;
      if (value->kind == ValueKind::kInt && value->integer == 0) return true;
    }
    return false;
  }

  // What parameters of these names mean wherever torch uses them.
  template <class ValueOf>
  void read_python_flags(ValueOf value_of) {
    auto maybe_on = [&](std::string_view name) {
      const Value* value = value_of(name);
      return value != nullptr && !(value->kind == ValueKind::kBool && value->integer == 0) &&
             !value->is_none();
    };
    if (maybe_on("inplace") && !node_.args.empty()) {
      write_to(node_.args[0]);
      alias(node_.args[0]);
    }
    if (const Value* out = value_of("out"); out != nullptr && !out->is_none()) {
      write_to(*out);
      alias(*out);
    }
    if (maybe_on("training") || maybe_on("use_input_stats")) {
      for (const std::string_view name : {"running_mean", "running_var"}) {
        if (const Value* value = value_of(name)) write_to(*value);
      }
    }
  }

  const Graph& graph_;
  const Node& node_;
  std::string_view target_;
  NodeId id_;
  Effects effects_;
};

}  // namespace

Effects effects_of(const Graph& graph, NodeId id) {
  return Reader(graph, id).read();
}

EffectMap::EffectMap(const Graph& graph)
    : storage_(graph.pool_size()),
      aliases_(graph.pool_size()),
      random_(graph.pool_size(), 0),
      writing_(graph.pool_size(), 0) {
  for (NodeId id = 0; id < storage_.size(); ++id) storage_[id] = id;
  std::vector<std::pair<NodeId, NodeId>> written;  // writer, value
  std::unordered_map<Symbol, NodeId> attributes;
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    Effects effects = effects_of(graph, id);
    if (graph.node(id).op == Op::kGetAttr) {
      const auto [entry, inserted] = attributes.try_emplace(graph.node(id).target, id);
      if (!inserted) effects.aliases.push_back(entry->second);
    }
    for (const NodeId input : effects.aliases) storage_[find(id)] = find(input);
    for (const NodeId input : effects.writes) written.emplace_back(id, input);
    random_[id] = effects.random ? 1 : 0;
    writing_[id] = effects.writes.empty() ? 0 : 1;
    if (effects.border) borders_.push_back(id);
    aliases_[id] = std::move(effects.aliases);
  }
  for (NodeId id = 0; id < storage_.size(); ++id) storage_[id] = find(id);
  if (written.empty()) return;
  for (const auto& [writer, value] : written) writers_[storage_[value]].push_back({writer, value});
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    if (writers_.contains(storage_[id])) members_[storage_[id]].push_back(id);
  }
}

NodeId EffectMap::find(NodeId id) {
  while (storage_[id] != id) {
    storage_[id] = storage_[storage_[id]];
    id = storage_[id];
  }
  return id;
}

const std::vector<EffectMap::Write>& EffectMap::writes(NodeId storage) const {
  static const std::vector<Write> kNone;
  const auto found = writers_.find(storage);
  return found == writers_.end() ? kNone : found->second;
}

const std::vector<NodeId>& EffectMap::members(NodeId storage) const {
  static const std::vector<NodeId> kNone;
  const auto found = members_.find(storage);
  return found == members_.end() ? kNone : found->second;
}

}  // namespace graft::graph
