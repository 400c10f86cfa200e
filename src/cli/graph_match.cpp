// graft graph match --pattern FILE MODEL...
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "base/python_environment.h"
#include "cli/commands.h"
#include "cli/graph_common.h"
#include "graph/captured.h"
#include "graph/force_args.h"
#include "graph/importer.h"
#include "graph/matcher.h"
#include "graph/nearest_miss.h"
#include "graph/pass_file.h"
#include "graph/plain.h"
#include "referee/captures.h"
#include "referee/interrupt.h"
#include "referee/strays.h"

namespace graft::cli {
namespace {

struct Options {
  std::vector<std::string> patterns;
  std::vector<std::string> models;
  std::string mode = "normalized";
  std::string captured;
  bool no_trace = false;
};

struct Target {
  std::string name;
  graph::Graph graph;
  std::string matched_on = "text";  // or "capture"
};

struct Targets {
  std::vector<Target> graphs;
  std::vector<std::string> differences;  // between the models' texts and their captured graphs
  bool captured = false;                 // whether any of the graphs is a captured one
};

// With --mode passbench: the graph folder of a model, "" where the model is in none that can be run.
std::string folder_of(const std::string& model) {
  const std::filesystem::path path(model);
  if (path.filename() != "model.py" || !is_regular_file(model)) return {};
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  return is_regular_file(join_path(folder, "weight_meta.py")) ? folder : std::string();
}

// Finds captures of models in the store, and captures those that are not there. What it lacks for that is
// told once, and then nothing is captured.
class Capturer {
 public:
  // Nothing where the model has to be matched on its text; the reason is told.
  Result<std::optional<graph::Capture>> capture(const std::string& model) {
    auto told = [&](const std::string& why) {
      log_info(fmt::format("{} is matched on its text: {}", model, why));
      return std::optional<graph::Capture>();
    };
    const std::string folder = folder_of(model);
    if (folder.empty()) return told("no graph folder with weight_meta.py, so it cannot be captured");
    if (!lacking_.empty()) return told(lacking_);
    Result<referee::CaptureRequest> request = referee::CaptureRequest::read(folder, options_.device);
    if (!request.ok()) return told(request.error().to_string());
    if (!store_) {
      Result<std::string> torch = torch_version();
      if (!torch.ok()) return told(lacking_ = torch.error().message);
      store_.emplace(*torch, options_.device);
    }
    if (auto found = store_->find(*request)) return std::optional(std::move(found->capture));
    if (!evaluator_) {
      if (Status started = start(); !started.ok()) {
        if (started.error().kind == ErrorKind::kInterrupted) return std::move(started).error();
        return told(lacking_ = started.error().message);
      }
    }
    GRAFT_ASSIGN_OR_RETURN(referee::CaptureOutcome outcome, store_->get(*evaluator_, *request));
    if (!outcome.capture) return told("it cannot be captured: " + outcome.failure.message);
    return std::optional(std::move(outcome.capture->capture));
  }

 private:
  static Result<std::string> torch_version() {
    GRAFT_ASSIGN_OR_RETURN(const PythonEnvironment python, find_python_environment());
    return referee::installed_torch(python);
  }

  Status start() {
    interrupts_.emplace();
    referee::adopt_orphans();
    GRAFT_ASSIGN_OR_RETURN(evaluator_, referee::Evaluator::start(options_));
    referee::RunInfo info;
    Status ready = evaluator_->ready(info);
    if (!ready.ok()) evaluator_.reset();
    return ready;
  }

