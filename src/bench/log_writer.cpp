#include "bench/log_writer.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "python/repr.h"

namespace graft::bench {
namespace {

// Text from elsewhere must not look like a line of the log.
std::string harmless(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '[') c = '(';
    if (c == ']') c = ')';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  for (size_t at = out.find("all_close"); at != std::string::npos; at = out.find("all_close", at))
    out.replace(at, 9, "allclose");
  return out;
}

std::string path_word(std::string_view path) {
  std::string out = harmless(path);
  std::replace(out.begin(), out.end(), ' ', '_');
  return out.empty() ? "unnamed" : out;
}

std::string float_text(double value) {
  std::string out;
  python::append_float_repr(out, value);
  return out;
}

std::string names_row(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " "));
}

// Python's repr of a list of texts.
std::string names_list(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) {
    if (out.size() > 1) out += ", ";
    python::append_str_repr(out, name, 11);
  }
  return out + "]";
}

class Writer {
 public:
  Writer(const LogGraph& graph, std::string_view prompt) : graph_(graph), prompt_(prompt) {}

  std::string write() {
    line("[Processing] {}", path_word(graph_.path));
    config("model", graph_.model);
    config("device", graph_.device);
    config("hardware", graph_.hardware);
    config("compiler", graph_.compiler);
    config("warmup", std::to_string(graph_.warmup));
    config("trials", std::to_string(graph_.trials));
    config("compile_framework_version", graph_.torch_version);
    switch (graph_.reference_form ? status_in_reference_log(graph_.status) : graph_.status) {
      case GraphStatus::kCorrect:
      case GraphStatus::kAccuracy:
        datatypes();
        type_match(true);
        correctness();
        break;
      case GraphStatus::kTypeMismatch:
        datatypes();
        // Without this line readers take a dtype mismatch for a shape mismatch.
        line("[Shape] match:True");
        type_match(false);
        break;
      case GraphStatus::kShapeMismatch:
        datatypes();
        type_match(graph_.status == GraphStatus::kShapeMismatch);
        if (!graph_.reference_form) line("[Shape] match:False");
        break;
      case GraphStatus::kRuntimeFail:
      case GraphStatus::kPassMiss:
        datatypes();
        type_match(true);
        line("[Shape] match:True");
        break;
      case GraphStatus::kCompileFail:
        line("[Datatype][eager]: {}", names_row(graph_.eager_dtypes));
        break;
      case GraphStatus::kEagerFail:
        break;
    }
    bool compared = result();
    if (compared || !graph_.reference_form) performance();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += prompt_;
    out_ += ' ';
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void config(std::string_view key, std::string_view value) {
    line("[Config] {}: {}", key, value.empty() ? std::string("unknown") : harmless(value));
  }

  void datatypes() {
    line("[Datatype][eager]: {}", names_row(graph_.eager_dtypes));
    line("[Datatype][compiled]: {}",
         names_row(graph_.compiled_dtypes.empty() ? graph_.eager_dtypes : graph_.compiled_dtypes));
  }

  void type_match(bool match) {
    line("[DataType] eager:{} compiled:{} match:{}", names_list(graph_.eager_dtypes),
         names_list(graph_.compiled_dtypes.empty() ? graph_.eager_dtypes : graph_.compiled_dtypes),
         match ? "True" : "False");
  }

  template <class Value>
  void row(std::string_view key, const Value& value) {
    std::string values;
    for (const Comparison& output : graph_.outputs) values += " " + value(output);
    // A row without outputs would be no field at all.
    if (!values.empty()) line("[Correctness]{}:{}", key, values);
  }

  void correctness() {
    auto bit = [](bool value) { return std::string(value ? "1" : "0"); };
    row("[equal]", [&](const Comparison& output) { return bit(output.equal); });
    for (int t = kStrictestLevel; t <= kLoosestLevel; ++t) {
      for (size_t i = 0; i < kToleranceColumnCount; ++i) {
        auto column = static_cast<ToleranceColumn>(i);
        row(tolerance_key(column, t), [&](const Comparison& output) { return bit(output.close(column, t)); });
      }
    }
    row("[max_diff]", [](const Comparison& output) { return float_text(output.max_diff); });
    row("[mean_diff]", [](const Comparison& output) { return float_text(output.mean_diff); });
  }

  // Whether both phases ran.
  bool result() {
    bool compared = graph_.status == GraphStatus::kCorrect || graph_.status == GraphStatus::kAccuracy ||
                    graph_.status == GraphStatus::kTypeMismatch ||
                    graph_.status == GraphStatus::kShapeMismatch;
    line("[Result] status: {}", compared ? "success" : "failed");
    if (compared) return true;
    line("[Fail due to {} model execution error.]",
         graph_.status == GraphStatus::kEagerFail ? "eager" : "compiled");
    if (graph_.reference_form) {
      if (!graph_.failure.empty()) out_ += harmless(graph_.failure) + "\n";
      return false;
    }
    // The words by which readers know these two.
    if (graph_.status == GraphStatus::kPassMiss) out_ += "No passes modified the graph.\n";
    if (graph_.status == GraphStatus::kRuntimeFail)
      out_ += fmt::format("Error: {}\n", harmless(graph_.failure));
    if (graph_.status == GraphStatus::kCompileFail || graph_.status == GraphStatus::kEagerFail)
      if (!graph_.failure.empty()) out_ += harmless(graph_.failure) + "\n";
    return false;
  }

  void phase(std::string_view name, const std::optional<LogTimes>& times) {
    if (!times) return;
    Json json = Json::object({{"e2e", to_json(times->e2e)}});
    if (times->gpu) json.set("gpu", to_json(*times->gpu));
    line("[Performance][{}]: {}", name, json.dump());
  }

  void performance() {
    phase("eager", graph_.eager);
    phase("compiled", graph_.compiled);
    if (!graph_.eager || !graph_.compiled) return;
    if (double e2e = speedup(graph_.eager->e2e, graph_.compiled->e2e); e2e > 0)
      line("[Speedup][e2e]: {:.5f}", e2e);
    if (graph_.eager->gpu && graph_.compiled->gpu)
      if (double gpu = speedup(*graph_.eager->gpu, *graph_.compiled->gpu); gpu > 0)
        line("[Speedup][gpu]: {:.5f}", gpu);
  }

  const LogGraph& graph_;
  std::string_view prompt_;
  std::string out_;
};

}  // namespace

GraphStatus status_in_reference_log(GraphStatus status) {
  switch (status) {
    case GraphStatus::kCorrect:
    case GraphStatus::kAccuracy:
      return status;
    case GraphStatus::kTypeMismatch:
    case GraphStatus::kShapeMismatch:
      return GraphStatus::kShapeMismatch;
    default:
      return GraphStatus::kEagerFail;
  }
}

std::optional<double> logged_speedup(const LogGraph& graph) {
  if (!graph.eager || !graph.compiled) return std::nullopt;
  double ratio = speedup(graph.eager->e2e, graph.compiled->e2e);
  if (!(ratio > 0)) return std::nullopt;
  return std::strtod(fmt::format("{:.5f}", ratio).c_str(), nullptr);
}

std::string log_text(const LogGraph& graph, std::string_view prompt) {
  return Writer(graph, prompt).write();
}

}  // namespace graft::bench
