#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "graph/commutative.h"
#include "graph/evaluator.h"
#include "graph/fold.h"
#include "graph/vocabulary.h"

namespace graft::graph {

using python::node_cast;

namespace {

constexpr int kMaxCallDepth = 64;
constexpr int64_t kMaxRange = 100000;

// float(text) for the spellings Python accepts; nothing where it would raise.
std::optional<double> parse_float(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  double sign = 1;
  std::string_view rest = lower;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    sign = rest[0] == '-' ? -1 : 1;
    rest.remove_prefix(1);
  }
  if (rest == "inf" || rest == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (rest == "nan") return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  return sign * value;
}

bool is_integral(Value value) {
  return value.kind == ValueKind::kInt || value.kind == ValueKind::kBool;
}

}  // namespace

Result<Value> Evaluator::evaluate_call(const python::Call& call, std::string_view wanted_name) {
  // The callee is read before the arguments, as Python does; a method's receiver is made here.
  Meaning callee;
  const auto* method = node_cast<python::Attribute>(call.func);
  std::string_view method_name;
  if (method != nullptr) {
    GRAFT_ASSIGN_OR_RETURN(callee, resolve(*method->value));
    if (callee.kind == Meaning::Kind::kValue) {
      method_name = method->attr;
      if (!callee.value.is_node()) {
        return error_at(call, "a method call on a constant ('" + std::string(method_name) +
                                  "') is not understood in a graph");
      }
    } else if (callee.kind == Meaning::Kind::kFunction) {
      return error_at(call, "an attribute of a function is called");
    } else {
      if (!callee.path.empty()) callee.path += '.';
      callee.path += method->attr;
    }
  } else {
    GRAFT_ASSIGN_OR_RETURN(callee, resolve(*call.func));
    if (callee.kind == Meaning::Kind::kValue) return error_at(call, "a value that is no function is called");
  }
  if (options_.unroll && method_name.empty() && callee.kind == Meaning::Kind::kGlobal &&
      callee.path.starts_with(kHintModule) && callee.path.size() > kHintModule.size() &&
      callee.path[kHintModule.size()] == '.') {
    return evaluate_hint(call, callee.path, wanted_name);
  }

  std::vector<Value> args;
  args.reserve(call.args.size() + 1);
  if (!method_name.empty()) args.push_back(callee.value);
  for (const python::Expr* argument : call.args) {
    if (const auto* starred = node_cast<python::Starred>(argument)) {
      GRAFT_ASSIGN_OR_RETURN(const Value sequence, evaluate(*starred->value));
      GRAFT_ASSIGN_OR_RETURN(const std::vector<Value> items, constant_items(sequence, *starred));
      args.insert(args.end(), items.begin(), items.end());
      continue;
    }
    GRAFT_ASSIGN_OR_RETURN(const Value value, evaluate(*argument));
    args.push_back(value);
  }
  std::vector<Keyword> kwargs;
  kwargs.reserve(call.keywords.size());
  for (const python::Keyword* keyword : call.keywords) {
    GRAFT_ASSIGN_OR_RETURN(const Value value, evaluate(*keyword->value));
    if (python::present(keyword->arg)) {
      kwargs.push_back({graph_.intern(keyword->arg), value});
      continue;
    }
    if (value.kind != ValueKind::kDict) return error_at(*keyword, "'**' needs a dict of constants here");
    const std::vector<Value> children(graph_.children(value).begin(), graph_.children(value).end());
    for (size_t i = 0; i < children.size(); i += 2) {
      if (children[i].kind != ValueKind::kString)
        return error_at(*keyword, "the keys after '**' must be strings");
      kwargs.push_back({children[i].index, children[i + 1]});
    }
  }
  for (size_t i = 0; i < kwargs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (kwargs[i].name == kwargs[j].name) {
        return error_at(call, "keyword '" + std::string(graph_.text(kwargs[i].name)) + "' is given twice");
      }
    }
  }

  if (!method_name.empty()) {
    GRAFT_ASSIGN_OR_RETURN(const NodeId id, add_node(Op::kCallMethod, method_name, wanted_name,
                                                     std::move(args), std::move(kwargs), call));
    return Value::of_node(id);
  }
  switch (callee.kind) {
    case Meaning::Kind::kGlobal:
      return call_global(call, callee.path, std::move(args), std::move(kwargs), wanted_name);
    case Meaning::Kind::kSelf: {
      if (callee.path.empty()) return error_at(call, "the module calls itself");
      GRAFT_ASSIGN_OR_RETURN(const NodeId id, add_node(Op::kCallModule, callee.path, wanted_name,
                                                       std::move(args), std::move(kwargs), call));
      return Value::of_node(id);
    }
    case Meaning::Kind::kFunction:
      return call_function(call, callee, args, kwargs);
    case Meaning::Kind::kValue:
      break;
  }
  return fault("a callee was not settled");
}

