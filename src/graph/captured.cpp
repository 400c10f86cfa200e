#include "graph/captured.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "graph/commutative.h"
#include "graph/force_args.h"
#include "graph/printer.h"
#include "graph/vocabulary.h"

namespace graft::graph {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<CapturedGraph> read(const Json& document) {
    graph_.file = file_;
    graph_.name = "GraphModule";
    for (const Json& node : document["nodes"].items()) GRAFT_RETURN_IF_ERROR(add_node(node));
    if (graph_.output() == kNoNode) return wrong("a captured graph without an output");
    GRAFT_RETURN_IF_ERROR(graph_.verify());
    CapturedGraph captured;
    captured.graph = std::move(graph_);
    captured.values = std::move(values_);
    captured.parameters = std::move(parameters_);
    captured.sources = std::move(sources_);
    captured.unnamed = std::move(unnamed_);
    return captured;
  }

 private:
  Error wrong(std::string message) const {
    if (!name_.empty()) message += " at node '" + name_ + "'";
    return input_error(std::move(message), Place{file_, 0, 0}, "a document written by graft.capture");
  }

  Status add_node(const Json& node) {
    name_ = node["name"].as_string();
    const std::string& kind = node["op"].as_string();
    Op op = Op::kOutput;
    bool known = false;
    for (const Op candidate :
         {Op::kPlaceholder, Op::kGetAttr, Op::kCallFunction, Op::kCallMethod, Op::kCallModule, Op::kOutput}) {
      if (op_name(candidate) != kind) continue;
      op = candidate;
      known = true;
    }
    if (!known || name_.empty() || !node["target"].is_string())
      return wrong("a node without kind, name or target");
    if (nodes_.contains(name_)) return wrong("a name is used twice");
    if (graph_.output() != kNoNode) return wrong("a node behind the output");
    std::vector<Value> args;
    for (const Json& item : node["args"].items()) {
      GRAFT_ASSIGN_OR_RETURN(const Value value, read_value(item, 0));
      args.push_back(value);
    }
    std::vector<Keyword> kwargs;
    for (const Json& pair : node["kwargs"].items()) {
      if (pair.items().size() != 2 || !pair.items()[0].is_string()) return wrong("a keyword that is no pair");
      GRAFT_ASSIGN_OR_RETURN(const Value value, read_value(pair.items()[1], 0));
      kwargs.push_back({graph_.intern(pair.items()[0].as_string()), value});
    }
    if (op == Op::kOutput && args.size() != 1) return wrong("an output of several values");
    const std::string target =
        op == Op::kCallFunction ? canonical_function(node["target"].as_string()) : node["target"].as_string();
    Lines lines;
    if (const Json::Array& given = node["lines"].items(); given.size() == 3) {
      auto number = [&](size_t i) {
        return static_cast<int>(std::clamp<int64_t>(given[i].as_int(), 0, 1 << 30));
      };
      lines = {number(0), number(1), number(2)};
    }
    const NodeId id = graph_.add(op, target, name_, std::move(args), std::move(kwargs), lines);
    nodes_.emplace(name_, id);
    if (op == Op::kPlaceholder) {
      parameters_.push_back(node["parameter"].as_string());
      sources_.push_back(node["source"].as_string());
    }
    if (node["unnamed"].as_bool()) unnamed_.push_back(id);
    if (node["commutative"].as_bool()) {
      GRAFT_RETURN_IF_ERROR(
          mark_commutative(graph_, Value::of_node(id), Place{file_, lines.first, lines.column}));
    }
    const Json& value = node["value"];
    if (!value.is_object()) return {};
    CapturedValue known_value;
    known_value.node = id;
    known_value.kind = value["kind"].as_string();
    known_value.dtype = value["dtype"].as_string();
    for (const Json& size : value["shape"].items()) known_value.shape.push_back(size.as_int());
    for (const Json& stride : value["stride"].items()) known_value.stride.push_back(stride.as_int());
    values_.push_back(std::move(known_value));
    return {};
  }

