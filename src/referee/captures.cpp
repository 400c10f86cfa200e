#include "referee/captures.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include <fmt/core.h>

#include "base/cache.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/process.h"
#include "graph/apply_passes.h"
#include "graph/device.h"
#include "referee/interrupt.h"
#include "referee/outputs.h"
#include "referee/shared_memory.h"

namespace graft::referee {
namespace {

// A document is some hundred bytes a node.
constexpr int64_t kMaxDocument = int64_t{256} << 20;

std::string version_only(std::string torch) {
  return torch.substr(0, torch.find('+'));
}

// The inputs in memory of their own, as the graph is evaluated on them. Elements that torch would have to
// draw are zero: no capture depends on them.
Result<SharedBuffer> make_inputs(const bench::MaterializePlan& plan) {
  GRAFT_ASSIGN_OR_RETURN(SharedBuffer buffer, SharedBuffer::create("graft-capture-inputs", plan.total_bytes,
                                                                   SharedBuffer::Access::kReaderOnly));
  const bench::Materialized made = bench::materialize(plan, buffer.data());
  for (const bench::NonfiniteTensor& entry : made.nonfinite) {
    const bench::PlannedTensor& tensor = plan.tensors[entry.tensor];
    bench::finish_nonfinite(tensor, buffer.data() + tensor.offset, entry.indices,
                            std::vector<double>(entry.indices.size(), 0.0));
  }
  return buffer;
}

Json layout_of(const bench::MaterializePlan& plan) {
  Json layout = Json::array();
  for (const bench::PlannedTensor& tensor : plan.tensors)
    layout.push_back(
        TensorSlot{tensor.meta.name, tensor.meta.dtype, tensor.meta.shape, tensor.offset, tensor.bytes}
            .to_json());
  return layout;
}

// The whole content of an anonymous file that the worker has written.
Result<std::string> content_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return fault(fmt::format("the capture's size is unknown (errno {})", errno));
  if (status.st_size > kMaxDocument)
    return input_error(fmt::format("the capture has {} bytes", status.st_size), {},
                       fmt::format("at most {} bytes", kMaxDocument));
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fault("the capture cannot be read back from memory");
    done += static_cast<size_t>(got);
  }
  return text;
}

CaptureOutcome failed(const Error& error) {
  return {{}, {{}, error.to_string(), {}}};
}

}  // namespace

Result<CaptureRequest> CaptureRequest::read(const std::string& folder, const std::string& device) {
  bench::GraphFolder graph;
  // Workers stand in folders of their own.
  graph.path = std::filesystem::absolute(folder).lexically_normal().string();
  CaptureRequest request;
  request.file = graph.model_file();
  GRAFT_ASSIGN_OR_RETURN(request.source, read_file(request.file));
  GRAFT_ASSIGN_OR_RETURN(request.source,
                         graph::rewrite_device_literals(std::move(request.source), device, request.file));
  if (!is_regular_file(graph.weight_meta_file()))
    return input_error("a graph without weight_meta.py cannot be run", Place{graph.path, 0, 0},
                       "model.py and weight_meta.py in one folder");
  GRAFT_ASSIGN_OR_RETURN(request.plan, read_plan(graph));
  return request;
}

CaptureStore::CaptureStore(std::string torch, std::string device)
    : torch_(version_only(std::move(torch))), device_(std::move(device)) {}

std::string CaptureStore::key(const CaptureRequest& request) const {
  Sha256 hash;
  for (const std::string& part : {std::string(graph::kCaptureSchema), torch_, device_, request.source,
                                  bench::materialize_key(request.plan)}) {
    hash.update(fmt::format("{}:", part.size()));
    hash.update(part);
  }
  return hash.hex();
}

std::optional<StoredCapture> CaptureStore::find(const CaptureRequest& request) const {
  StoredCapture found;
  found.key = key(request);
  found.stored = true;
  auto folder = cache_directory("captures");
  if (!folder.ok()) return std::nullopt;
  found.file = join_path(*folder, found.key + ".json");
  if (!is_regular_file(found.file)) return std::nullopt;
  auto text = read_file(found.file, static_cast<size_t>(kMaxDocument));
  if (!text.ok()) return std::nullopt;
  auto document = Json::parse(*text, found.file);
  if (!document.ok()) return std::nullopt;
  auto capture = graph::read_capture(*document, found.file);
  if (!capture.ok() || capture->torch != torch_) return std::nullopt;
  found.capture = std::move(*capture);
  found.document = std::move(*document);
  return found;
}

