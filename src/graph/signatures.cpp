#include "graph/signatures.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

#include "graph/vocabulary.h"

namespace graft::graph {
namespace {

#include "graph/torch_signatures.inc"

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Read once, at the first use; unchanged afterwards.
class Table {
 public:
  static const Table& instance() {
    static const Table table;
    return table;
  }

  const Callable* find(std::string_view name) const {
    const auto found = callables_.find(name);
    return found == callables_.end() ? nullptr : &found->second;
  }

  std::string_view preferred(std::string_view name) const {
    const auto found = aliases_.find(name);
    return found == aliases_.end() ? name : found->second;
  }

  const Graph& defaults() const { return defaults_; }

 private:
  Table() {
    for (const std::string_view line : kTorchSignatures) {
      const size_t tab = line.find('\t', 2);
      const std::string_view name = line.substr(2, tab - 2);
      if (line[0] == 'A') {
        aliases_.emplace(name, line.substr(tab + 1));
      } else {
        callables_.emplace(name, read(line));
      }
    }
  }

  Callable read(std::string_view line) {
    const std::vector<std::string_view> fields = split(line, '\t');
    Callable callable;
    callable.name = fields[1];
    if (line[0] == 'B') {
      callable.operator_name = fields[2];
      for (const std::string_view text : split(fields[3], ';'))
        callable.overloads.push_back(read_overload(text));
      return callable;
    }
    callable.python = true;
    callable.wrapped = fields[2].find('v') != std::string_view::npos;
    Signature signature;
    signature.random = fields[2].find('r') != std::string_view::npos;
    signature.may_alias = fields[2].find('m') != std::string_view::npos;
    signature.parameters = read_parameters(fields[3]);
    callable.overloads.push_back(std::move(signature));
    if (fields.size() > 4 && !fields[4].empty()) {
      const size_t bar = fields[4].find('|');
      callable.dispatch_positional = split(fields[4].substr(0, bar), ',');
      callable.dispatch_keywords = split(fields[4].substr(bar + 1), ',');
    }
    return callable;
  }

  Signature read_overload(std::string_view text) {
    const size_t hash = text.find('#');
    const size_t arrow = text.rfind("->");
    Signature signature;
    signature.random = text.substr(0, hash).find('r') != std::string_view::npos;
    signature.may_alias = text.substr(0, hash).find('m') != std::string_view::npos;
    signature.parameters = read_parameters(text.substr(hash + 1, arrow - hash - 1));
    for (std::string_view alias : split(text.substr(arrow + 2), ',')) {
      if (alias.ends_with('!')) alias.remove_suffix(1);
      signature.result_aliases.push_back(alias);
    }
    return signature;
  }

  std::vector<Parameter> read_parameters(std::string_view text) {
    std::vector<Parameter> parameters;
    bool keyword_only = false;
    for (std::string_view part : split(text, ',')) {
      if (part == "*") {
        keyword_only = true;
        continue;
      }
      Parameter parameter;
      while (part.starts_with('*')) {
        parameter.variadic = true;
        part.remove_prefix(1);
      }
      if (const size_t at = part.rfind('@'); at != std::string_view::npos) {
        parameter.alias = part.substr(at + 1);
        if (parameter.alias.ends_with('!')) {
          parameter.written = true;
          parameter.alias.remove_suffix(1);
        }
        part = part.substr(0, at);
      }
      const size_t colon = part.find(':');
      parameter.name = part.substr(0, colon);
      std::string_view type = part.substr(colon + 1);
      if (const size_t equals = type.find('='); equals != std::string_view::npos) {
        parameter.has_default = true;
        parameter.default_value = read_literal(type.substr(equals + 1));
        type = type.substr(0, equals);
      }
      parameter.type = type;
      parameter.keyword_only = keyword_only;
      if (parameter.variadic) keyword_only = true;
      parameters.push_back(parameter);
    }
    return parameters;
  }