  Result<Value> read_children(ValueKind kind, const Json& list, int depth) {
    std::vector<Value> children;
    for (const Json& item : list.items()) {
      GRAFT_ASSIGN_OR_RETURN(const Value child, read_value(item, depth + 1));
      children.push_back(child);
    }
    if (kind == ValueKind::kSlice && children.size() != 3) return wrong("a slice that has not three parts");
    return graph_.composite(kind, children);
  }

  Result<Value> read_value(const Json& json, int depth) {
    if (depth > 200) return wrong("a value is nested too deeply");
    if (json.is_null()) return Value::none();
    if (json.is_bool()) return Value::boolean(json.as_bool());
    if (json.is_int()) return Value::of_int(json.as_int());
    if (json.is_string()) return graph_.string(json.as_string());
    if (json.is_array()) return read_children(ValueKind::kList, json, depth);
    if (!json.is_object() || json.members().size() != 1) return wrong("a value in an unknown form");
    const auto& [key, item] = json.members().front();
    if (key == "node") {
      const auto found = nodes_.find(item.as_string());
      if (found == nodes_.end()) return wrong("a reference to the unknown node '" + item.as_string() + "'");
      return Value::of_node(found->second);
    }
    if (key == "tuple") return read_children(ValueKind::kTuple, item, depth);
    if (key == "slice") return read_children(ValueKind::kSlice, item, depth);
    if (key == "dict") {
      std::vector<Value> children;
      for (const Json& pair : item.items()) {
        if (pair.items().size() != 2) return wrong("a dict entry that is no pair");
        for (const Json& part : pair.items()) {
          GRAFT_ASSIGN_OR_RETURN(const Value child, read_value(part, depth + 1));
          children.push_back(child);
        }
      }
      return graph_.composite(ValueKind::kDict, children);
    }
    if (key == "ellipsis") return Value::ellipsis();
    if (key == "int") return Value::of_symbol(ValueKind::kBigInt, graph_.intern(item.as_string()));
    if (key == "float") {
      const std::string& text = item.as_string();
      if (text == "inf" || text == "-inf")
        return Value::of_float(text == "inf" ? __builtin_inf() : -__builtin_inf());
      if (text == "nan") return Value::of_float(__builtin_nan(""));
      double number = 0;
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (code != std::errc() || end != text.data() + text.size()) return wrong("'" + text + "' is no float");
      return Value::of_float(number);
    }
    if (key == "complex") {
      // Python writes a number without a real part as "2.5j"; others have no literal.
      const std::string& text = item.as_string();
      double number = 0;
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (code != std::errc() || end + 1 != text.data() + text.size() || *end != 'j') return Value::unknown();
      Value value = Value::of_float(number);
      value.kind = ValueKind::kComplex;
      return value;
    }
    if (key == "dtype" || key == "layout" || key == "memory_format") {
      if (const std::optional<Value> literal = literal_of_global(graph_, item.as_string())) return *literal;
      return wrong("'" + item.as_string() + "' is no known " + key);
    }
    if (key == "device") return Value::of_symbol(ValueKind::kDevice, graph_.intern(item.as_string()));
    // Symbols, functions and objects of other kinds: values that equal nothing.
    return Value::unknown();
  }

  std::string file_;
  std::string name_;
  Graph graph_;
  std::unordered_map<std::string, NodeId> nodes_;
  std::vector<CapturedValue> values_;
  std::vector<std::string> parameters_;
  std::vector<std::string> sources_;
  std::vector<NodeId> unnamed_;
};

// Operators in order, with the names of methods marked.
std::vector<std::pair<std::string, NodeId>> operators(const Graph& graph) {
  std::vector<std::pair<std::string, NodeId>> out;
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    const Op op = graph.node(id).op;
    if (op == Op::kPlaceholder || op == Op::kOutput) continue;
    out.emplace_back((op == Op::kCallMethod ? "." : "") + std::string(graph.target(id)), id);
  }
  return out;
}

}  // namespace

