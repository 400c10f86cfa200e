#include "graph/trace_pattern.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/python_environment.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "base/worker_environment.h"
#include "graph/captured.h"

namespace graft::graph {
namespace {

constexpr std::string_view kSchema = "graft/traced-pattern/v1";
// What the child writes once it is about to run the file.
constexpr std::string_view kStarted = "started";
constexpr int kDocumentFd = 3;  // in the child
constexpr size_t kMaxDocument = size_t{16} << 20;
constexpr size_t kMaxOutput = size_t{64} << 10;

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  text = text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
  return std::string(text.substr(0, 300));
}

std::string clipped(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + " ...";
}

// "pattern", or "pattern and replacement_args".
std::string names_of(const std::vector<TracedFunction>& functions) {
  std::string names;
  for (const TracedFunction& function : functions) {
    names += (names.empty() ? "'" : " and '") + function.name + "'";
  }
  return names;
}

Result<std::string> read_document(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return os_error("read", "the traced graph", errno);
  if (status.st_size > static_cast<off_t>(kMaxDocument)) return input_error("the traced graph is too large");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return os_error("read", "the traced graph", count < 0 ? errno : EIO);
    done += static_cast<size_t>(count);
  }
  return text;
}

// Whether a value is, or holds, what no text of a graph could say.
bool holds_unknown(const Graph& graph, Value value) {
  if (value.kind == ValueKind::kUnknown) return true;
  if (!value.is_composite()) return false;
  const auto children = graph.children(value);
  return std::any_of(children.begin(), children.end(),
                     [&](Value child) { return holds_unknown(graph, child); });
}

Status check_values(const Graph& graph) {
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    const Node& node = graph.node(id);
    const Place place{graph.file, node.lines.first, node.lines.column};
    bool unknown = std::any_of(node.args.begin(), node.args.end(),
                               [&](Value value) { return holds_unknown(graph, value); });
    for (const Keyword& keyword : node.kwargs) unknown = unknown || holds_unknown(graph, keyword.value);
    if (unknown) {
      return input_error("an argument of '" + std::string(graph.target(id)) + "' is no literal of a graph",
                         place, "numbers, texts, dtypes, devices and containers of these");
    }
    if (node.op == Op::kPlaceholder && graph.target(id).starts_with('*')) {
      return input_error("parameter '" + std::string(graph.target(id)) + "' has no fixed meaning in a graph",
                         place, "named parameters only");
    }
  }
  return {};
}

}  // namespace

TraceOptions TraceOptions::needed() {
  TraceOptions options;
  options.when = When::kNeeded;
  if (const char* text = std::getenv("GRAFT_TRACE_TIMEOUT"); text != nullptr) {
    const std::string_view given = text;
    double seconds = 0;
    const auto [end, code] = std::from_chars(given.data(), given.data() + given.size(), seconds);
    if (code == std::errc() && end == given.data() + given.size() && seconds >= 0.1 && seconds <= 600)
      options.deadline = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  }
  return options;
}

Status trace_functions(const std::string& text, const std::string& path,
                       std::vector<TracedFunction>& functions, const TraceOptions& options) {
  if (functions.empty()) return {};
  const Place place = functions.front().place;
  const std::string names = names_of(functions);
  GRAFT_ASSIGN_OR_RETURN(const PythonEnvironment python, find_python_environment());
  GRAFT_ASSIGN_OR_RETURN(const TemporaryDirectory scratch, TemporaryDirectory::create("graft-trace"));
  const UniqueFd document(memfd_create("graft-trace", MFD_CLOEXEC));
  if (!document) return os_error("make memory for", "the traced graph", errno);

  ProcessOptions process;
  std::error_code ignored;
  process.argv = {python.executable, "-B", "-m", "graft.trace_pattern",
                  path.empty() ? "" : std::filesystem::absolute(path, ignored).lexically_normal().string()};
  for (const TracedFunction& function : functions) process.argv.push_back(function.name);
  process.directory = scratch.path();
  process.clear_environment = true;
  process.environment = worker_environment();
  auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(process.environment, [&](const auto& pair) { return pair.first == name; });
    process.environment.emplace_back(name, value);
  };
  for (const auto& [name, value] : python.variables()) set(name, value);
  set("PYTHONDONTWRITEBYTECODE", "1");
  set("PYTHONSAFEPATH", "1");
  process.descriptors = {{document.get(), kDocumentFd}};
  GRAFT_ASSIGN_OR_RETURN(const ProcessOutput output,
                         run_process(process, options.deadline, text, kMaxOutput));
  GRAFT_ASSIGN_OR_RETURN(const std::string answer, read_document(document.get()));

  if (answer.empty() && !output.timed_out) {
    const std::string line = last_line(output.err);
    return missing_error("'" + python.executable + " -m graft.trace_pattern' does not start (" +
                             output.status.to_string() + ")" + (line.empty() ? "" : ": " + line),
                         "`graft doctor` says what this Python lacks");
  }
  if (output.timed_out) {
    const double seconds = static_cast<double>(options.deadline.count()) / 1000;
    std::string limit = std::to_string(seconds);
    limit.erase(limit.find_last_not_of('0') + 1);
    if (limit.ends_with('.')) limit.pop_back();
    return input_error("tracing " + names + " was not done after " + limit + " s", place,
                       "a pattern that ends at once");
  }
  if (answer == kStarted) {
    return input_error(
        "the process that traced " + names + " ended (" + output.status.to_string() + ") before it answered",
        place, "a pattern that returns");
  }
  const Result<Json> parsed = Json::parse(answer);
  if (!parsed.ok() || (*parsed)["schema"].as_string() != kSchema)
    return input_error("the process that traced " + names + " gave no readable answer", place);
  const Json& json = *parsed;
  if (const Json& error = json["error"]; error.is_object()) {
    const std::string what =
        clipped(error["class"].as_string(), 200) + ": " + clipped(error["message"].as_string(), 2000);
    if (error["stage"].as_string() == "torch")
      return missing_error("'" + python.executable + "' has no torch (" + what + ")",
                           "`graft doctor` says how to get it");
    Place at = place;
    if (error["line"].as_int() > 0) {
      at.line = static_cast<int>(std::min<int64_t>(error["line"].as_int(), 1 << 30));
      at.column = static_cast<int>(std::clamp<int64_t>(error["column"].as_int(), 0, 1 << 30));
    }
    return input_error(
        (error["stage"].as_string() == "load" ? "running the file raised " : "tracing raised ") + what, at);
  }
  for (TracedFunction& function : functions) {
    Result<Graph> graph = read_graph_nodes(json["functions"][function.name], place.file);
    if (!graph.ok()) {
      Error error = std::move(graph).error();
      if (error.place.line == 0) error.place = function.place;
      return error;
    }
    function.graph = std::move(*graph);
    GRAFT_RETURN_IF_ERROR(check_values(function.graph));
  }
  return {};
}

}  // namespace graft::graph