Result<Value> Evaluator::evaluate_hint(const python::Call& call, std::string_view hint,
                                       std::string_view wanted_name) {
  if (hint != kCommutativeHint) {
    return error_at(call, "'" + std::string(hint) + "' is no hint for patterns",
                    std::string(kCommutativeHint));
  }
  if (call.args.size() != 1 || call.keywords.size() != 0 || node_cast<python::Starred>(call.args[0])) {
    return error_at(call, "commutative() takes one value", "commutative(a + b)");
  }
  GRAFT_ASSIGN_OR_RETURN(const Value value, evaluate(*call.args[0], wanted_name));
  GRAFT_RETURN_IF_ERROR(mark_commutative(graph_, value, place_of(call)));
  return value;
}

Status Evaluator::check_static(const std::string& dotted, bool holds, const python::Node& at) const {
  const std::string_view root = std::string_view(dotted).substr(0, dotted.find('.'));
  bool runs = false;
  if (root == "torch") {
    // Facts about types and the machine, not operators.
    constexpr std::array<std::string_view, 6> kQueries = {"torch.finfo",    "torch.iinfo",
                                                          "torch.cuda.",    "torch.backends.",
                                                          "torch.version.", "torch.get_default"};
    runs = std::any_of(kQueries.begin(), kQueries.end(),
                       [&](std::string_view name) { return dotted.starts_with(name); });
  } else if (root == "math") {
    // On traced numbers it is a step of the graph, as torch.fx records it.
    runs = !holds;
  } else {
    runs = root != "_operator" && root != "operator" && root != "builtins" &&
           !root.starts_with("graft_replacement_");
  }
  if (!runs) return {};
  return error_at(at, "'" + dotted + "' is Python of another module, which reading the text does not run",
                  "functions of torch and of this file");
}

Result<Value> Evaluator::call_global(const python::Call& call, const std::string& dotted,
                                     std::vector<Value> args, std::vector<Keyword> kwargs,
                                     std::string_view wanted_name) {
  constexpr std::string_view kBuiltins = "builtins.";
  if (dotted == "torch.device") return make_device(call, args, kwargs);
  if (dotted == "torch.Size" && args.size() == 1 && kwargs.empty() && args[0].is_sequence()) {
    Value size = args[0];
    size.kind = ValueKind::kTuple;
    return size;
  }
  if (dotted.starts_with(kBuiltins)) {
    const std::string_view name = std::string_view(dotted).substr(kBuiltins.size());
    Value result;
    GRAFT_ASSIGN_OR_RETURN(const bool folded, call_builtin(call, name, args, kwargs, result));
    if (folded) return result;
    if (!is_callable_builtin(name)) {
      return error_at(call, "'" + std::string(name) + "' needs constants here");
    }
  }
  if (options_.unroll) {
    const auto holds = [&](Value value) { return holds_node(value); };
    const bool any = std::any_of(args.begin(), args.end(), holds) ||
                     std::any_of(kwargs.begin(), kwargs.end(),
                                 [&](const Keyword& keyword) { return holds_node(keyword.value); });
    GRAFT_RETURN_IF_ERROR(check_static(dotted, any, call));
  }
  const std::string target = canonical_function(dotted);
  if (target == "builtins.getattr" && wanted_name.empty()) wanted_name = "getattr_1";
  GRAFT_ASSIGN_OR_RETURN(const NodeId id, add_node(Op::kCallFunction, target, wanted_name, std::move(args),
                                                   std::move(kwargs), call));
  return Value::of_node(id);
}

Result<Value> Evaluator::make_device(const python::Call& call, const std::vector<Value>& args,
                                     const std::vector<Keyword>& kwargs) {
  Value type = Value::unknown();
  Value index;
  for (size_t i = 0; i < args.size(); ++i) (i == 0 ? type : index) = args[i];
  for (const Keyword& keyword : kwargs) {
    const std::string_view name = graph_.text(keyword.name);
    if (name != "type" && name != "index")
      return error_at(call, "'" + std::string(name) + "' is no parameter of a device");
    (name == "type" ? type : index) = keyword.value;
  }
  if (args.size() > 2 || type.kind != ValueKind::kString ||
      !(index.is_none() || index.kind == ValueKind::kInt)) {
    return error_at(call, "this device is not understood", "device(type='cuda', index=0) with constants");
  }
  std::string text(graph_.text(type.index));
  if (index.kind == ValueKind::kInt) text += ":" + std::to_string(index.integer);
  return Value::of_symbol(ValueKind::kDevice, graph_.intern(text));
}