Result<Capture> read_capture(const Json& document, const std::string& file) {
  if (document["schema"].as_string() != kCaptureSchema) {
    return input_error("this is no capture", Place{file, 0, 0},
                       "\"schema\": \"" + std::string(kCaptureSchema) + "\"");
  }
  Capture capture;
  capture.torch = document["torch"].as_string();
  for (const Json& graph : document["graphs"].items()) {
    GRAFT_ASSIGN_OR_RETURN(CapturedGraph captured, Reader(file).read(graph));
    capture.graphs.push_back(std::move(captured));
  }
  for (const Json& item : document["breaks"].items()) {
    if (!item["reason"].is_string())
      return input_error("a graph break without a reason", Place{file, 0, 0},
                         "a document written by graft.capture");
    GraphBreak& graph_break = capture.breaks.emplace_back();
    graph_break.reason = item["reason"].as_string();
    graph_break.detail = item["detail"].as_string();
    graph_break.file = item["file"].as_string();
    graph_break.line = static_cast<int>(item["line"].as_int());
    graph_break.function = item["function"].as_string();
  }
  capture.result = document["result"];
  return capture;
}

std::string GraphBreak::to_string() const {
  const std::string place = Place{file, line, 0}.to_string();
  return place.empty() ? reason : place + ": " + reason;
}

Result<Graph> read_graph_nodes(const Json& document, const std::string& file) {
  GRAFT_ASSIGN_OR_RETURN(CapturedGraph graph, Reader(file).read(document));
  return std::move(graph.graph);
}

std::vector<std::string> capture_differences(const Graph& text, const Graph& captured) {
  std::vector<std::string> differences;
  if (text.placeholders().size() != captured.placeholders().size()) {
    differences.push_back("the text has " + std::to_string(text.placeholders().size()) +
                          " inputs, the captured graph " + std::to_string(captured.placeholders().size()));
  }
  const auto a = operators(text);
  const auto b = operators(captured);
  // A walk that looks a few steps ahead on either side finds the operators that only one has.
  constexpr size_t kLookAhead = 40;
  size_t i = 0;
  size_t j = 0;
  auto note = [&](const Graph& graph, NodeId id, std::string_view where) {
    const int line = graph.node(id).lines.first;
    differences.push_back(print_node(graph, id) + (line > 0 ? " (line " + std::to_string(line) + ")" : "") +
                          " is only in " + std::string(where));
  };
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i].first == b[j].first) {
      ++i;
      ++j;
      continue;
    }
    size_t skip_a = kLookAhead;
    size_t skip_b = kLookAhead;
    for (size_t k = 1; k < kLookAhead && j < b.size(); ++k) {
      if (i + k < a.size() && a[i + k].first == b[j].first) {
        skip_a = k;
        break;
      }
    }
    for (size_t k = 1; k < kLookAhead && i < a.size(); ++k) {
      if (j + k < b.size() && a[i].first == b[j + k].first) {
        skip_b = k;
        break;
      }
    }
    if (i < a.size() && (j >= b.size() || skip_a <= skip_b)) {
      note(text, a[i++].second, "the text");
      if (skip_a == kLookAhead && j < b.size()) note(captured, b[j++].second, "the captured graph");
    } else {
      note(captured, b[j++].second, "the captured graph");
    }
  }
  return differences;
}

std::vector<std::string> capture_differences(const Graph& text, const Capture& capture) {
  std::vector<std::string> differences;
  for (const GraphBreak& graph_break : capture.breaks)
    differences.push_back("the graph breaks: " + graph_break.to_string());
  if (capture.graphs.empty()) differences.emplace_back("Dynamo captured no graph");
  if (capture.graphs.size() == 1) {
    for (std::string& difference : capture_differences(text, capture.graphs[0].graph))
      differences.push_back(std::move(difference));
  }
  if (differences.size() > kMaxDifferences) {
    const size_t left_out = differences.size() - (kMaxDifferences - 1);
    differences.resize(kMaxDifferences - 1);
    differences.push_back("and " + std::to_string(left_out) + " more");
  }
  return differences;
}

