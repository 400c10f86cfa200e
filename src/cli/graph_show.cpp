// graft graph show MODEL
#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/graph_common.h"
#include "graph/importer.h"
#include "graph/pass_file.h"
#include "graph/plain.h"
#include "graph/printer.h"

namespace graft::cli {
namespace {

struct Options {
  std::string model;
  std::string format = "ir";
  bool plain = false;
  bool pattern = false;
  bool no_trace = false;
};

Result<graph::Graph> read(const Options& options, const ModelText& model) {
  if (!options.pattern) return graph::import_model_text(model.text, model.name);
  GRAFT_ASSIGN_OR_RETURN(graph::Graph pattern,
                         graph::load_pattern_file(model.name, trace_options(options.no_trace)));
  note_traced(model.name, pattern.traced);
  return pattern;
}

Result<int> run(const Options& options, const Context& context) {
  std::vector<ModelText> models{{options.model, ""}};
  if (!options.pattern) {
    GRAFT_ASSIGN_OR_RETURN(models, collect_models({options.model}));
  }
  Json documents = Json::array();
  for (const ModelText& model : models) {
    GRAFT_ASSIGN_OR_RETURN(graph::Graph graph, read(options, model));
    if (options.plain) graph = graph::plain_graph(graph);
    if (models.size() > 1 && !context.json && options.format != "json") fmt::print("# {}\n", model.name);
    if (context.json || options.format == "json") {
      Json document = graph_json(graph);
      if (models.size() == 1) {
        print_json(document);
        return 0;
      }
      document.set("file", model.name);
      documents.push_back(std::move(document));
    } else if (options.format == "python") {
      fmt::print("{}", graph::print_module(graph));
    } else if (options.format == "dot") {
      fmt::print("{}", graph::print_dot(graph));
    } else {
      fmt::print("{}", graph::print_ir(graph));
    }
  }
  if (context.json || options.format == "json") {
    print_json(Json::object({{"schema", "graft/graph-show/v1"}, {"graphs", std::move(documents)}}));
  }
  return 0;
}

}  // namespace

Command graph_show_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "graph show";
  command.summary = "prints the graph of a model.py";
  command.details =
      "ir prints one node a line, python a module that computes the same, dot a picture for Graphviz.\n"
      "--plain shows the graph as torch.fx's symbolic trace numbers it.";
  Option model;
  model.name = "MODEL";
  model.help = "a model.py, a graph folder, or a .jsonl file of graphs";
  model.text = &options->model;
  model.required = true;
  Option format;
  format.name = "--format";
  format.help = "ir, python, dot or json";
  format.text = &options->format;
  format.choices = {"ir", "python", "dot", "json"};
  Option plain;
  plain.name = "--plain";
  plain.help = "as a symbolic trace would number it";
  plain.flag = &options->plain;
  Option pattern;
  pattern.name = "--pattern";
  pattern.help = "MODEL is a pass file: show what its function `pattern` was read as";
  pattern.flag = &options->pattern;
  command.options = {model, format, plain, pattern, no_trace_option(&options->no_trace)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
