// graft graph capture MODEL
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "base/file.h"
#include "base/log.h"
#include "bench/sample.h"
#include "cli/commands.h"
#include "graph/importer.h"
#include "referee/captures.h"
#include "referee/interrupt.h"
#include "referee/strays.h"

namespace graft::cli {
namespace {

struct Options {
  std::string model;
  std::string output;
  referee::EvaluationOptions evaluation;
};

// The folder of the one graph that is meant: itself, that of a model.py, or the only graph of a sample.
Result<std::string> graph_folder(const std::string& model) {
  if (is_regular_file(model)) {
    std::string folder = std::filesystem::path(model).parent_path().string();
    if (std::filesystem::path(model).filename() == "model.py") return folder.empty() ? "." : folder;
    return input_error("this is no graph folder", Place{model, 0, 0},
                       "a folder with model.py and weight_meta.py");
  }
  if (is_regular_file(join_path(model, "model.py"))) return model;
  GRAFT_ASSIGN_OR_RETURN(auto sample, bench::load_sample(model, {.need_passes = false}));
  if (sample.graphs.size() != 1)
    return input_error(fmt::format("{} graphs are below this folder", sample.graphs.size()),
                       Place{sample.path, 0, 0}, "the folder of one graph");
  if (sample.graphs.front().failure) return *sample.graphs.front().failure;
  return sample.graphs.front().path;
}

Json summary(const graph::CapturedGraph& captured) {
  Json parameters = Json::array();
  for (const std::string& name : captured.parameters)
    parameters.push_back(name.empty() ? Json() : Json(name));
  return Json::object(
      {{"nodes", static_cast<int64_t>(captured.graph.size())}, {"parameters", std::move(parameters)}});
}

Result<referee::CaptureOutcome> find_or_capture(const Options& options,
                                                const referee::CaptureRequest& request) {
  GRAFT_ASSIGN_OR_RETURN(const PythonEnvironment python, find_python_environment());
  GRAFT_ASSIGN_OR_RETURN(const std::string torch, referee::installed_torch(python));
  const referee::CaptureStore store(torch, options.evaluation.device);
  if (auto found = store.find(request)) return referee::CaptureOutcome{std::move(found), {}};
  referee::InterruptScope interrupts;
  referee::adopt_orphans();
  GRAFT_ASSIGN_OR_RETURN(auto evaluator, referee::Evaluator::start(options.evaluation));
  referee::RunInfo info;
  GRAFT_RETURN_IF_ERROR(evaluator->ready(info));
  return store.get(*evaluator, request);
}

Result<int> run(const Options& options, const Context& context) {
  GRAFT_ASSIGN_OR_RETURN(const std::string folder, graph_folder(options.model));
  GRAFT_ASSIGN_OR_RETURN(const referee::CaptureRequest request,
                         referee::CaptureRequest::read(folder, options.evaluation.device));
  GRAFT_ASSIGN_OR_RETURN(const graph::Graph text, graph::import_model_text(request.source, request.file));
  GRAFT_ASSIGN_OR_RETURN(const referee::CaptureOutcome outcome, find_or_capture(options, request));
  if (!outcome.capture) {
    const referee::CaptureFailure& failure = outcome.failure;
    if (context.json) {
      print_json(Json::object({{"schema", "graft/graph-capture/v1"},
                               {"graph", folder},
                               {"device", options.evaluation.device},
                               {"error", Json::object({{"class", failure.error_class},
                                                       {"message", failure.message},
                                                       {"traceback", failure.traceback}})}}));
    }
    log_warning(fmt::format("{}: the graph cannot be captured: {}", folder, failure.message));
    return 1;
  }
  const referee::StoredCapture& capture = *outcome.capture;
  const std::string document = capture.document.dump() + "\n";
  if (!options.output.empty()) GRAFT_RETURN_IF_ERROR(write_file_atomic(options.output, document));
  const std::vector<std::string> differences = graph::capture_differences(text, capture.capture);
  if (context.json) {
    Json graphs = Json::array();
    for (const graph::CapturedGraph& captured : capture.capture.graphs) graphs.push_back(summary(captured));
    Json sentences = Json::array();
    for (const std::string& difference : differences) sentences.push_back(difference);
    Json answer = Json::object({{"schema", "graft/graph-capture/v1"},
                                {"graph", folder},
                                {"torch", capture.capture.torch},
                                {"device", options.evaluation.device},
                                {"key", capture.key},
                                {"stored", capture.stored},
                                {"graphs", std::move(graphs)},
                                {"breaks", capture.document["breaks"]},
                                {"differences", std::move(sentences)},
                                {"error", Json()}});
    if (options.output.empty())
      answer.set("document", capture.document);
    else
      answer.set("output", options.output);
    print_json(answer);
  } else {
    if (options.output.empty()) fmt::print("{}", document);
    for (const std::string& difference : differences) log_info(difference);
    size_t nodes = 0;
    for (const graph::CapturedGraph& captured : capture.capture.graphs) nodes += captured.graph.size();
    log_info(fmt::format("{} captured graph{} of {} nodes, torch {}{}", capture.capture.graphs.size(),
                         capture.capture.graphs.size() == 1 ? "" : "s", nodes, capture.capture.torch,
                         capture.stored ? ", from the store" : ""));
  }
  return 0;
}

}  // namespace

Command graph_capture_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "graph capture";
  command.summary = "what Dynamo makes of a graph";
  command.details =
      "Runs the graph once under torch.compile with a backend that only records, and prints the document "
      "that\n"
      "`graft graph match` can match on. It is kept in the cache: the same graph with the same torch is "
      "not\n"
      "captured again. Exit code 1 when the graph cannot be captured.";
  command.options = {
      {.name = "MODEL", .help = "a graph folder", .text = &options->model, .required = true},
      {.name = "-o,--output", .help = "where the document goes instead of stdout", .text = &options->output},
      {.name = "--device",
       .help = "where the graph runs",
       .text = &options->evaluation.device,
       .choices = {"cpu", "cuda"}},
      {.name = "--timeout",
       .help = "seconds the capture may take",
       .real = &options->evaluation.timeout_seconds,
       .minimum = 0.01,
       .maximum = 1e6},
  };
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