namespace {

Error not_printable(std::string message, std::string hint = {}) {
  return input_error(std::move(message), {}, {}, std::move(hint));
}

bool holds_unknown(const Graph& graph, Value value) {
  if (value.kind == ValueKind::kUnknown) return true;
  if (!value.is_composite()) return false;
  const auto children = graph.children(value);
  return std::any_of(children.begin(), children.end(),
                     [&](Value child) { return holds_unknown(graph, child); });
}

bool holds_unknown(const Graph& graph, const Node& node) {
  return std::any_of(node.args.begin(), node.args.end(),
                     [&](Value value) { return holds_unknown(graph, value); }) ||
         std::any_of(node.kwargs.begin(), node.kwargs.end(),
                     [&](const Keyword& keyword) { return holds_unknown(graph, keyword.value); });
}

// Builds graph_of_capture().
class FromCapture {
 public:
  FromCapture(const Graph& text, const CapturedGraph& captured)
      : text_(text), captured_(captured), map_(captured.graph.pool_size(), Value::unknown()) {}

  Result<Graph> run(const Json& result) {
    const Graph& from = captured_.graph;
    to_.name = text_.name;
    to_.file = text_.file;
    add_parameters();
    GRAFT_RETURN_IF_ERROR(bind_placeholders());
    for (const NodeId id : captured_.unnamed)
      return not_printable("no name leads to the function of the captured node '" +
                           std::string(from.node_name(id)) + "'");
    for (NodeId id = from.first(); id != kNoNode; id = from.next(id)) {
      const Node& node = from.node(id);
      if (node.op == Op::kPlaceholder || node.op == Op::kOutput) continue;
      if (node.op == Op::kGetAttr || node.op == Op::kCallModule)
        return not_printable("the captured graph uses '" + std::string(from.target(id)) +
                             "', which Dynamo made and forward() has not");
      if (holds_unknown(from, node))
        return not_printable("the captured node '" + std::string(from.node_name(id)) +
                             "' has an argument that no text can write, such as a symbolic size");
      std::vector<Value> args;
      for (const Value& value : node.args) args.push_back(to_.copy_value(from, value, map_));
      std::vector<Keyword> kwargs;
      for (const Keyword& keyword : node.kwargs)
        kwargs.push_back({to_.intern(from.text(keyword.name)), to_.copy_value(from, keyword.value, map_)});
      map_[id] = Value::of_node(
          to_.add(node.op, from.target(id), from.node_name(id), std::move(args), std::move(kwargs)));
    }
    GRAFT_ASSIGN_OR_RETURN(const Value returned, read_result(result, 0));
    to_.add(Op::kOutput, "output", "output", {returned});
    GRAFT_RETURN_IF_ERROR(to_.verify());
    return std::move(to_);
  }

 private:
  void add_parameters() {
    for (const NodeId id : text_.placeholders()) {
      const Node& node = text_.node(id);
      std::vector<Value> defaults;
      for (const Value& value : node.args) defaults.push_back(to_.copy_value(text_, value, {}));
      const std::string name(text_.target(id));
      const NodeId made = to_.add(Op::kPlaceholder, name, text_.node_name(id), std::move(defaults));
      to_.mutable_annotation(made).keyword_only = node.keyword_only;
      parameters_.emplace(name, made);
    }
  }

  Status bind_placeholders() {
    const std::vector<NodeId>& placeholders = captured_.graph.placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i) {
      const auto found = parameters_.find(captured_.parameters[i]);
      if (found == parameters_.end())
        return not_printable("the input '" + std::string(captured_.graph.target(placeholders[i])) +
                             "' of the captured graph" +
                             (captured_.sources[i].empty() ? "" : " (" + captured_.sources[i] + ")") +
                             " is no parameter of forward()");
      map_[placeholders[i]] = Value::of_node(found->second);
    }
    return {};
  }

