#include "graph/evaluator.h"

#include <algorithm>

#include "graph/fold.h"
#include "graph/vocabulary.h"

namespace graft::graph {

using python::node_cast;

namespace {

std::string_view in_place_function(python::BinaryOperator op) {
  switch (op) {
    case python::BinaryOperator::kAdd:
      return "iadd";
    case python::BinaryOperator::kSub:
      return "isub";
    case python::BinaryOperator::kMult:
      return "imul";
    case python::BinaryOperator::kMatMult:
      return "imatmul";
    case python::BinaryOperator::kDiv:
      return "itruediv";
    case python::BinaryOperator::kMod:
      return "imod";
    case python::BinaryOperator::kPow:
      return "ipow";
    case python::BinaryOperator::kLShift:
      return "ilshift";
    case python::BinaryOperator::kRShift:
      return "irshift";
    case python::BinaryOperator::kBitOr:
      return "ior";
    case python::BinaryOperator::kBitXor:
      return "ixor";
    case python::BinaryOperator::kBitAnd:
      return "iand";
    case python::BinaryOperator::kFloorDiv:
      return "ifloordiv";
  }
  return "iadd";
}

// The name a node gets from the target of an assignment, empty for targets that are no plain name.
std::string_view wanted_name_of(const python::Nodes<python::Expr>& targets) {
  for (const python::Expr* target : targets) {
    if (const auto* name = node_cast<python::Name>(target)) return name->id;
  }
  return {};
}

}  // namespace

Evaluator::Frame* Evaluator::new_frame(Frame* outer) {
  frames_.push_back(std::make_unique<Frame>());
  frames_.back()->outer = outer;
  return frames_.back().get();
}

Result<Graph> Evaluator::run(const python::FunctionBase& function) {
  graph_.file = scope_.module->source.file();
  frame_ = new_frame(nullptr);
  if (function.kind == python::NodeKind::kAsyncFunctionDef) {
    return error_at(function, "an async function cannot be a graph", "a plain `def`");
  }
  if (options_.unroll && !function.decorator_list.empty()) {
    return error_at(*function.decorator_list[0],
                    "function '" + std::string(function.name) + "' is decorated and cannot be followed");
  }
  GRAFT_RETURN_IF_ERROR(bind_parameters(function));
  GRAFT_RETURN_IF_ERROR(run_body(function.body));
  const Lines lines = frame_->returned ? Lines{} : lines_of(function);
  graph_.add(Op::kOutput, "output", "output", {frame_->result}, {}, lines);
  return std::move(graph_);
}

Lines Evaluator::lines_of(const python::Node& node) const {
  const python::SourceText& source = scope_.module->source;
  const Place first = source.place(node.begin);
  const uint32_t end = node.end > node.begin ? node.end - 1 : node.end;
  return {first.line, static_cast<int>(source.line_of(end)), first.column};
}

Status Evaluator::bind_parameters(const python::FunctionBase& function) {
  const python::Arguments& arguments = *function.args;
  if (arguments.vararg != nullptr) {
    return error_at(*arguments.vararg,
                    "parameter '*" + std::string(arguments.vararg->arg) + "' has no fixed meaning in a graph",
                    "named parameters only");
  }
  if (arguments.kwarg != nullptr) {
    return error_at(*arguments.kwarg,
                    "parameter '**" + std::string(arguments.kwarg->arg) + "' has no fixed meaning in a graph",
                    "named parameters only");
  }
  std::vector<std::pair<const python::Arg*, const python::Expr*>> parameters;
  for (const python::Arg* argument : arguments.posonlyargs) parameters.emplace_back(argument, nullptr);
  for (const python::Arg* argument : arguments.args) parameters.emplace_back(argument, nullptr);
  const size_t positional = parameters.size();
  for (uint32_t i = 0; i < arguments.defaults.size(); ++i) {
    parameters[positional - arguments.defaults.size() + i].second = arguments.defaults[i];
  }
  for (uint32_t i = 0; i < arguments.kwonlyargs.size(); ++i) {
    parameters.emplace_back(arguments.kwonlyargs[i],
                            i < arguments.kw_defaults.size() ? arguments.kw_defaults[i] : nullptr);
  }
  size_t first = 0;
  if (options_.method) {
    if (positional == 0) return error_at(function, "the method has no 'self' parameter");
    self_name_ = parameters[0].first->arg;
    frame_->names[self_name_] = Meaning{Meaning::Kind::kSelf, {}, {}, nullptr, nullptr};
    first = 1;
  }
  for (size_t i = first; i < parameters.size(); ++i) {
    const auto& [argument, default_value] = parameters[i];
    std::vector<Value> args;
    if (default_value != nullptr) {
      GRAFT_ASSIGN_OR_RETURN(const Value value, evaluate(*default_value));
      if (holds_node(value)) return error_at(*default_value, "a default value must be a constant");
      args.push_back(value);
    }
    const NodeId id =
        graph_.add(Op::kPlaceholder, argument->arg, argument->arg, std::move(args), {}, lines_of(*argument));
    Node& node = graph_.mutable_annotation(id);
    node.keyword_only = i >= positional;
    if (argument->annotation != nullptr) node.annotation = graph_.intern(source_of(*argument->annotation));
    Meaning meaning;
    meaning.value = Value::of_node(id);
    if (!frame_->names.emplace(argument->arg, std::move(meaning)).second) {
      return error_at(*argument, "parameter '" + std::string(argument->arg) + "' is named twice");
    }
  }
  return {};
}

Status Evaluator::run_body(const python::Nodes<python::Stmt>& body) {
  for (const python::Stmt* statement : body) {
    GRAFT_RETURN_IF_ERROR(run_statement(*statement));
    if (frame_->returned || frame_->broke || frame_->continued) break;
  }
  return {};
}

Status Evaluator::run_statement(const python::Stmt& statement) {
  using python::NodeKind;
  switch (statement.kind) {
    case NodeKind::kAssign: {
      const auto& assignment = python::as<python::Assign>(statement);
      GRAFT_ASSIGN_OR_RETURN(Meaning meaning, resolve(*assignment.value, wanted_name_of(assignment.targets)));
      for (const python::Expr* target : assignment.targets) {
        GRAFT_RETURN_IF_ERROR(assign(*target, meaning, statement));
      }
      return {};
    }
    case NodeKind::kAnnAssign: {
      const auto& assignment = python::as<python::AnnAssign>(statement);
      if (assignment.value == nullptr) return {};
      const auto* name = node_cast<python::Name>(assignment.target);
      GRAFT_ASSIGN_OR_RETURN(Meaning meaning,
                             resolve(*assignment.value, name != nullptr ? name->id : std::string_view{}));
      return assign(*assignment.target, std::move(meaning), statement);
    }
    case NodeKind::kAugAssign:
      return assign_augmented(python::as<python::AugAssign>(statement));
    case NodeKind::kExprStmt: {
      const auto& expression = *python::as<python::ExprStmt>(statement).value;
      return [&]() -> Status {
        GRAFT_RETURN_IF_ERROR(evaluate(expression));
        return {};
      }();
    }
    case NodeKind::kReturn: {
      const auto& result = python::as<python::Return>(statement);
      if (result.value != nullptr) {
        GRAFT_ASSIGN_OR_RETURN(frame_->result, evaluate(*result.value));
      }
      frame_->returned = true;
      return {};
    }
    case NodeKind::kDelete:
      for (const python::Expr* target : python::as<python::Delete>(statement).targets) {
        const auto* name = node_cast<python::Name>(target);
        if (name == nullptr) return error_at(*target, "only names can be deleted in a graph");
        if (frame_->names.erase(name->id) == 0) {
          return error_at(*target, "name '" + std::string(name->id) + "' is not defined");
        }
      }
      return {};
    case NodeKind::kPass:
      return {};
    case NodeKind::kFunctionDef: {
      if (!options_.unroll) break;
      const auto& function = python::as<python::FunctionBase>(statement);
      Meaning meaning;
      meaning.kind = Meaning::Kind::kFunction;
      meaning.function = &function;
      meaning.closure = frame_;
      frame_->names[function.name] = std::move(meaning);
      return {};
    }
    case NodeKind::kFor:
      if (!options_.unroll) break;
      return run_for(python::as<python::For>(statement));
    case NodeKind::kIf: {
      if (!options_.unroll) break;
      const auto& branch = python::as<python::If>(statement);
      GRAFT_ASSIGN_OR_RETURN(const Value test, evaluate(*branch.test));
      const std::optional<bool> decided = truth(graph_, test);
      if (!decided) {
        return error_at(*branch.test, "the condition depends on a tensor or input",
                        "a condition on constants");
      }
      return run_body(*decided ? branch.body : branch.orelse);
    }
    case NodeKind::kBreak:
      frame_->broke = true;
      return {};
    case NodeKind::kContinue:
      frame_->continued = true;
      return {};
    case NodeKind::kAssert: {
      if (!options_.unroll) break;
      const auto& check = python::as<python::Assert>(statement);
      GRAFT_ASSIGN_OR_RETURN(const Value test, evaluate(*check.test));
      const std::optional<bool> decided = truth(graph_, test);
      if (!decided) return error_at(*check.test, "the assertion depends on a tensor or input");
      if (!*decided) return error_at(*check.test, "the assertion is false");
      return {};
    }
    default:
      break;
  }
  return error_at(
      statement,
      "statement '" + std::string(python::class_name(statement.kind)) + "' is not understood in a graph",
      options_.unroll ? "assignments, expressions, loops and conditions over constants, return"
                      : "assignments, expressions and return");
}

Status Evaluator::run_for(const python::For& loop) {
  GRAFT_ASSIGN_OR_RETURN(const Value sequence, evaluate(*loop.iter));
  GRAFT_ASSIGN_OR_RETURN(const std::vector<Value> items, constant_items(sequence, *loop.iter));
  bool broke = false;
  for (const Value& item : items) {
    Meaning meaning;
    meaning.value = item;
    GRAFT_RETURN_IF_ERROR(assign(*loop.target, std::move(meaning), loop));
    GRAFT_RETURN_IF_ERROR(run_body(loop.body));
    if (frame_->returned) return {};
    broke = std::exchange(frame_->broke, false);
    frame_->continued = false;
    if (broke) break;
  }
  return broke ? Status{} : run_body(loop.orelse);
}

Status Evaluator::assign(const python::Expr& target, Meaning meaning, const python::Node& at) {
  if (const auto* name = node_cast<python::Name>(&target)) {
    if (name->id == self_name_ && !self_name_.empty() && frame_->outer == nullptr) {
      return error_at(target, "'" + std::string(name->id) + "' must stay the module");
    }
    frame_->names[name->id] = std::move(meaning);
    return {};
  }
  GRAFT_ASSIGN_OR_RETURN(const Value value, value_of(std::move(meaning), target, {}));
  if (const auto* tuple = node_cast<python::Tuple>(&target)) return unpack(tuple->elts, value, target);
  if (const auto* list = node_cast<python::List>(&target)) return unpack(list->elts, value, target);
  if (const auto* subscript = node_cast<python::Subscript>(&target)) {
    GRAFT_ASSIGN_OR_RETURN(const Value container, evaluate(*subscript->value));
    if (!container.is_node()) {
      return error_at(target, "a write into a constant container is not understood", "a write into a tensor");
    }
    GRAFT_ASSIGN_OR_RETURN(const Value index, evaluate(*subscript->slice));
    graph_.add(Op::kCallFunction, "_operator.setitem", "setitem", {container, index, value}, {},
               lines_of(at));
    return {};
  }
  return error_at(target,
                  "an assignment to '" + std::string(source_of(target)) + "' is not understood in a graph",
                  "a name, a tuple of names or a subscript");
}

Status Evaluator::unpack(const python::Nodes<python::Expr>& targets, Value value, const python::Node& at) {
  for (const python::Expr* target : targets) {
    if (target->kind == python::NodeKind::kStarred) {
      return error_at(*target, "starred unpacking is not understood in a graph", "one name for each element");
    }
  }
  std::vector<Value> items;
  if (value.is_node()) {
    for (uint32_t i = 0; i < targets.size(); ++i) {
      const auto* name = node_cast<python::Name>(targets[i]);
      GRAFT_ASSIGN_OR_RETURN(const Value item, add_operator("getitem", {value, Value::of_int(i)}, *targets[i],
                                                            name != nullptr ? name->id : std::string_view{}));
      items.push_back(item);
    }
  } else {
    GRAFT_ASSIGN_OR_RETURN(items, constant_items(value, at));
    if (items.size() != targets.size()) {
      return error_at(at, std::to_string(items.size()) + " values are unpacked into " +
                              std::to_string(targets.size()) + " targets");
    }
  }
  for (uint32_t i = 0; i < targets.size(); ++i) {
    Meaning meaning;
    meaning.value = items[i];
    GRAFT_RETURN_IF_ERROR(assign(*targets[i], std::move(meaning), at));
  }
  return {};
}

Status Evaluator::assign_augmented(const python::AugAssign& statement) {
  const std::string_view function = in_place_function(statement.op);
  if (const auto* name = node_cast<python::Name>(statement.target)) {
    GRAFT_ASSIGN_OR_RETURN(const Value left, evaluate(*statement.target));
    GRAFT_ASSIGN_OR_RETURN(const Value right, evaluate(*statement.value));
    Meaning meaning;
    if (left.is_node()) {
      GRAFT_ASSIGN_OR_RETURN(meaning.value, add_operator(function, {left, right}, statement, name->id));
    } else if (!holds_node(left) && !holds_node(right)) {
      const std::optional<Value> folded = fold_binary(graph_, statement.op, left, right);
      if (!folded) return error_at(statement, "this arithmetic on constants is not understood");
      meaning.value = *folded;
    } else if (left.is_sequence()) {
      const std::optional<Value> folded = fold_binary(graph_, statement.op, left, right);
      if (!folded) return error_at(statement, "this operation on a container is not understood");
      meaning.value = *folded;
    } else {
      // A constant has no in-place operator: Python falls back to the plain one, whose function lacks the
      // leading "i".
      std::string plain(function.substr(1));
      if (plain == "or" || plain == "and") plain += "_";
      GRAFT_ASSIGN_OR_RETURN(meaning.value, add_operator(plain, {left, right}, statement, name->id));
    }
    frame_->names[name->id] = std::move(meaning);
    return {};
  }
  if (const auto* subscript = node_cast<python::Subscript>(statement.target)) {
    GRAFT_ASSIGN_OR_RETURN(const Value container, evaluate(*subscript->value));
    if (!container.is_node())
      return error_at(statement, "a write into a constant container is not understood");
    GRAFT_ASSIGN_OR_RETURN(const Value index, evaluate(*subscript->slice));
    GRAFT_ASSIGN_OR_RETURN(const Value old, add_operator("getitem", {container, index}, *subscript, {}));
    GRAFT_ASSIGN_OR_RETURN(const Value right, evaluate(*statement.value));
    GRAFT_ASSIGN_OR_RETURN(const Value fresh, add_operator(function, {old, right}, statement, {}));
    graph_.add(Op::kCallFunction, "_operator.setitem", "setitem", {container, index, fresh}, {},
               lines_of(statement));
    return {};
  }
  return error_at(*statement.target, "an augmented assignment to '" +
                                         std::string(source_of(*statement.target)) +
                                         "' is not understood in a graph");
}

Result<std::vector<Value>> Evaluator::constant_items(Value value, const python::Node& at) {
  if (value.is_sequence()) {
    const auto children = graph_.children(value);
    return std::vector<Value>(children.begin(), children.end());
  }
  if (value.kind == ValueKind::kDict) {
    std::vector<Value> keys;
    const auto children = graph_.children(value);
    for (size_t i = 0; i < children.size(); i += 2) keys.push_back(children[i]);
    return keys;
  }
  return error_at(at, "the number of elements is not known from the text",
                  "a tuple, list or range of constants");
}

bool Evaluator::holds_node(Value value) const {
  bool found = false;
  auto visit = [&](NodeId) { found = true; };
  graph_.for_each_node(value, visit);
  return found;
}

Result<NodeId> Evaluator::add_node(Op op, std::string_view target, std::string_view wanted_name,
                                   std::vector<Value> args, std::vector<Keyword> kwargs,
                                   const python::Node& at) {
  if (graph_.size() >= options_.max_nodes) {
    return error_at(at, "the graph grows beyond " + std::to_string(options_.max_nodes) + " nodes");
  }
  std::string_view name = wanted_name;
  if (name.empty()) {
    const size_t dot = target.rfind('.');
    name = dot == std::string_view::npos ? target : target.substr(dot + 1);
  }
  return graph_.add(op, target, name, std::move(args), std::move(kwargs), lines_of(at));
}

Result<Value> Evaluator::add_operator(std::string_view function, std::vector<Value> args,
                                      const python::Node& at, std::string_view wanted_name) {
  const std::string target = "_operator." + std::string(function);
  GRAFT_ASSIGN_OR_RETURN(const NodeId id,
                         add_node(Op::kCallFunction, target, wanted_name, std::move(args), {}, at));
  return Value::of_node(id);
}

}  // namespace graft::graph
