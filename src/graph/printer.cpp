#include "graph/printer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "graph/vocabulary.h"
#include "python/repr.h"

namespace graft::graph {
namespace {

constexpr int kReprMinor = 11;

// A module or builtin at the root of a dotted name: "torch" of "torch.relu".
std::string_view root_of(std::string_view dotted) {
  return dotted.substr(0, dotted.find('.'));
}

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c & 0x80) != 0;
  });
}

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  // From here on names that a local hides are written under another name.
  void note_locals() {
    for (const NodeId id : graph_.placeholders()) locals_.insert(graph_.target(id));
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_.next(id))
      locals_.insert(graph_.node_name(id));
  }

  // A dotted name, with its root renamed where a local name hides it.
  std::string global(std::string_view dotted) {
    constexpr std::string_view kBuiltins = "builtins.";
    constexpr std::string_view kOperator = "_operator.";
    std::string name(dotted);
    if (dotted.starts_with(kBuiltins)) name = dotted.substr(kBuiltins.size());
    if (dotted.starts_with(kOperator)) name = "operator." + std::string(dotted.substr(kOperator.size()));
    const std::string root(root_of(name));
    if (name.find('.') != std::string::npos) {
      // The module to import: everything before the last dot for foreign modules, the root alone for torch's
      // own tree.
      if (root != "torch") modules_.insert(name.substr(0, name.rfind('.')));
    }
    if (!locals_.contains(root)) return name;
    saved_.insert(root);
    return "_graft_" + root + name.substr(root.size());
  }

  void append(std::string& out, Value value) {
    switch (value.kind) {
      case ValueKind::kNone:
        out += "None";
        return;
      case ValueKind::kBool:
        out += value.integer != 0 ? "True" : "False";
        return;
      case ValueKind::kInt:
        out += std::to_string(value.integer);
        return;
      case ValueKind::kBigInt:
        out += graph_.text(value.index);
        return;
      case ValueKind::kFloat:
        if (std::isnan(value.real)) {
          out += global("builtins.float") + "('nan')";
        } else if (std::isinf(value.real)) {
          out += global("builtins.float") + (value.real < 0 ? "('-inf')" : "('inf')");
        } else {
          python::append_float_repr(out, value.real);
        }
        return;
      case ValueKind::kComplex:
        python::append_imaginary_repr(out, value.real);
        return;
      case ValueKind::kString:
        python::append_str_repr(out, graph_.text(value.index), kReprMinor);
        return;
      case ValueKind::kBytes:
        python::append_bytes_repr(out, graph_.text(value.index));
        return;
      case ValueKind::kEllipsis:
        out += "...";
        return;
      case ValueKind::kDtype:
      case ValueKind::kLayout:
      case ValueKind::kMemoryFormat:
      case ValueKind::kGlobal:
        out += global(graph_.text(value.index));
        return;
      case ValueKind::kDevice: {
        const std::string_view text = graph_.text(value.index);
        const size_t colon = text.find(':');
        out += global("torch.device") + "(type=";
        python::append_str_repr(out, text.substr(0, colon), kReprMinor);
        if (colon != std::string_view::npos) out += ", index=" + std::string(text.substr(colon + 1));
        out += ")";
        return;
      }
      case ValueKind::kNode:
        out += graph_.node_name(value.node());
        return;
      case ValueKind::kTuple:
      case ValueKind::kList: {
        const bool tuple = value.kind == ValueKind::kTuple;
        out += tuple ? '(' : '[';
        append_list(out, graph_.children(value));
        if (tuple && value.count == 1) out += ',';
        out += tuple ? ')' : ']';
        return;
      }
      case ValueKind::kDict: {
        out += '{';
        const auto children = graph_.children(value);
        for (size_t i = 0; i + 1 < children.size(); i += 2) {
          if (i > 0) out += ", ";
          append(out, children[i]);
          out += ": ";
          append(out, children[i + 1]);
        }
        out += '}';
        return;
      }
      case ValueKind::kSlice:
        out += global("builtins.slice") + "(";
        append_list(out, graph_.children(value));
        out += ')';
        return;
      case ValueKind::kUnknown:
        out += "<unknown>";
        return;
    }
  }

  void append_list(std::string& out, std::span<const Value> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ", ";
      append(out, values[i]);
    }
  }

  // A value as an operand of a binding operator: a negative number gets parentheses.
  std::string atom(Value value) {
    std::string text;
    append(text, value);
    return !text.empty() && text[0] == '-' ? "(" + text + ")" : text;
  }

  // The right side of the node's assignment.
  std::string expression(NodeId id) {
    const Node& node = graph_.node(id);
    const std::string_view target = graph_.target(id);
    std::string out;
    switch (node.op) {
      case Op::kPlaceholder:
        return std::string(target);
      case Op::kOutput:
        append(out, node.args[0]);
        return out;
      case Op::kGetAttr:
        return attribute_path(target);
      case Op::kCallModule:
        out = attribute_path(target);
        append_call(out, node, 0);
        return out;
      case Op::kCallMethod: {
        if (node.args.empty()) break;
        const Value self = node.args[0];
        append(out, self);
        if (!self.is_node() && !self.is_composite()) out = "(" + out + ")";
        out += '.';
        out += target;
        append_call(out, node, 1);
        return out;
      }
      case Op::kCallFunction: {
        if (const OperatorSyntax* syntax = operator_syntax(target);
            syntax != nullptr && node.kwargs.empty() && static_cast<int>(node.args.size()) == syntax->arity &&
            !syntax->in_place) {
          if (syntax->arity == 1) return std::string(syntax->text) + atom(node.args[0]);
          if (syntax->text == "in") return atom(node.args[1]) + " in " + atom(node.args[0]);
          return atom(node.args[0]) + " " + std::string(syntax->text) + " " + atom(node.args[1]);
        }
        if (target == "_operator.getitem" && node.args.size() == 2 && node.kwargs.empty()) {
          append(out, node.args[0]);
          out += '[';
          append(out, node.args[1]);
          out += ']';
          return out;
        }
        if (target == "builtins.getattr" && node.args.size() == 2 && node.kwargs.empty() &&
            node.args[0].is_node() && node.args[1].kind == ValueKind::kString &&
            is_identifier(graph_.text(node.args[1].index))) {
          append(out, node.args[0]);
          out += '.';
          out += graph_.text(node.args[1].index);
          return out;
        }
        out = global(target);
        append_call(out, node, 0);
        return out;
      }
    }
    return out;
  }

  // The whole statement, without releases.
  std::string statement(NodeId id) {
    const Node& node = graph_.node(id);
    const std::string_view target = graph_.target(id);
    const std::string name(graph_.node_name(id));
    if (node.op == Op::kOutput) return "return " + expression(id);
    if (target == "_operator.setitem" && node.args.size() == 3) {
      std::string out;
      append(out, node.args[0]);
      out += '[';
      append(out, node.args[1]);
      out += "] = ";
      append(out, node.args[2]);
      return out;
    }
    const OperatorSyntax* syntax = node.op == Op::kCallFunction ? operator_syntax(target) : nullptr;
    if (syntax != nullptr && syntax->in_place && node.args.size() == 2 && node.kwargs.empty()) {
      // The first name is bound to the object that is changed, so the old name stays right where the object
      // is a number.
      std::string out = name + " = ";
      append(out, node.args[0]);
      out += ";  " + name + " " + std::string(syntax->text) + " ";
      append(out, node.args[1]);
      return out;
    }
    return name + " = " + expression(id);
  }

  bool makes_a_name(NodeId id) const {
    return graph_.target(id) != "_operator.setitem" || graph_.node(id).args.size() != 3;
  }

  std::string header() const {
    std::string out = "import torch\n";
    std::unordered_set<std::string> written = {"torch"};
    for (const std::string& module : graph_.imports) {
      // Names the text took from torch are printed in full.
      if (root_of(module) == "torch" && module != "torch" && written.insert(module).second)
        out += "import " + module + "\n";
    }
    std::vector<std::string> others(modules_.begin(), modules_.end());
    std::sort(others.begin(), others.end());
    for (const std::string& module : others) {
      if (written.insert(module).second) out += "import " + module + "\n";
    }
    std::vector<std::string> saved(saved_.begin(), saved_.end());
    std::sort(saved.begin(), saved.end());
    for (const std::string& root : saved) out += "_graft_" + root + " = " + root + "\n";
    return out;
  }

 private:
  void append_call(std::string& out, const Node& node, size_t first) {
    out += '(';
    append_list(out, std::span(node.args).subspan(std::min(first, node.args.size())));
    bool comma = node.args.size() > first;
    for (const Keyword& keyword : node.kwargs) {
      if (comma) out += ", ";
      comma = true;
      out += graph_.text(keyword.name);
      out += '=';
      append(out, keyword.value);
    }
    out += ')';
  }

  std::string attribute_path(std::string_view path) {
    std::string out = "self";
    while (!path.empty()) {
      const size_t dot = path.find('.');
      const std::string_view part = path.substr(0, dot);
      if (is_identifier(part)) {
        out += '.';
        out += part;
      } else {
        std::string quoted;
        python::append_str_repr(quoted, part, kReprMinor);
        out = global("builtins.getattr") + "(" + out + ", " + quoted + ")";
      }
      path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    }
    return out;
  }

  const Graph& graph_;
  std::unordered_set<std::string_view> locals_;
  std::unordered_set<std::string> modules_;
  std::unordered_set<std::string> saved_;
};

}  // namespace