  Value read_literal(std::string_view text) {
    if (text == "None") return Value::none();
    if (text == "True" || text == "False") return Value::boolean(text == "True");
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"')) {
      return defaults_.string(text.substr(1, text.size() - 2));
    }
    if (text.size() >= 2 && (text.front() == '[' || text.front() == '(')) {
      std::vector<Value> children;
      for (const std::string_view part : split(text.substr(1, text.size() - 2), ' '))
        children.push_back(read_literal(part));
      return defaults_.composite(text.front() == '[' ? ValueKind::kList : ValueKind::kTuple, children);
    }
    if (text.starts_with("torch.")) {
      const std::optional<Value> literal = literal_of_global(defaults_, text);
      return literal ? *literal : Value::unknown();
    }
    if (text == "inf" || text == "-inf")
      return Value::of_float(text == "inf" ? __builtin_inf() : -__builtin_inf());
    if (text == "nan") return Value::of_float(__builtin_nan(""));
    int64_t integer = 0;
    const char* const end = text.data() + text.size();
    if (const auto [stop, code] = std::from_chars(text.data(), end, integer);
        code == std::errc() && stop == end) {
      return Value::of_int(integer);
    }
    double real = 0;
    if (const auto [stop, code] = std::from_chars(text.data(), end, real);
        code == std::errc() && stop == end) {
      return Value::of_float(real);
    }
    return Value::unknown();
  }

  std::unordered_map<std::string_view, std::string_view> aliases_;
  std::unordered_map<std::string_view, Callable> callables_;
  Graph defaults_;
};

bool is_int(Value value) {
  return value.kind == ValueKind::kInt || value.is_node();
}

// Whether a value may be passed to a parameter of the type. A node may be anything: its type is not known
// here.
bool fits(const Graph& graph, std::string_view type, Value value) {
  if (type == "any" || value.is_node() || value.kind == ValueKind::kUnknown) return true;
  if (type.ends_with('?')) {
    if (value.is_none()) return true;
    type.remove_suffix(1);
  }
  if (type.ends_with(']')) {
    const size_t bracket = type.rfind('[');
    const std::string_view element = type.substr(0, bracket);
    const bool sized = bracket + 2 < type.size();
    if (!value.is_sequence()) return sized && fits(graph, element, value);
    const auto children = graph.children(value);
    return std::all_of(children.begin(), children.end(),
                       [&](Value child) { return fits(graph, element, child); });
  }
  switch (value.kind) {
    case ValueKind::kInt:
    case ValueKind::kBigInt:
      return type == "int" || type == "float" || type == "Scalar";
    case ValueKind::kBool:
      return type == "bool" || type == "Scalar";
    case ValueKind::kFloat:
      return type == "float" || type == "Scalar";
    case ValueKind::kComplex:
      return type == "Scalar" || type == "complex";
    case ValueKind::kString:
      return type == "str" || type == "Device";
    case ValueKind::kDtype:
      return type == "ScalarType";
    case ValueKind::kDevice:
      return type == "Device";
    case ValueKind::kLayout:
      return type == "Layout";
    case ValueKind::kMemoryFormat:
      return type == "MemoryFormat";
    default:
      return false;
  }
}

// NumPy's names, which torch's C++ bindings also take.
std::string_view numpy_name(std::string_view name) {
  if (name == "axis") return "dim";
  if (name == "keepdims") return "keepdim";
  if (name == "x" || name == "a" || name == "x1") return "input";
  if (name == "x2") return "other";
  return name;
}

std::optional<BoundCall> bind_overload(const Graph& graph, NodeId id, const Callable& callable,
                                       const Signature& signature) {
  const Node& node = graph.node(id);
  const std::vector<Parameter>& parameters = signature.parameters;
  BoundCall bound;
  bound.callable = &callable;
  bound.signature = &signature;
  bound.arguments.resize(parameters.size());
  std::vector<char> given(parameters.size(), 0);
  size_t positional = 0;
  while (positional < parameters.size() && !parameters[positional].keyword_only &&
         !parameters[positional].variadic)
    ++positional;

  const bool method = callable.name.starts_with('.');
  const size_t own = method ? 1 : 0;
  // x.view(2, 3): a list that is the only positional parameter (besides self) may be written out.
  const bool packs = !callable.python && positional == own + 1 && parameters[own].type == "int[]" &&
                     node.args.size() > own && is_int(node.args[own]) &&
                     (node.args.size() > own + 1 || node.args[own].kind == ValueKind::kInt);
  if (packs) {
    for (size_t i = own; i < node.args.size(); ++i) {
      if (!is_int(node.args[i])) return std::nullopt;
    }
    if (method) {
      bound.arguments[0] = {BoundCall::Source::kValue, node.args[0], 0, 0};
      given[0] = 1;
    }
    bound.arguments[own] = {BoundCall::Source::kPacked,
                            {},
                            static_cast<uint32_t>(own),
                            static_cast<uint32_t>(node.args.size() - own)};
    given[own] = 1;
  } else {
    if (node.args.size() > positional) return std::nullopt;
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (!fits(graph, parameters[i].type, node.args[i])) return std::nullopt;
      bound.arguments[i] = {BoundCall::Source::kValue, node.args[i], 0, 0};
      given[i] = 1;
    }
  }
  for (const Keyword& keyword : node.kwargs) {
    std::string_view name = graph.text(keyword.name);
    auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
      return parameter.name == name && !parameter.variadic;
    });
    if (found == parameters.end() && !callable.python) {
      name = numpy_name(name);
      found = std::find_if(parameters.begin(), parameters.end(),
                           [&](const Parameter& parameter) { return parameter.name == name; });
    }
    if (found == parameters.end()) return std::nullopt;
    const size_t index = static_cast<size_t>(found - parameters.begin());
    if (given[index] || !fits(graph, found->type, keyword.value)) return std::nullopt;
    bound.arguments[index] = {BoundCall::Source::kValue, keyword.value, 0, 0};
    given[index] = 1;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!given[i] && !parameters[i].has_default && !parameters[i].variadic) return std::nullopt;
  }
  return bound;
}

