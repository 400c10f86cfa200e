#include <algorithm>
#include <array>

#include "graph/evaluator.h"
#include "graph/fold.h"
#include "graph/vocabulary.h"

namespace graft::graph {

using python::node_cast;

namespace {

constexpr int kMaxDepth = 1000;

std::string_view function_of(python::BinaryOperator op) {
  constexpr std::array<std::string_view, 13> kNames = {"add", "sub",  "mul",     "matmul", "truediv",
                                                       "mod", "pow",  "lshift",  "rshift", "or_",
                                                       "xor", "and_", "floordiv"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view function_of(python::CompareOperator op) {
  constexpr std::array<std::string_view, 10> kNames = {"eq", "ne",  "lt",     "le",       "gt",
                                                       "ge", "is_", "is_not", "contains", "contains"};
  return kNames[static_cast<size_t>(op)];
}

}  // namespace

Result<Value> Evaluator::evaluate(const python::Expr& expression, std::string_view wanted_name) {
  GRAFT_ASSIGN_OR_RETURN(Meaning meaning, resolve(expression, wanted_name));
  return value_of(std::move(meaning), expression, wanted_name);
}

Result<Value> Evaluator::value_of(Meaning meaning, const python::Node& at, std::string_view wanted_name) {
  switch (meaning.kind) {
    case Meaning::Kind::kValue:
      return meaning.value;
    case Meaning::Kind::kGlobal: {
      if (const std::optional<Value> literal = literal_of_global(graph_, meaning.path)) return *literal;
      if (options_.unroll) GRAFT_RETURN_IF_ERROR(check_static(meaning.path, false, at));
      return Value::of_symbol(ValueKind::kGlobal, graph_.intern(canonical_function(meaning.path)));
    }
    case Meaning::Kind::kSelf: {
      if (meaning.path.empty()) return error_at(at, "the module itself is used as a value");
      GRAFT_ASSIGN_OR_RETURN(const NodeId id, add_node(Op::kGetAttr, meaning.path, wanted_name, {}, {}, at));
      return Value::of_node(id);
    }
    case Meaning::Kind::kFunction:
      return error_at(at, "function '" + std::string(meaning.function->name) + "' is used as a value",
                      "a call of the function");
  }
  return fault("unknown meaning of an expression");
}

Result<Evaluator::Meaning> Evaluator::resolve(const python::Expr& expression, std::string_view wanted_name) {
  if (depth_ >= kMaxDepth) return error_at(expression, "the expression is nested too deeply");
  ++depth_;
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  using python::NodeKind;
  Result<Value> value = Value::none();
  switch (expression.kind) {
    case NodeKind::kName:
      return resolve_name(python::as<python::Name>(expression));
    case NodeKind::kAttribute:
      return resolve_attribute(python::as<python::Attribute>(expression), wanted_name);
    case NodeKind::kConstant:
      value = evaluate_constant(python::as<python::Constant>(expression));
      break;
    case NodeKind::kTuple:
      value = evaluate_sequence(python::as<python::Tuple>(expression).elts, ValueKind::kTuple);
      break;
    case NodeKind::kList:
      value = evaluate_sequence(python::as<python::List>(expression).elts, ValueKind::kList);
      break;
    case NodeKind::kDict: {
      const auto& dict = python::as<python::Dict>(expression);
      std::vector<Value> children;
      for (uint32_t i = 0; i < dict.keys.size(); ++i) {
        if (dict.keys[i] == nullptr)
          return error_at(expression, "'**' in a dict is not understood in a graph");
        GRAFT_ASSIGN_OR_RETURN(const Value key, evaluate(*dict.keys[i]));
        if (holds_node(key)) return error_at(*dict.keys[i], "a dict key must be a constant");
        GRAFT_ASSIGN_OR_RETURN(const Value item, evaluate(*dict.values[i]));
        children.push_back(key);
        children.push_back(item);
      }
      value = graph_.composite(ValueKind::kDict, children);
      break;
    }
    case NodeKind::kSlice: {
      const auto& slice = python::as<python::Slice>(expression);
      std::array<Value, 3> parts;
      const std::array<const python::Expr*, 3> texts = {slice.lower, slice.upper, slice.step};
      for (size_t i = 0; i < texts.size(); ++i) {
        if (texts[i] == nullptr) continue;
        GRAFT_ASSIGN_OR_RETURN(parts[i], evaluate(*texts[i]));
      }
      value = graph_.composite(ValueKind::kSlice, parts);
      break;
    }
    case NodeKind::kBinOp:
      value = evaluate_binary(python::as<python::BinOp>(expression), wanted_name);
      break;
    case NodeKind::kUnaryOp:
      value = evaluate_unary(python::as<python::UnaryOp>(expression), wanted_name);
      break;
    case NodeKind::kCompare:
      value = evaluate_compare(python::as<python::Compare>(expression), wanted_name);
      break;
    case NodeKind::kSubscript:
      value = evaluate_subscript(python::as<python::Subscript>(expression), wanted_name);
      break;
    case NodeKind::kCall:
      value = evaluate_call(python::as<python::Call>(expression), wanted_name);
      break;
    case NodeKind::kBoolOp:
      value = evaluate_bool_op(python::as<python::BoolOp>(expression));
      break;
    case NodeKind::kIfExp: {
      const auto& choice = python::as<python::IfExp>(expression);
      GRAFT_ASSIGN_OR_RETURN(const Value test, evaluate(*choice.test));
      const std::optional<bool> decided = truth(graph_, test);
      if (!decided) return error_at(*choice.test, "the condition depends on a tensor or input");
      return resolve(*decided ? *choice.body : *choice.orelse, wanted_name);
    }
    case NodeKind::kListComp:
      value = error_at(expression, "a comprehension is not understood in a straight-line graph");
      if (options_.unroll) {
        const auto& list = python::as<python::ListComp>(expression);
        value = evaluate_comprehension(*list.elt, list.generators, expression);
      }
      break;
    case NodeKind::kGeneratorExp:
      value = error_at(expression, "a generator is not understood in a straight-line graph");
      if (options_.unroll) {
        const auto& generator = python::as<python::GeneratorExp>(expression);
        value = evaluate_comprehension(*generator.elt, generator.generators, expression);
      }
      break;
    default:
      return error_at(expression, "expression '" + std::string(source_of(expression).substr(0, 60)) + "' (" +
                                      std::string(python::class_name(expression.kind)) +
                                      ") is not understood in a graph");
  }
  GRAFT_RETURN_IF_ERROR(value);
  Meaning meaning;
  meaning.value = *value;
  return meaning;
}

Result<Evaluator::Meaning> Evaluator::resolve_name(const python::Name& name) {
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->outer) {
    const auto found = frame->names.find(name.id);
    if (found != frame->names.end()) return found->second;
  }
  Meaning meaning;
  meaning.kind = Meaning::Kind::kGlobal;
  if (const ModuleScope::Binding* binding = scope_.find(name.id)) {
    switch (binding->kind) {
      case ModuleScope::Kind::kModule:
        meaning.path = binding->dotted;
        return meaning;
      case ModuleScope::Kind::kFunction:
        if (!options_.unroll) break;
        meaning.kind = Meaning::Kind::kFunction;
        meaning.function = binding->function;
        return meaning;
      case ModuleScope::Kind::kAssignment: {
        // The right side is read in the module's scope, where no local is visible.
        if (std::find(module_names_in_progress_.begin(), module_names_in_progress_.end(), name.id) !=
            module_names_in_progress_.end()) {
          return error_at(name, "name '" + std::string(name.id) + "' is defined by itself");
        }
        module_names_in_progress_.push_back(name.id);
        Frame* const inner = std::exchange(frame_, nullptr);
        Result<Meaning> resolved = resolve(*binding->value);
        frame_ = inner;
        module_names_in_progress_.pop_back();
        GRAFT_RETURN_IF_ERROR(resolved);
        if (resolved->kind == Meaning::Kind::kValue && holds_node(resolved->value)) {
          return error_at(name, "the module-level name '" + std::string(name.id) + "' is no constant");
        }
        return resolved;
      }
      case ModuleScope::Kind::kDynamic:
        return error_at(name, "what '" + std::string(name.id) + "' is, only running the file can tell");
      case ModuleScope::Kind::kClass:
        break;
    }
    return error_at(name, "'" + std::string(name.id) + "' of this file cannot be used in a graph");
  }
  // The names torch.fx puts into the globals of every graph it prints, and builtins.
  if (name.id == "device" || name.id == "inf" || name.id == "nan") {
    meaning.path = "torch." + std::string(name.id);
    return meaning;
  }
  if (name.id == "torch") {
    meaning.path = "torch";
    return meaning;
  }
  if (name.id == "Ellipsis") {
    meaning.kind = Meaning::Kind::kValue;
    meaning.value = Value::ellipsis();
    return meaning;
  }
  if (name.id.starts_with("graft_replacement_")) {
    meaning.path = name.id;
    return meaning;
  }
  static constexpr std::array<std::string_view, 8> kConstantBuiltins = {
      "slice", "tuple", "list", "range", "zip", "enumerate", "reversed", "sorted"};
  if (is_callable_builtin(name.id) ||
      std::find(kConstantBuiltins.begin(), kConstantBuiltins.end(), name.id) != kConstantBuiltins.end()) {
    meaning.path = "builtins." + std::string(name.id);
    return meaning;
  }
  return error_at(name, "name '" + std::string(name.id) + "' is not defined",
                  "a parameter, a local or an imported name",
                  name.id == "tensor" ? "keep tensor constants beside the file, not as printed text" : "");
}

Result<Evaluator::Meaning> Evaluator::resolve_attribute(const python::Attribute& attribute,
                                                        std::string_view wanted_name) {
  GRAFT_ASSIGN_OR_RETURN(Meaning base, resolve(*attribute.value));
  switch (base.kind) {
    case Meaning::Kind::kGlobal:
      base.path += '.';
      base.path += attribute.attr;
      return base;
    case Meaning::Kind::kSelf:
      if (!base.path.empty()) base.path += '.';
      base.path += attribute.attr;
      return base;
    case Meaning::Kind::kFunction:
      return error_at(
          attribute, "an attribute of function '" + std::string(base.function->name) + "' is not understood");
    case Meaning::Kind::kValue:
      break;
  }
  if (!base.value.is_node()) {
    return error_at(attribute,
                    "attribute '" + std::string(attribute.attr) + "' of a constant is not understood");
  }
  const Value name = graph_.string(attribute.attr);
  GRAFT_ASSIGN_OR_RETURN(const NodeId id, add_node(Op::kCallFunction, "builtins.getattr",
                                                   wanted_name.empty() ? "getattr_1" : wanted_name,
                                                   {base.value, name}, {}, attribute));
  Meaning meaning;
  meaning.value = Value::of_node(id);
  return meaning;
}

Result<Value> Evaluator::evaluate_constant(const python::Constant& constant) {
  using python::ConstantType;
  const python::ConstantValue& value = constant.value;
  switch (value.type()) {
    case ConstantType::kNone:
      return Value::none();
    case ConstantType::kTrue:
      return Value::boolean(true);
    case ConstantType::kFalse:
      return Value::boolean(false);
    case ConstantType::kEllipsis:
      return Value::ellipsis();
    case ConstantType::kInt:
      return Value::of_int(value.integer());
    case ConstantType::kBigInt:
      return Value::of_symbol(ValueKind::kBigInt, graph_.intern(value.text()));
    case ConstantType::kFloat:
      return Value::of_float(value.number());
    case ConstantType::kComplex: {
      Value result = Value::of_float(value.number());
      result.kind = ValueKind::kComplex;
      return result;
    }
    case ConstantType::kStr:
      return graph_.string(value.text());
    case ConstantType::kBytes:
      return Value::of_symbol(ValueKind::kBytes, graph_.intern(value.text()));
  }
  return fault("unknown kind of constant");
}

Result<Value> Evaluator::evaluate_sequence(const python::Nodes<python::Expr>& elements, ValueKind kind) {
  std::vector<Value> children;
  children.reserve(elements.size());
  for (const python::Expr* element : elements) {
    if (const auto* starred = node_cast<python::Starred>(element)) {
      GRAFT_ASSIGN_OR_RETURN(const Value sequence, evaluate(*starred->value));
      GRAFT_ASSIGN_OR_RETURN(const std::vector<Value> items, constant_items(sequence, *starred));
      children.insert(children.end(), items.begin(), items.end());
      continue;
    }
    GRAFT_ASSIGN_OR_RETURN(const Value child, evaluate(*element));
    children.push_back(child);
  }
  return graph_.composite(kind, children);
}

Result<Value> Evaluator::evaluate_binary(const python::BinOp& binary, std::string_view wanted_name) {
  GRAFT_ASSIGN_OR_RETURN(const Value left, evaluate(*binary.left));
  GRAFT_ASSIGN_OR_RETURN(const Value right, evaluate(*binary.right));
  if (!left.is_node() && !right.is_node()) {
    if (const std::optional<Value> folded = fold_binary(graph_, binary.op, left, right)) return *folded;
    return error_at(binary, "operator '" + std::string(python::operator_text(binary.op)) +
                                "' on these constants is not understood");
  }
  return add_operator(function_of(binary.op), {left, right}, binary, wanted_name);
}

Result<Value> Evaluator::evaluate_unary(const python::UnaryOp& unary, std::string_view wanted_name) {
  GRAFT_ASSIGN_OR_RETURN(const Value operand, evaluate(*unary.operand));
  if (!operand.is_node()) {
    if (unary.op == python::UnaryOperator::kNot) {
      if (const std::optional<bool> value = truth(graph_, operand)) return Value::boolean(!*value);
    } else if (const std::optional<Value> folded = fold_unary(unary.op, operand)) {
      return *folded;
    }
    return error_at(unary, "operator '" + std::string(python::operator_text(unary.op)) +
                               "' on this constant is not understood");
  }
  constexpr std::array<std::string_view, 4> kNames = {"invert", "not_", "pos", "neg"};
  return add_operator(kNames[static_cast<size_t>(unary.op)], {operand}, unary, wanted_name);
}

Result<Value> Evaluator::evaluate_compare(const python::Compare& compare, std::string_view wanted_name) {
  if (compare.ops.size() != 1) return error_at(compare, "a chained comparison is not understood in a graph");
  GRAFT_ASSIGN_OR_RETURN(const Value left, evaluate(*compare.left));
  GRAFT_ASSIGN_OR_RETURN(const Value right, evaluate(*compare.comparators[0]));
  const python::CompareOperator op = compare.ops[0];
  if (!left.is_node() && !right.is_node()) {
    if (const std::optional<Value> folded = fold_compare(graph_, op, left, right)) return *folded;
    return error_at(compare, "this comparison of constants is not understood");
  }
  if (op == python::CompareOperator::kNotIn)
    return error_at(compare, "'not in' is not understood in a graph");
  if (op == python::CompareOperator::kIn)
    return add_operator("contains", {right, left}, compare, wanted_name);
  if (options_.unroll && (op == python::CompareOperator::kIs || op == python::CompareOperator::kIsNot) &&
      (left.is_none() || right.is_none())) {
    // A traced value is an object: it is never None.
    return Value::boolean(op == python::CompareOperator::kIsNot);
  }
  return add_operator(function_of(op), {left, right}, compare, wanted_name);
}

Result<Value> Evaluator::evaluate_bool_op(const python::BoolOp& operation) {
  Value last;
  for (const python::Expr* operand : operation.values) {
    GRAFT_ASSIGN_OR_RETURN(last, evaluate(*operand));
    const std::optional<bool> decided = truth(graph_, last);
    if (!decided) {
      return error_at(*operand, "'" + std::string(python::operator_text(operation.op)) +
                                    "' on a tensor or input is not understood in a graph");
    }
    if (*decided == (operation.op == python::BoolOperator::kOr)) return last;
  }
  return last;
}

Result<Value> Evaluator::evaluate_subscript(const python::Subscript& subscript,
                                            std::string_view wanted_name) {
  GRAFT_ASSIGN_OR_RETURN(Meaning base, resolve(*subscript.value));
  GRAFT_ASSIGN_OR_RETURN(const Value container, value_of(std::move(base), *subscript.value, {}));
  GRAFT_ASSIGN_OR_RETURN(const Value index, evaluate(*subscript.slice));
  if (!container.is_node() && !holds_node(index)) {
    if (const std::optional<Value> item = fold_getitem(graph_, container, index)) return *item;
    return error_at(subscript, "this subscript of a constant is not understood");
  }
  return add_operator("getitem", {container, index}, subscript, wanted_name);
}

Status Evaluator::run_generators(const python::Nodes<python::Comprehension>& generators, uint32_t index,
                                 const std::function<Status()>& body) {
  if (index == generators.size()) return body();
  const python::Comprehension& generator = *generators[index];
  if (generator.is_async) return error_at(generator, "an async comprehension is not understood");
  GRAFT_ASSIGN_OR_RETURN(const Value sequence, evaluate(*generator.iter));
  GRAFT_ASSIGN_OR_RETURN(const std::vector<Value> items, constant_items(sequence, *generator.iter));
  for (const Value& item : items) {
    Meaning meaning;
    meaning.value = item;
    GRAFT_RETURN_IF_ERROR(assign(*generator.target, std::move(meaning), generator));
    bool wanted = true;
    for (const python::Expr* condition : generator.ifs) {
      GRAFT_ASSIGN_OR_RETURN(const Value test, evaluate(*condition));
      const std::optional<bool> decided = truth(graph_, test);
      if (!decided) return error_at(*condition, "the condition depends on a tensor or input");
      wanted = wanted && *decided;
    }
    if (wanted) GRAFT_RETURN_IF_ERROR(run_generators(generators, index + 1, body));
  }
  return {};
}

Result<Value> Evaluator::evaluate_comprehension(const python::Expr& element,
                                                const python::Nodes<python::Comprehension>& generators,
                                                const python::Node& at) {
  (void)at;
  std::vector<Value> items;
  // A comprehension has a scope of its own.
  Frame* const outer = frame_;
  frame_ = new_frame(outer);
  const Status status = run_generators(generators, 0, [&]() -> Status {
    GRAFT_ASSIGN_OR_RETURN(const Value item, evaluate(element));
    items.push_back(item);
    return {};
  });
  frame_ = outer;
  GRAFT_RETURN_IF_ERROR(status);
  return graph_.composite(ValueKind::kList, items);
}

}  // namespace graft::graph