  referee::EvaluationOptions options_;
  std::optional<referee::InterruptScope> interrupts_;
  std::optional<referee::CaptureStore> store_;
  std::unique_ptr<referee::Evaluator> evaluator_;
  std::string lacking_;
};

void add_captured(Targets& targets, const std::string& name, graph::Capture capture) {
  targets.captured = true;
  const bool several = capture.graphs.size() > 1;
  for (size_t i = 0; i < capture.graphs.size(); ++i)
    targets.graphs.push_back(
        {several ? fmt::format("{}:{}", name, i) : name, std::move(capture.graphs[i].graph), "capture"});
}

// What is matched: the graphs of the models, or captured ones.
Result<Targets> load_targets(const Options& options) {
  Targets targets;
  std::vector<std::pair<std::string, graph::Graph>> texts;
  if (!options.models.empty()) {
    GRAFT_ASSIGN_OR_RETURN(const std::vector<ModelText> models, collect_models(options.models));
    for (const ModelText& model : models) {
      GRAFT_ASSIGN_OR_RETURN(graph::Graph graph, graph::import_model_text(model.text, model.name));
      texts.emplace_back(model.name, options.mode == "plain" ? graph::plain_graph(graph) : std::move(graph));
    }
  }
  if (options.captured.empty()) {
    if (texts.empty()) return input_error("no model is given", {}, "MODEL, or --captured FILE");
    Capturer capturer;
    for (auto& [name, graph] : texts) {
      std::optional<graph::Capture> capture;
      if (options.mode == "passbench") {
        GRAFT_ASSIGN_OR_RETURN(capture, capturer.capture(name));
      }
      if (!capture) {
        targets.graphs.push_back({name, std::move(graph), "text"});
        continue;
      }
      for (const std::string& difference : graph::capture_differences(graph, *capture))
        targets.differences.push_back(texts.size() > 1 ? name + ": " + difference : difference);
      add_captured(targets, name, std::move(*capture));
    }
    return targets;
  }
  if (options.mode != "passbench") return input_error("--captured needs --mode passbench");
  if (texts.size() > 1) return input_error("--captured belongs to one model");
  GRAFT_ASSIGN_OR_RETURN(const std::string text, read_file(options.captured));
  GRAFT_ASSIGN_OR_RETURN(const Json document, Json::parse(text, options.captured));
  GRAFT_ASSIGN_OR_RETURN(graph::Capture capture, graph::read_capture(document, options.captured));
  if (texts.size() == 1) targets.differences = graph::capture_differences(texts[0].second, capture);
  add_captured(targets, options.captured, std::move(capture));
  return targets;
}

Result<int> run(const Options& options, const Context& context) {
  graph::MatchOptions match_options;
  match_options.mode =
      options.mode == "normalized" ? graph::MatchMode::kNormalized : graph::MatchMode::kPlain;
  std::vector<graph::Graph> patterns;
  std::optional<Error> missing;
  for (const std::string& path : options.patterns) {
    Result<graph::Graph> loaded = graph::load_pattern_file(path, trace_options(options.no_trace));
    if (!loaded.ok() && loaded.error().kind == ErrorKind::kMissing) {
      if (!missing) missing = std::move(loaded).error();
      continue;
    }
    GRAFT_ASSIGN_OR_RETURN(graph::Graph pattern, std::move(loaded));
    note_traced(path, pattern.traced);
    if (options.mode == "plain") pattern = graph::plain_graph(pattern);
    if (options.mode == "passbench") pattern = graph::force_args(pattern);
    patterns.push_back(std::move(pattern));
  }
  if (missing) return *missing;
  std::vector<graph::Matcher> matchers;
  for (const graph::Graph& pattern : patterns) {
    GRAFT_ASSIGN_OR_RETURN(graph::Matcher matcher, graph::Matcher::create(pattern, match_options));
    matchers.push_back(std::move(matcher));
  }
  GRAFT_ASSIGN_OR_RETURN(const Targets targets, load_targets(options));
  Json results = Json::array();
  size_t total = 0;
  double seconds = 0;
  for (const auto& [name, graph, matched_on] : targets.graphs) {
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
        if (!context.json) fmt::print("{}: {}:{}\n", name, patterns[i].name, names);
      }
      const std::optional<graph::NearestMiss> miss = graph::nearest_miss(matchers[i], graph, found);
      if (miss && !context.json)
        fmt::print("{}: {}: no match: {}\n", name, patterns[i].name, miss->to_string());
      results.push_back(Json::object(
          {{"graph", name},
           {"pattern", options.patterns[i]},
           {"matched_on", matched_on},
           {"traced", !patterns[i].traced.empty()},
           {"traced_because", patterns[i].traced.empty() ? Json() : Json(patterns[i].traced)},
           {"matches", std::move(matches)},
           {"nearest_miss", miss ? graph::nearest_miss_json(*miss, patterns[i], graph) : Json()}}));
    }
  }
  if (context.json) {
    Json document = Json::object(
        {{"schema", "graft/graph-match/v1"}, {"results", std::move(results)}, {"seconds", seconds}});
    if (targets.captured) {
      Json differences = Json::array();
      for (const std::string& difference : targets.differences) differences.push_back(difference);
      document.set("differences", std::move(differences));
    }
    print_json(document);
  } else {
    for (const std::string& difference : targets.differences) fmt::print("{}\n", difference);
    fmt::print(stderr, "{} matches in {} graphs\n", total, targets.graphs.size());
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
      "passbench matches as the reference evaluator does: the pattern traced with all arguments positional, "
      "against the\n"
      "captured graph (from a graph folder it is made and kept in the cache), or against the text where "
      "there "
      "is none. plain matches as torch.fx does on symbolic "
      "traces, normalized (the default) also where a call is "
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
  Option captured;
  captured.name = "--captured";
  captured.help =
      "with --mode passbench: the captured graph (JSON) to match on; a MODEL is then compared with it";
  captured.text = &options->captured;
  Option mode;
  mode.name = "--mode";
  mode.help = "plain, passbench or normalized";
  mode.text = &options->mode;
  mode.choices = {"plain", "passbench", "normalized"};
  command.options = {pattern, models, mode, captured, no_trace_option(&options->no_trace)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
