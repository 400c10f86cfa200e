// graft graph match --pattern FILE MODEL...
#include <fmt/core.h>

#include <chrono>
#include <memory>

#include "cli/commands.h"
#include "cli/graph_common.h"
#include "graph/importer.h"
#include "graph/matcher.h"
#include "graph/nearest_miss.h"
#include "graph/pass_file.h"
#include "graph/plain.h"

namespace graft::cli {
namespace {

struct Options {
  std::vector<std::string> patterns;
  std::vector<std::string> models;
  std::string mode = "normalized";
};

Result<int> run(const Options& options, const Context& context) {
  const bool plain = options.mode == "plain";
  graph::MatchOptions match_options;
  match_options.mode = plain ? graph::MatchMode::kPlain : graph::MatchMode::kNormalized;
  std::vector<graph::Graph> patterns;
  for (const std::string& path : options.patterns) {
    GRAFT_ASSIGN_OR_RETURN(graph::Graph pattern, graph::load_pattern_file(path));
    patterns.push_back(plain ? graph::plain_graph(pattern) : std::move(pattern));
  }
  std::vector<graph::Matcher> matchers;
  for (const graph::Graph& pattern : patterns) {
    GRAFT_ASSIGN_OR_RETURN(graph::Matcher matcher, graph::Matcher::create(pattern, match_options));
    matchers.push_back(std::move(matcher));
  }
  GRAFT_ASSIGN_OR_RETURN(const std::vector<ModelText> models, collect_models(options.models));
  Json results = Json::array();
  size_t total = 0;
  double seconds = 0;
  for (const ModelText& model : models) {
    GRAFT_ASSIGN_OR_RETURN(graph::Graph graph, graph::import_model_text(model.text, model.name));
    if (plain) graph = graph::plain_graph(graph);
    const std::vector<uint32_t> numbers = graph.numbering();
    for (size_t i = 0; i < matchers.size(); ++i) {
      const auto started = std::chrono::steady_clock::now();
      const graph::MatchResult found = matchers[i].match(graph);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      total += found.matches.size();
      Json matches = Json::array();
      for (const graph::Match& match : found.matches) {
        Json nodes = Json::array();
        std::string names;
        for (const graph::NodeId id : match.nodes) {
          nodes.push_back(static_cast<int64_t>(numbers[id]));
          names += " " + std::to_string(numbers[id]) + ":" + std::string(graph.node_name(id));
        }
        matches.push_back(std::move(nodes));
        if (!context.json) fmt::print("{}: {}:{}\n", model.name, patterns[i].name, names);
      }
      const std::optional<graph::NearestMiss> miss = graph::nearest_miss(matchers[i], graph, found);
      if (miss && !context.json)
        fmt::print("{}: {}: no match: {}\n", model.name, patterns[i].name, miss->to_string());
      results.push_back(Json::object(
          {{"graph", model.name},
           {"pattern", options.patterns[i]},
           {"matches", std::move(matches)},
           {"nearest_miss", miss ? graph::nearest_miss_json(*miss, patterns[i], graph) : Json()}}));
    }
  }
  if (context.json) {
    print_json(Json::object(
        {{"schema", "graft/graph-match/v1"}, {"results", std::move(results)}, {"seconds", seconds}}));
  } else {
    fmt::print(stderr, "{} matches in {} graphs\n", total, models.size());
  }
  return total > 0 ? 0 : 1;
}

}  // namespace

Command graph_match_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "graph match";
  command.summary = "finds a pass file's pattern in graphs";
  command.details =
      "plain matches as torch.fx does on symbolic traces, normalized (the default) also where a call is "
      "spelled\n"
      "differently, and only where a replacement cannot change a result. Exit code 1 where nothing matches.";
  Option pattern;
  pattern.name = "--pattern";
  pattern.help = "a file with a function `pattern`";
  pattern.list = &options->patterns;
  pattern.required = true;
  Option models;
  models.name = "MODEL";
  models.help = "model.py files, folders, .jsonl files";
  models.list = &options->models;
  models.required = true;
  Option mode;
  mode.name = "--mode";
  mode.help = "plain or normalized";
  mode.text = &options->mode;
  mode.choices = {"plain", "normalized"};
  command.options = {pattern, models, mode};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
