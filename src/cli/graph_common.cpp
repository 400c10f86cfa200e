#include "cli/graph_common.h"

#include "base/file.h"
#include "base/log.h"
#include "graph/hash.h"
#include "graph/printer.h"
#include "python/batch.h"

namespace graft::cli {

Result<std::vector<ModelText>> collect_models(const std::vector<std::string>& paths) {
  std::vector<ModelText> models;
  for (const std::string& path : paths) {
    const bool folder = is_directory(path);
    GRAFT_ASSIGN_OR_RETURN(const std::vector<python::BatchInput> inputs, python::collect_inputs({path}));
    size_t found = 0;
    for (const python::BatchInput& input : inputs) {
      if (folder && input.path != "model.py" && !input.path.ends_with("/model.py")) continue;
      GRAFT_ASSIGN_OR_RETURN(std::string text, python::read_input(input));
      models.push_back({input.name, std::move(text)});
      ++found;
    }
    if (found == 0)
      return input_error("no model here", Place{path, 0, 0},
                         "a model.py, a folder with one, or a .jsonl file");
  }
  return models;
}

Json value_json(const graph::Graph& graph, graph::Value value, const std::vector<uint32_t>& numbers) {
  using graph::ValueKind;
  switch (value.kind) {
    case ValueKind::kNone:
      return nullptr;
    case ValueKind::kBool:
      return value.integer != 0;
    case ValueKind::kInt:
      return value.integer;
    case ValueKind::kString:
      return graph.text(value.index);
    case ValueKind::kNode:
      return Json::object({{"node", static_cast<int64_t>(numbers[value.node()])}});
    case ValueKind::kFloat:
      if (value.real - value.real != 0) break;  // JSON has no word for inf and nan
      return value.real;
    case ValueKind::kTuple:
    case ValueKind::kList: {
      Json list = Json::array();
      for (const graph::Value& child : graph.children(value))
        list.push_back(value_json(graph, child, numbers));
      if (value.kind == ValueKind::kList) return list;
      return Json::object({{"tuple", std::move(list)}});
    }
    case ValueKind::kSlice: {
      Json list = Json::array();
      for (const graph::Value& child : graph.children(value))
        list.push_back(value_json(graph, child, numbers));
      return Json::object({{"slice", std::move(list)}});
    }
    case ValueKind::kDict: {
      Json list = Json::array();
      const auto children = graph.children(value);
      for (size_t i = 0; i + 1 < children.size(); i += 2) {
        Json pair = Json::array();
        pair.push_back(value_json(graph, children[i], numbers));
        pair.push_back(value_json(graph, children[i + 1], numbers));
        list.push_back(std::move(pair));
      }
      return Json::object({{"dict", std::move(list)}});
    }
    default:
      break;
  }
  return Json::object({{"python", graph::print_value(graph, value)}});
}

Json graph_json(const graph::Graph& graph) {
  const std::vector<uint32_t> numbers = graph.numbering();
  Json nodes = Json::array();
  Json inputs = Json::array();
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    Json args = Json::array();
    for (const graph::Value& value : node.args) args.push_back(value_json(graph, value, numbers));
    Json kwargs = Json::object();
    for (const graph::Keyword& keyword : node.kwargs) {
      kwargs.set(std::string(graph.text(keyword.name)), value_json(graph, keyword.value, numbers));
    }
    Json users = Json::array();
    for (const graph::NodeId user : graph.users(id)) users.push_back(static_cast<int64_t>(numbers[user]));
    nodes.push_back(Json::object({{"number", static_cast<int64_t>(numbers[id])},
                                  {"name", graph.node_name(id)},
                                  {"op", graph::op_name(node.op)},
                                  {"target", graph.target(id)},
                                  {"args", std::move(args)},
                                  {"kwargs", std::move(kwargs)},
                                  {"users", std::move(users)},
                                  {"line", node.lines.first}}));
    if (node.op == graph::Op::kPlaceholder) inputs.push_back(graph.target(id));
  }
  Json outputs = Json::array();
  const graph::Value result = graph.node(graph.output()).args[0];
  if (result.is_sequence()) {
    for (const graph::Value& child : graph.children(result))
      outputs.push_back(value_json(graph, child, numbers));
  } else {
    outputs.push_back(value_json(graph, result, numbers));
  }
  return Json::object({{"schema", "graft/graph-show/v1"},
                       {"name", graph.name},
                       {"nodes", std::move(nodes)},
                       {"inputs", std::move(inputs)},
                       {"outputs", std::move(outputs)},
                       {"hash", graph::graph_hash(graph)}});
}

Option no_trace_option(bool* flag) {
  Option option;
  option.name = "--no-trace";
  option.help = "never run a pass file whose text cannot be read as a graph under torch.fx";
  option.flag = flag;
  return option;
}

graph::TraceOptions trace_options(bool no_trace) {
  return no_trace ? graph::TraceOptions{} : graph::TraceOptions::needed();
}

void note_traced(const std::string& path, const std::string& reason) {
  if (!reason.empty()) log_info(path + ": traced by torch.fx: " + reason);
}

}  // namespace graft::cli