Result<CaptureOutcome> CaptureStore::get(Evaluator& evaluator, const CaptureRequest& request) const {
  if (auto found = find(request)) return CaptureOutcome{std::move(found), {}};
  auto inputs = make_inputs(request.plan);
  if (!inputs.ok()) return failed(inputs.error());
  UniqueFd file(memfd_create("graft-capture", MFD_CLOEXEC));
  if (!file) return failed(os_error("create", "memory for the capture", errno));
  GRAFT_ASSIGN_OR_RETURN(Worker * worker, evaluator.reference());
  const std::array<int, 2> descriptors = {inputs->fd(), file.get()};
  const Reply reply = worker->call("capture",
                                   Json::object({{"source", request.source},
                                                 {"file", request.file},
                                                 {"inputs", layout_of(request.plan)},
                                                 {"bytes", static_cast<int64_t>(inputs->size())}}),
                                   evaluator.deadline(), descriptors);
  if (!reply.ok()) {
    const WorkerFailure& failure = *reply.failure;
    if (failure.kind == WorkerFailure::Kind::kInterrupted)
      return Error{ErrorKind::kInterrupted, "interrupted", {}, {}, {}};
    // What failed in Python may have many lines; its traceback has them all.
    std::string message = failure.kind == WorkerFailure::Kind::kTimedOut ? "not done within the time limit"
                                                                         : failure.to_string();
    message = message.substr(0, message.find('\n'));
    return CaptureOutcome{{}, {failure.error_class, std::move(message), failure.traceback}};
  }
  auto text = content_of(file.get());
  if (!text.ok()) return failed(text.error());
  auto document = Json::parse(*text, "capture of " + request.file);
  if (!document.ok()) return failed(document.error());
  auto capture = graph::read_capture(*document, "capture of " + request.file);
  if (!capture.ok()) return failed(capture.error());
  StoredCapture made;
  made.key = key(request);
  made.capture = std::move(*capture);
  made.document = std::move(*document);
  // Capturing again costs a second; a full disk must not cost the evaluation.
  auto folder = cache_directory("captures");
  Status written = folder.ok() ? Status() : Status(folder.error());
  if (written.ok()) {
    made.file = join_path(*folder, made.key + ".json");
    written = write_file_atomic(made.file, *text);
  }
  if (!written.ok()) {
    log_warning("the capture is not kept: " + written.error().to_string());
    made.file.clear();
  }
  return CaptureOutcome{std::move(made), {}};
}

Result<std::string> installed_torch(const PythonEnvironment& python) {
  ProcessOptions options;
  options.argv = {python.executable, "-c",
                  "import importlib.metadata as m; print(); print(m.version('torch'))"};
  options.environment = python.variables();
  auto output = run_process(options, std::chrono::seconds(30));
  std::string version;
  if (output.ok() && output->status.success()) {
    version = output->out;
    while (version.ends_with('\n')) version.pop_back();
    version = version.substr(version.rfind('\n') + 1);
  }
  if (version.empty())
    return missing_error(fmt::format("{} has no torch", python.executable),
                         "install torch for this Python, or name another with GRAFT_PYTHON");
  return version_only(version);
}

namespace {

CaptureReport report_of(const graph::Graph& text, const graph::Capture& capture) {
  CaptureReport report;
  report.graphs = capture.graphs.size();
  for (const graph::GraphBreak& graph_break : capture.breaks)
    report.breaks.push_back({graph_break.reason, graph_break.file, graph_break.line, graph_break.function});
  report.differences = graph::capture_differences(text, capture);
  return report;
}

CaptureReport report_of(const CaptureFailure& failure) {
  CaptureReport report;
  report.error_class = failure.error_class;
  report.error = failure.message;
  return report;
}

// Adds what became of the passes in one captured graph. The message of a graph that does not match is kept
// for a pass that matches nowhere.
void add_uses(const graph::RewrittenModel& rewritten, const std::vector<graph::PassFile>& passes,
              size_t index, size_t graphs, PreparedGraph& prepared) {
  for (size_t i = 0; i < rewritten.passes.size(); ++i) {
    const graph::AppliedPass& pass = rewritten.passes[i];
    if (prepared.passes.size() <= i)
      prepared.passes.push_back({pass.name, pass.path, 0, {}, passes[i].traced()});
    PassUse& use = prepared.passes[i];
    use.matches += static_cast<int>(pass.matches);
    if (pass.matches > 0 || !use.miss.empty()) continue;
    use.miss = graphs > 1 ? fmt::format("captured graph {}: {}", index, pass.why_not) : pass.why_not;
  }
}

}  // namespace