std::string print_module(const Graph& graph) {
  Writer writer(graph);
  writer.note_locals();
  // Which values die behind which node.
  std::vector<NodeId> last_use(graph.pool_size(), kNoNode);
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    graph.for_each_input(id, [&](NodeId input) { last_use[input] = id; });
    if (graph.node(id).op != Op::kPlaceholder && last_use[id] == kNoNode) last_use[id] = id;
  }
  std::vector<std::vector<NodeId>> dying(graph.pool_size());
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    if (last_use[id] != kNoNode) dying[last_use[id]].push_back(id);
  }

  std::string parameters = "self";
  std::string body;
  bool star = false;
  for (const NodeId id : graph.placeholders()) {
    const Node& node = graph.node(id);
    if (node.keyword_only && !star) {
      parameters += ", *";
      star = true;
    }
    parameters += ", ";
    parameters += graph.target(id);
    if (node.annotation != kNoSymbol) parameters += ": " + std::string(graph.text(node.annotation));
    if (!node.args.empty()) {
      parameters += node.annotation != kNoSymbol ? " = " : "=";
      writer.append(parameters, node.args[0]);
    }
    if (graph.node_name(id) != graph.target(id)) {
      body += "        " + std::string(graph.node_name(id)) + " = " + std::string(graph.target(id)) + ";  " +
              std::string(graph.target(id)) + " = None\n";
    }
  }
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    const Node& node = graph.node(id);
    if (node.op == Op::kPlaceholder) continue;
    body += "        " + writer.statement(id);
    if (node.op != Op::kOutput) {
      std::string released;
      for (const NodeId dead : dying[id]) {
        if (dead == id && !writer.makes_a_name(id)) continue;
        released += std::string(graph.node_name(dead)) + " = ";
      }
      if (!released.empty()) body += ";  " + released + "None";
    }
    body += '\n';
  }

  std::string out = writer.header();
  out += "\n\n";
  if (!graph.prelude.empty()) out += graph.prelude + "\n\n";
  out += "class GraphModule(torch.nn.Module):\n";
  if (!graph.members.empty()) out += graph.members + "\n";
  out += "    def forward(" + parameters + "):\n" + body;
  return out;
}