// Whether two bindings of one call give every argument the same name.
bool same_names(const BoundCall& a, const BoundCall& b) {
  auto covered = [](const BoundCall& x, const BoundCall& y) {
    for (size_t i = 0; i < x.arguments.size(); ++i) {
      if (x.arguments[i].source == BoundCall::Source::kDefault) continue;
      const BoundCall::Argument* other = y.find(x.signature->parameters[i].name);
      if (other == nullptr || other->source != x.arguments[i].source) return false;
    }
    return true;
  };
  return covered(a, b) && covered(b, a);
}

}  // namespace

std::string_view signature_table_version() {
  return kTorchVersion;
}
const Graph& default_values() {
  return Table::instance().defaults();
}
const Callable* find_function(std::string_view name) {
  return Table::instance().find(name);
}
const Callable* find_method(std::string_view name) {
  return Table::instance().find("." + std::string(name));
}
std::string_view preferred_name(std::string_view name) {
  return Table::instance().preferred(name);
}

const Callable* find_callable(const Graph& graph, NodeId id) {
  switch (graph.node(id).op) {
    case Op::kCallFunction:
      return find_function(graph.target(id));
    case Op::kCallMethod:
      return find_method(graph.target(id));
    default:
      return nullptr;
  }
}

const BoundCall::Argument* BoundCall::find(std::string_view parameter) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (signature->parameters[i].name == parameter) return &arguments[i];
  }
  return nullptr;
}

std::vector<BoundCall> bind_all(const Graph& graph, NodeId id) {
  std::vector<BoundCall> fitting;
  const Callable* callable = find_callable(graph, id);
  if (callable == nullptr) return fitting;
  for (const Signature& signature : callable->overloads) {
    if (std::optional<BoundCall> bound = bind_overload(graph, id, *callable, signature))
      fitting.push_back(*std::move(bound));
  }
  return fitting;
}

std::optional<BoundCall> bind_call(const Graph& graph, NodeId id) {
  std::vector<BoundCall> fitting = bind_all(graph, id);
  if (fitting.empty()) return std::nullopt;
  for (size_t i = 1; i < fitting.size(); ++i) {
    if (!same_names(fitting[0], fitting[i])) return std::nullopt;
  }
  return std::move(fitting[0]);
}

}  // namespace graft::graph
