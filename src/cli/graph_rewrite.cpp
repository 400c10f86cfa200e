// graft graph rewrite --passes DIR MODEL [-o FILE]
#include <fmt/core.h>

#include <memory>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/graph_common.h"
#include "graph/apply_passes.h"
#include "graph/importer.h"

namespace graft::cli {
namespace {

struct Options {
  std::string passes;
  std::string model;
  std::string output;
  bool no_trace = false;
};

Result<int> run(const Options& options, const Context& context) {
  GRAFT_ASSIGN_OR_RETURN(const std::vector<graph::PassFile> passes,
                         graph::load_pass_folder(options.passes, {}, trace_options(options.no_trace)));
  for (const graph::PassFile& pass : passes) note_traced(pass.path, pass.traced());
  GRAFT_ASSIGN_OR_RETURN(const std::vector<ModelText> models, collect_models({options.model}));
  if (models.size() != 1) return input_error("one model at a time", Place{options.model, 0, 0});
  GRAFT_ASSIGN_OR_RETURN(const graph::Graph graph, graph::import_model_text(models[0].text, models[0].name));
  GRAFT_ASSIGN_OR_RETURN(const graph::RewrittenModel rewritten, graph::apply_passes(graph, passes));
  if (!options.output.empty()) GRAFT_RETURN_IF_ERROR(write_file_atomic(options.output, rewritten.source));
  Json list = Json::array();
  for (size_t i = 0; i < rewritten.passes.size(); ++i) {
    const graph::AppliedPass& pass = rewritten.passes[i];
    const std::string& traced = passes[i].traced();
    list.push_back(Json::object({{"name", pass.name},
                                 {"replacement", pass.replacement},
                                 {"traced", !traced.empty()},
                                 {"traced_because", traced.empty() ? Json() : Json(traced)},
                                 {"matches", uint64_t{pass.matches}},
                                 {"why_not", pass.matches > 0 ? Json() : Json(pass.why_not)}}));
    if (context.json) continue;
    fmt::print(stderr, "{}: {} replaced{}\n", pass.name, pass.matches,
               pass.matches > 0 ? "" : "; " + pass.why_not);
  }
  if (context.json) {
    Json document = Json::object({{"schema", "graft/graph-rewrite/v1"},
                                  {"graph", models[0].name},
                                  {"matches", uint64_t{rewritten.matches}},
                                  {"passes", std::move(list)}});
    if (options.output.empty()) document.set("source", rewritten.source);
    print_json(document);
  } else if (options.output.empty()) {
    fmt::print("{}", rewritten.source);
  }
  return rewritten.matches > 0 ? 0 : 1;
}

}  // namespace

Command graph_rewrite_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "graph rewrite";
  command.summary = "applies the passes of a folder to a model and prints the result";
  command.details =
      "The folder holds the pass files and sorted_output_pass_rule_names.json. The printed module calls the "
      "replacement of\n"
      "the k-th pass as graft_replacement_<k>. Exit code 1 where no pass matched.";
  Option passes;
  passes.name = "--passes";
  passes.help = "folder of pass files";
  passes.text = &options->passes;
  passes.required = true;
  Option model;
  model.name = "MODEL";
  model.help = "a model.py or a graph folder";
  model.text = &options->model;
  model.required = true;
  Option output;
  output.name = "-o,--output";
  output.help = "file to write instead of stdout";
  output.text = &options->output;
  command.options = {passes, model, output, no_trace_option(&options->no_trace)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