std::string print_value(const Graph& graph, Value value) {
  std::string out;
  Writer(graph).append(out, value);
  return out;
}

std::string print_node(const Graph& graph, NodeId id) {
  Writer writer(graph);
  const Node& node = graph.node(id);
  if (node.op == Op::kOutput || !writer.makes_a_name(id)) return writer.statement(id);
  if (const OperatorSyntax* syntax = operator_syntax(graph.target(id));
      syntax != nullptr && syntax->in_place && node.args.size() == 2) {
    return print_value(graph, node.args[0]) + " " + std::string(syntax->text) + " " +
           print_value(graph, node.args[1]);
  }
  return writer.expression(id);
}

std::string print_ir(const Graph& graph) {
  const std::vector<uint32_t> numbers = graph.numbering();
  std::string out;
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    const Node& node = graph.node(id);
    out += std::to_string(numbers[id]) + "  " + std::string(graph.node_name(id)) + " = " +
           std::string(op_name(node.op)) + " " + std::string(graph.target(id));
    out += '(';
    bool comma = false;
    for (const Value& value : node.args) {
      if (comma) out += ", ";
      comma = true;
      out += print_value(graph, value);
    }
    for (const Keyword& keyword : node.kwargs) {
      if (comma) out += ", ";
      comma = true;
      out += std::string(graph.text(keyword.name)) + "=" + print_value(graph, keyword.value);
    }
    out += ')';
    const std::vector<NodeId> users = graph.users(id);
    if (!users.empty() || node.lines.first > 0) out += "  #";
    if (!users.empty()) {
      out += " users";
      for (const NodeId user : users) out += " " + std::to_string(numbers[user]);
    }
    if (node.lines.first > 0)
      out += std::string(users.empty() ? "" : ",") + " line " + std::to_string(node.lines.first);
    out += '\n';
  }
  return out;
}

std::string print_dot(const Graph& graph) {
  const std::vector<uint32_t> numbers = graph.numbering();
  auto quoted = [](std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  };
  std::string out =
      "digraph " + quoted(graph.name.empty() ? "graph" : graph.name) + " {\n  node [shape=box];\n";
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    const Node& node = graph.node(id);
    const std::string label = node.op == Op::kPlaceholder
                                  ? std::string(graph.target(id))
                                  : std::string(graph.node_name(id)) + ": " + std::string(graph.target(id));
    out += "  n" + std::to_string(numbers[id]) + " [label=" + quoted(label);
    if (node.op == Op::kPlaceholder || node.op == Op::kOutput) out += ", shape=ellipse";
    out += "];\n";
    for (const NodeId input : graph.inputs(id)) {
      out += "  n" + std::to_string(numbers[input]) + " -> n" + std::to_string(numbers[id]) + ";\n";
    }
  }
  return out + "}\n";
}

}  // namespace graft::graph