Status match_on_capture(const CaptureStore& store, Evaluator& evaluator,
                        const std::vector<graph::PassFile>& passes, PreparedGraph& graph) {
  if (graph.failure || graph.forbidden || graph.pass_failure) return {};
  GRAFT_ASSIGN_OR_RETURN(CaptureOutcome outcome, store.get(evaluator, CaptureRequest::of(graph)));
  if (!outcome.capture) {
    graph.capture = report_of(outcome.failure);
    graph.failure = input_error("the graph cannot be captured: " + outcome.failure.message);
    graph.failure_class = outcome.failure.error_class;
    graph.failure_traceback = outcome.failure.traceback;
    return {};
  }
  const graph::Capture& capture = outcome.capture->capture;
  graph.capture = report_of(graph.text, capture);
  graph.matched_on = "capture";
  graph.output_of_leaves = graph::output_of_leaves(capture);
  std::vector<graph::PassFile> forced;
  for (const graph::PassFile& pass : passes) forced.push_back(graph::force_args_pass(pass));

  // Where there is one graph it is matched in the form in which it can be printed, whose names are
  // forward()'s.
  Result<graph::Graph> printable = graph::graph_of_capture(graph.text, capture);
  std::string misses;
  for (size_t i = 0; i < capture.graphs.size(); ++i) {
    const graph::Graph& target = printable.ok() ? *printable : capture.graphs[i].graph;
    Result<graph::RewrittenModel> rewritten = graph::apply_passes(target, forced, {graph::MatchMode::kPlain});
    if (!rewritten.ok()) {
      graph.pass_failure = std::move(rewritten).error();
      return {};
    }
    add_uses(*rewritten, passes, i, capture.graphs.size(), graph);
    graph.capture->matches.push_back(rewritten->matches);
    if (rewritten->matches == 0) misses += fmt::format("{}{}", misses.empty() ? "" : ", ", i);
    for (const graph::AppliedPass& pass : rewritten->passes)
      if (printable.ok() && pass.matches > 0)
        graph.replacements.push_back({pass.replacement, pass.name, pass.path});
    if (printable.ok()) graph.rewritten = std::move(rewritten->source);
  }
  for (PassUse& use : graph.passes)
    if (use.matches > 0) use.miss.clear();
  // The reference compiles every captured graph, and fails where one of them matches nothing.
  graph.matched = !capture.graphs.empty() && misses.empty();
  if (!printable.ok()) graph.capture->cannot_rewrite = printable.error().message;
  if (!graph.matched) {
    graph.rewritten.clear();
    graph.replacements.clear();
    if (capture.graphs.size() > 1)
      graph.miss_note = fmt::format("every captured graph must match, and of {} these do not: {}",
                                    capture.graphs.size(), misses);
    else if (capture.graphs.empty())
      graph.miss_note = printable.error().message;
  } else if (!printable.ok()) {
    graph.failure = input_error("the captured graph cannot be rewritten: " + printable.error().message, {},
                                {}, "--mode normalized rewrites the text");
  }
  return {};
}

Result<CaptureReport> compare_with_capture(const CaptureStore& store, Evaluator& evaluator,
                                           const PreparedGraph& graph) {
  GRAFT_ASSIGN_OR_RETURN(CaptureOutcome outcome, store.get(evaluator, CaptureRequest::of(graph)));
  if (!outcome.capture) return report_of(outcome.failure);
  return report_of(graph.text, outcome.capture->capture);
}

}  // namespace graft::referee
