#include <cstdlib>
#include <memory>

#include <fmt/core.h>

#include "base/log.h"
#include "bench/log_reader.h"
#include "bench/score.h"
#include "cli/commands.h"

namespace graft::cli {
namespace {

struct Arguments {
  std::vector<std::string> logs;
  double penalty = 0.0;
  double base = 0.1;
  std::string interpretation = "default";
  bool tolerate_eager_fail = false;
  std::string weights;
};

struct Curve {
  bench::Log log;
  std::vector<bench::ScoredGraph> graphs;
  bench::Scores scores;
};

Json to_json(const Curve& curve, const bench::ScoreOptions& options) {
  Json samples = Json::array();
  for (const bench::ScoredGraph& graph : curve.graphs) {
    Json sample = Json::object({{"graph", graph.graph}, {"status", bench::status_name(graph.status)}});
    sample.set("speedup", graph.speedup ? Json(*graph.speedup) : Json());
    std::optional<int> from;
    for (int t = bench::kLoosestLevel; t >= bench::kStrictestLevel && graph.correct_at(t); --t) from = t;
    sample.set("correct_from", from ? Json(*from) : Json());
    samples.push_back(std::move(sample));
  }
  Json macro = Json::object();
  Json incorrect = Json::object();
  for (const bench::LevelScore& level : curve.scores.levels) {
    std::string key = std::to_string(level.t);
    Json pi = Json::object();
    for (auto [number, share] : level.macro.pi) pi.set(std::to_string(number), share);
    macro.set(key, Json::object({{"alpha", level.macro.alpha},
                                 {"beta", level.macro.beta},
                                 {"lambda", level.macro.lambda},
                                 {"eta", level.macro.eta},
                                 {"gamma", level.macro.gamma},
                                 {"pi", std::move(pi)},
                                 {"s", level.macro.s},
                                 {"es", level.macro.es},
                                 {"verified", level.verified}}));
    Json names = Json::array();
    for (size_t i : bench::incorrect_graphs(curve.graphs, bench::ScoreKind::kEs, level.t, options))
      names.push_back(curve.graphs[i].graph);
    incorrect.set(key, std::move(names));
  }
  Json json =
      Json::object({{"name", curve.log.name}, {"file", curve.log.file}, {"samples", std::move(samples)}});
  json.set("s", bench::s_json(curve.scores));
  json.set("es", bench::es_json(curve.scores));
  json.set("score", curve.scores.aggregated ? Json(*curve.scores.aggregated) : Json());
  json.set("macro", std::move(macro));
  json.set("incorrect", std::move(incorrect));
  return json;
}

void print_curve(const Curve& curve) {
  fmt::print("{} ({} graphs)\n", curve.log.name, curve.graphs.size());
  for (const bench::ScoredGraph& graph : curve.graphs)
    fmt::print("  {:<14} {:>9}  {}\n", bench::status_name(graph.status),
               graph.speedup ? fmt::format("{:.5f}", *graph.speedup) : "-", graph.graph);
  fmt::print("    t        S       ES\n");
  for (const bench::LevelScore& level : curve.scores.levels)
    fmt::print("  {:>3} {:>8.5f} {:>8.5f}\n", level.t, level.s, level.es);
  if (curve.scores.aggregated)
    fmt::print("score {:.6f}\n", *curve.scores.aggregated);
  else
    fmt::print("no score: the standard weights end at level 4\n");
}

Result<int> run(const Arguments& arguments, const Context& context) {
  bench::ScoreOptions options;
  options.penalty = arguments.penalty;
  options.base = arguments.base;
  if (!(options.base > 0.0))
    return input_error(fmt::format("--base is {}", options.base), {}, "a number above 0");
  if (arguments.interpretation != "default")
    options.interpretation = bench::Interpretation::kMismatchExtended;
  if (arguments.tolerate_eager_fail) options.eager_fail = bench::EagerFailRule::kFromThree;
  std::string weights = arguments.weights;
  if (const char* variable = std::getenv("PASSNET_CUSTOM_WEIGHT_FUNC_PATH");
      weights.empty() && variable != nullptr)
    weights = variable;
  if (!weights.empty()) {
    GRAFT_ASSIGN_OR_RETURN(options.weights, bench::read_weights(weights));
  }

  std::vector<Curve> curves;
  for (const std::string& path : arguments.logs) {
    GRAFT_ASSIGN_OR_RETURN(auto logs, bench::read_logs(path));
    if (logs.empty()) log_warning(fmt::format("{}: no evaluated graph in it", path));
    for (bench::Log& log : logs) {
      Curve curve;
      GRAFT_ASSIGN_OR_RETURN(curve.graphs, bench::scored_graphs(log));
      GRAFT_ASSIGN_OR_RETURN(curve.scores, bench::score(curve.graphs, options));
      for (const bench::LogSample& sample : log.samples) {
        if (sample.status == bench::GraphStatus::kCorrect && sample.correctness.count("[equal]") == 0)
          log_warning(fmt::format("{}: graph {} has no comparison of outputs; it counts as correct",
                                  sample.place.to_string(), sample.model_path));
      }
      curve.log = std::move(log);
      curves.push_back(std::move(curve));
    }
  }
  if (context.json) {
    Json list = Json::array();
    for (const Curve& curve : curves) list.push_back(to_json(curve, options));
    print_json(Json::object({{"schema", "graft/bench-score/v1"},
                             {"penalty", options.penalty},
                             {"base", options.base},
                             {"interpretation", arguments.interpretation},
                             {"curves", std::move(list)}}));
  } else {
    for (const Curve& curve : curves) print_curve(curve);
  }
  if (curves.empty()) {
    fmt::print(stderr, "graft: no valid data found: no line with [Processing] in what was given\n");
    return 1;
  }
  return 0;
}

}  // namespace

Command bench_score_command() {
  auto arguments = std::make_shared<Arguments>();
  Command command;
  command.name = "bench score";
  command.summary = "scores from PassBench logs";
  command.details =
      "A folder stands for every .log and .txt in it. Exit code 1: no log has an evaluated graph.\n"
      "A log shares its text with the code that was evaluated: the score says what the log says, nothing "
      "more.";
  command.options = {
      {.name = "LOG", .help = "log files or folders of logs", .list = &arguments->logs, .required = true},
      {.name = "--penalty",
       .help = "p: a slow-down s counts s^(p+1)",
       .real = &arguments->penalty,
       .minimum = 0.0},
      {.name = "--base", .help = "b: what a failure counts", .real = &arguments->base, .minimum = 0.0},
      {.name = "--interpretation",
       .help = "which failures are tolerated at which level above 0",
       .text = &arguments->interpretation,
       .choices = {"default", "mismatch_extended"}},
      {.name = "--tolerate-eager-fail",
       .help = "under `default`, count a graph whose eager run failed as 1 from level 3 on, as GraphNet does",
       .flag = &arguments->tolerate_eager_fail},
      {.name = "--weights",
       .help = "weights of the levels: a JSON object, or a Python file with get_weights() "
               "(also $PASSNET_CUSTOM_WEIGHT_FUNC_PATH)",
       .text = &arguments->weights},
  };
  command.run = [arguments](const Context& context) { return run(*arguments, context); };
  return command;
}

}  // namespace graft::cli
