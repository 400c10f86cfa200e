// graft graph stats PATH...
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/graph_common.h"
#include "graph/importer.h"

namespace graft::cli {
namespace {

Result<int> run(const std::vector<std::string>& paths, const Context& context) {
  GRAFT_ASSIGN_OR_RETURN(const std::vector<ModelText> models, collect_models(paths));
  const auto started = std::chrono::steady_clock::now();
  const std::clock_t cpu_started = std::clock();
  size_t bytes = 0;
  size_t nodes = 0;
  size_t graphs = 0;
  std::map<std::string, int64_t, std::less<>> operations;
  Json errors = Json::array();
  for (const ModelText& model : models) {
    bytes += model.text.size();
    Result<graph::Graph> graph = graph::import_model_text(model.text, model.name);
    if (!graph.ok()) {
      const Error& error = graph.error();
      if (!context.json) fmt::print(stderr, "{}\n", error.to_string());
      errors.push_back(Json::object({{"graph", model.name},
                                     {"line", error.place.line},
                                     {"column", error.place.column},
                                     {"message", error.message}}));
      continue;
    }
    ++graphs;
    nodes += graph->size();
    for (graph::NodeId id = graph->first(); id != graph::kNoNode; id = graph->next(id)) {
      const graph::Op op = graph->node(id).op;
      if (op == graph::Op::kPlaceholder || op == graph::Op::kOutput) continue;
      const std::string target = (op == graph::Op::kCallMethod ? "." : "") + std::string(graph->target(id));
      ++operations[target];
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

  const double cpu_seconds = static_cast<double>(std::clock() - cpu_started) / CLOCKS_PER_SEC;

  std::vector<std::pair<std::string, int64_t>> counts(operations.begin(), operations.end());
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const bool failed = !errors.items().empty();
  if (context.json) {
    Json ops = Json::object();
    for (const auto& [target, count] : counts) ops.set(target, count);
    print_json(Json::object({{"schema", "graft/graph-stats/v1"},
                             {"graphs", uint64_t{graphs}},
                             {"bytes", uint64_t{bytes}},
                             {"nodes", uint64_t{nodes}},
                             {"seconds", seconds},
                             {"cpu_seconds", cpu_seconds},
                             {"errors", std::move(errors)},
                             {"ops", std::move(ops)}}));
    return failed ? 1 : 0;
  }
  for (const auto& [target, count] : counts) fmt::print("{:8}  {}\n", count, target);
  fmt::print("{} graphs, {} bytes, {} nodes, {:.4f} s, {:.1f} MB/s; {} with errors\n", graphs, bytes, nodes,
             seconds, seconds > 0 ? static_cast<double>(bytes) / 1e6 / seconds : 0.0, errors.items().size());
  return failed ? 1 : 0;
}

}  // namespace

Command graph_stats_command() {
  auto paths = std::make_shared<std::vector<std::string>>();
  Command command;
  command.name = "graph stats";
  command.summary = "reads every graph below the paths and counts operators";
  command.details =
      "Folders are searched for model.py; of a .jsonl file the member model.py of every record is taken.\n"
      "Methods are listed with a leading dot. Exit code 1 where a graph cannot be read.";
  Option option;
  option.name = "PATH";
  option.help = "files, folders, .jsonl files";
  option.list = paths.get();
  option.required = true;
  command.options = {option};
  command.run = [paths](const Context& context) { return run(*paths, context); };
  return command;
}

}  // namespace graft::cli