  Result<Value> read_result(const Json& json, int depth) {
    const Error wrong =
        not_printable("forward() returns " + json.dump().substr(0, 200) + ", which no captured output holds");
    if (depth > 100) return wrong;
    if (json.is_null()) return Value::none();
    if (json.is_bool()) return Value::boolean(json.as_bool());
    if (json.is_int()) return Value::of_int(json.as_int());
    if (json.is_string()) return to_.string(json.as_string());
    if (json.is_array()) return read_children(ValueKind::kList, json, depth);
    if (!json.is_object() || json.members().size() != 1) return wrong;
    const auto& [key, item] = json.members().front();
    if (key == "tuple") return read_children(ValueKind::kTuple, item, depth);
    if (key == "float") {
      double number = 0;
      const std::string& digits = item.as_string();
      const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (code == std::errc() && end == digits.data() + digits.size()) return Value::of_float(number);
    }
    if (key == "parameter") {
      if (const auto found = parameters_.find(item.as_string()); found != parameters_.end())
        return Value::of_node(found->second);
    }
    if (key == "output" && item.items().size() == 2 && item.items()[0].as_int() == 0) {
      const Graph& from = captured_.graph;
      const Value outputs = from.node(from.output()).args[0];
      const int64_t index = item.items()[1].as_int();
      if (!outputs.is_sequence()) {
        if (outputs.is_node() && index == 0) return map_[outputs.node()];
        return wrong;
      }
      const auto children = from.children(outputs);
      if (index >= 0 && index < static_cast<int64_t>(children.size()) &&
          children[static_cast<size_t>(index)].is_node())
        return map_[children[static_cast<size_t>(index)].node()];
    }
    return wrong;
  }

  Result<Value> read_children(ValueKind kind, const Json& list, int depth) {
    std::vector<Value> children;
    for (const Json& item : list.items()) {
      GRAFT_ASSIGN_OR_RETURN(const Value child, read_result(item, depth + 1));
      children.push_back(child);
    }
    return to_.composite(kind, children);
  }

  const Graph& text_;
  const CapturedGraph& captured_;
  Graph to_;
  std::vector<Value> map_;  // by NodeId of the captured graph
  std::unordered_map<std::string, NodeId> parameters_;
};

}  // namespace

Result<Graph> graph_of_capture(const Graph& text, const Capture& capture) {
  if (capture.graphs.empty())
    return not_printable("Dynamo captured no graph" +
                         (capture.breaks.empty() ? "" : ": " + capture.breaks.front().to_string()));
  if (capture.graphs.size() > 1)
    return not_printable("Dynamo breaks forward() into " + std::to_string(capture.graphs.size()) + " graphs" +
                         (capture.breaks.empty() ? "" : ": " + capture.breaks.front().to_string()));
  return FromCapture(text, capture.graphs[0]).run(capture.result);
}

namespace {

void add_leaves(const Json& result, std::vector<int64_t>& leaves) {
  const Json& items = result.is_array() ? result : result["tuple"];
  if (items.is_array()) {
    for (const Json& item : items.items()) add_leaves(item, leaves);
    return;
  }
  const Json::Array& output = result["output"].items();
  leaves.push_back(output.size() == 2 ? output[1].as_int() : -1);
}

}  // namespace

std::vector<int64_t> output_of_leaves(const Capture& capture) {
  std::vector<int64_t> leaves;
  add_leaves(capture.result, leaves);
  return leaves;
}

PassFile force_args_pass(const PassFile& pass) {
  PassFile forced = pass;
  forced.pattern = force_args(pass.pattern);
  const Value output = forced.pattern.node(forced.pattern.output()).args[0];
  forced.outputs.clear();
  if (output.is_sequence()) {
    const auto children = forced.pattern.children(output);
    forced.outputs.assign(children.begin(), children.end());
  } else {
    forced.outputs.push_back(output);
  }
  return forced;
}

}  // namespace graft::graph