Result<bool> Evaluator::call_builtin(const python::Call& call, std::string_view name,
                                     const std::vector<Value>& args, const std::vector<Keyword>& kwargs,
                                     Value& result) {
  const size_t count = args.size();
  if (name == "slice" && kwargs.empty() && count >= 1 && count <= 3) {
    std::array<Value, 3> parts;
    if (count == 1) {
      parts[1] = args[0];
    } else {
      std::copy(args.begin(), args.end(), parts.begin());
    }
    result = graph_.composite(ValueKind::kSlice, parts);
    return true;
  }
  if (!kwargs.empty()) return false;
  if (name == "getattr" && count == 2 && args[0].is_node() && args[1].kind == ValueKind::kString)
    return false;
  if (name == "len" && count == 1 && (args[0].is_sequence() || args[0].kind == ValueKind::kDict)) {
    result = Value::of_int(args[0].kind == ValueKind::kDict ? args[0].count / 2 : args[0].count);
    return true;
  }
  if ((name == "tuple" || name == "list" || name == "reversed") && count <= 1) {
    std::vector<Value> items;
    if (count == 1) {
      GRAFT_ASSIGN_OR_RETURN(items, constant_items(args[0], call));
    }
    if (name == "reversed") std::reverse(items.begin(), items.end());
    result = graph_.composite(name == "tuple" ? ValueKind::kTuple : ValueKind::kList, items);
    return true;
  }
  if (name == "range" && count >= 1 && count <= 3 && std::all_of(args.begin(), args.end(), is_integral)) {
    const int64_t start = count == 1 ? 0 : args[0].integer;
    const int64_t stop = count == 1 ? args[0].integer : args[1].integer;
    const int64_t step = count == 3 ? args[2].integer : 1;
    if (step == 0) return error_at(call, "range() needs a step other than 0");
    std::vector<Value> items;
    for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
      if (static_cast<int64_t>(items.size()) >= kMaxRange)
        return error_at(call, "range() is too long to unroll");
      items.push_back(Value::of_int(i));
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    result = graph_.composite(ValueKind::kList, items);
    return true;
  }
  if (name == "enumerate" && (count == 1 || (count == 2 && is_integral(args[1])))) {
    GRAFT_ASSIGN_OR_RETURN(const std::vector<Value> items, constant_items(args[0], call));
    int64_t number = count == 2 ? args[1].integer : 0;
    std::vector<Value> pairs;
    for (const Value& item : items) {
      const std::array<Value, 2> pair = {Value::of_int(number++), item};
      pairs.push_back(graph_.composite(ValueKind::kTuple, pair));
    }
    result = graph_.composite(ValueKind::kList, pairs);
    return true;
  }
  if (name == "zip" && count >= 1) {
    std::vector<std::vector<Value>> columns;
    size_t shortest = std::numeric_limits<size_t>::max();
    for (const Value& arg : args) {
      GRAFT_ASSIGN_OR_RETURN(std::vector<Value> column, constant_items(arg, call));
      shortest = std::min(shortest, column.size());
      columns.push_back(std::move(column));
    }
    std::vector<Value> rows;
    for (size_t i = 0; i < shortest; ++i) {
      std::vector<Value> row;
      for (const std::vector<Value>& column : columns) row.push_back(column[i]);
      rows.push_back(graph_.composite(ValueKind::kTuple, row));
    }
    result = graph_.composite(ValueKind::kList, rows);
    return true;
  }
  if (count == 1 && !holds_node(args[0])) {
    const Value value = args[0];
    if (name == "float") {
      if (value.kind == ValueKind::kString) {
        const std::optional<double> parsed = parse_float(graph_.text(value.index));
        if (!parsed) return error_at(call, "float() of this text is an error", "a number, 'inf' or 'nan'");
        result = Value::of_float(*parsed);
        return true;
      }
      if (value.kind == ValueKind::kFloat || is_integral(value)) {
        result =
            value.kind == ValueKind::kFloat ? value : Value::of_float(static_cast<double>(value.integer));
        return true;
      }
    }
    if (name == "int" &&
        (is_integral(value) || (value.kind == ValueKind::kFloat && std::abs(value.real) < 9e18))) {
      result = Value::of_int(is_integral(value) ? value.integer : static_cast<int64_t>(value.real));
      return true;
    }
    if (name == "bool") {
      if (const std::optional<bool> decided = truth(graph_, value)) {
        result = Value::boolean(*decided);
        return true;
      }
    }
    if (name == "abs" && value.kind == ValueKind::kFloat) {
      result = Value::of_float(std::abs(value.real));
      return true;
    }
    if (name == "abs" && is_integral(value) && value.integer != INT64_MIN) {
      result = Value::of_int(std::abs(value.integer));
      return true;
    }
  }
  if ((name == "min" || name == "max") && count >= 1) {
    std::vector<Value> items = args;
    if (count == 1 && args[0].is_sequence()) {
      GRAFT_ASSIGN_OR_RETURN(items, constant_items(args[0], call));
    }
    if (!items.empty() && std::all_of(items.begin(), items.end(), is_integral)) {
      const auto order = [](Value a, Value b) { return a.integer < b.integer; };
      result = name == "min" ? *std::min_element(items.begin(), items.end(), order)
                             : *std::max_element(items.begin(), items.end(), order);
      return true;
    }
  }
  const bool any_node = std::any_of(args.begin(), args.end(), [&](Value value) { return holds_node(value); });
  if (!any_node) return error_at(call, "'" + std::string(name) + "' of these constants is not understood");
  return false;
}

Result<Value> Evaluator::call_function(const python::Call& call, const Meaning& callee,
                                       const std::vector<Value>& args, const std::vector<Keyword>& kwargs) {
  const python::FunctionBase& function = *callee.function;
  const std::string name(function.name);
  if (call_depth_ >= kMaxCallDepth) return error_at(call, "calls of '" + name + "' are nested too deeply");
  if (function.kind == python::NodeKind::kAsyncFunctionDef || !function.decorator_list.empty()) {
    return error_at(call, "function '" + name + "' is async or decorated and cannot be followed");
  }
  const python::Arguments& parameters = *function.args;
  Frame* const frame = new_frame(callee.closure);
  std::vector<const python::Arg*> positional;
  for (const python::Arg* parameter : parameters.posonlyargs) positional.push_back(parameter);
  for (const python::Arg* parameter : parameters.args) positional.push_back(parameter);
  auto bind = [&](std::string_view parameter, Value value) {
    Meaning meaning;
    meaning.value = value;
    frame->names[parameter] = std::move(meaning);
  };
  if (args.size() > positional.size() && parameters.vararg == nullptr) {
    return error_at(call, "'" + name + "' takes " + std::to_string(positional.size()) +
                              " positional arguments, " + std::to_string(args.size()) + " are given");
  }
  for (size_t i = 0; i < std::min(args.size(), positional.size()); ++i) bind(positional[i]->arg, args[i]);
  if (parameters.vararg != nullptr) {
    std::vector<Value> rest;
    for (size_t i = positional.size(); i < args.size(); ++i) rest.push_back(args[i]);
    bind(parameters.vararg->arg, graph_.composite(ValueKind::kTuple, rest));
  }
  std::vector<Value> extra;
  for (const Keyword& keyword : kwargs) {
    const std::string text(graph_.text(keyword.name));
    const python::Arg* found = nullptr;
    for (const python::Arg* parameter : parameters.args) {
      if (parameter->arg == text) found = parameter;
    }
    for (const python::Arg* parameter : parameters.kwonlyargs) {
      if (parameter->arg == text) found = parameter;
    }
    if (found != nullptr) {
      if (frame->names.contains(found->arg))
        return error_at(call, "'" + text + "' is given twice to '" + name + "'");
      bind(found->arg, keyword.value);
    } else if (parameters.kwarg != nullptr) {
      extra.push_back(Value::of_symbol(ValueKind::kString, keyword.name));
      extra.push_back(keyword.value);
    } else {
      return error_at(call, "'" + name + "' has no parameter '" + text + "'");
    }
  }
  if (parameters.kwarg != nullptr) bind(parameters.kwarg->arg, graph_.composite(ValueKind::kDict, extra));

  Frame* const caller = frame_;
  auto fill_default = [&](const python::Arg* parameter, const python::Expr* expression) -> Status {
    if (frame->names.contains(parameter->arg)) return {};
    if (expression == nullptr) {
      return error_at(call, "'" + name + "' misses the argument '" + std::string(parameter->arg) + "'");
    }
    frame_ = callee.closure;
    Result<Value> value = evaluate(*expression);
    frame_ = caller;
    GRAFT_RETURN_IF_ERROR(value);
    bind(parameter->arg, *value);
    return {};
  };
  const size_t without_default = positional.size() - parameters.defaults.size();
  for (size_t i = 0; i < positional.size(); ++i) {
    GRAFT_RETURN_IF_ERROR(fill_default(
        positional[i],
        i < without_default ? nullptr : parameters.defaults[static_cast<uint32_t>(i - without_default)]));
  }
  for (uint32_t i = 0; i < parameters.kwonlyargs.size(); ++i) {
    GRAFT_RETURN_IF_ERROR(fill_default(
        parameters.kwonlyargs[i], i < parameters.kw_defaults.size() ? parameters.kw_defaults[i] : nullptr));
  }
  frame_ = frame;
  ++call_depth_;
  const Status status = run_body(function.body);
  --call_depth_;
  frame_ = caller;
  GRAFT_RETURN_IF_ERROR(status);
  return frame->result;
}

}  // namespace graft::graph
