// The forms of a result for people and for files.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include "base/file.h"
#include "base/utf8.h"
#include "bench/log_writer.h"
#include "referee/result.h"

namespace graft::referee {
namespace {

bench::LogGraph log_graph(const GraphResult& graph, const RunInfo& info) {
  bench::LogGraph log;
  log.path = graph.path;
  log.model = graph.model_name;
  log.device = info.device;
  log.hardware = info.hardware;
  log.warmup = info.warmup;
  log.trials = info.trials;
  log.torch_version = info.torch_version;
  log.compiler = info.candidate == "identity"   ? "nope"
                 : info.candidate == "inductor" ? "inductor"
                                                : "pass_mgr";
  log.status = graph.status;
  log.reference_form = info.strict_passbench;
  // One line: the log is read line by line.
  log.failure = graph.message;
  std::replace(log.failure.begin(), log.failure.end(), '\n', ' ');
  for (const OutputResult& output : graph.outputs) {
    log.eager_dtypes.push_back(output.eager.dtype);
    if (output.pass) log.compiled_dtypes.push_back(output.pass->dtype);
    if (!graph.times) continue;
    if (output.compared && output.eager.is_tensor) {
      log.outputs.push_back(*output.compared);
    } else {
      bench::Comparison value;
      value.dtype = bench::DType::kInt64;  // a plain value is right or wrong
      value.equal = output.equal_value;
      log.outputs.push_back(value);
    }
  }
  if (graph.times) {
    log.eager = bench::LogTimes{graph.times->eager, graph.eager_gpu};
    log.compiled = bench::LogTimes{graph.times->pass, graph.pass_gpu};
  }
  return log;
}

std::string number(std::optional<double> value, const char* form) {
  return value ? fmt::format(fmt::runtime(form), *value) : "-";
}

using Row = std::array<std::string, 8>;

std::string speedup_text(std::optional<double> speedup, const bench::Interval& interval, bool noisy) {
  if (!speedup) return "-";
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]{}", *speedup, interval.low, interval.high,
                     noisy ? " noisy" : "");
}

Row graph_row(const GraphResult& graph, std::string name) {
  bool ran = graph.times.has_value();
  return {std::move(name),
          std::string(verdict_name(graph.verdict)),
          graph.matched ? "yes" : "no",
          graph.correct_from ? fmt::format("t = {}", *graph.correct_from) : "-",
          number(ran ? std::optional(graph.times->eager.median) : std::nullopt, "{:.4g}"),
          number(ran ? std::optional(graph.times->pass.median) : std::nullopt, "{:.4g}"),
          speedup_text(graph.speedup(), ran ? graph.times->interval : bench::Interval{},
                       ran && graph.times->noisy),
          ""};
}

}  // namespace

Status write_sample_files(const SampleResult& sample, const RunInfo& info, int id) {
  GRAFT_RETURN_IF_ERROR(make_directories(sample.folder));
  std::string log;
  for (size_t i = 0; i < sample.graphs.size(); ++i) {
    const GraphResult& graph = sample.graphs[i];
    std::string folder = graph_folder(sample, i);
    GRAFT_RETURN_IF_ERROR(make_directories(folder));
    if (!graph.rewritten.empty())
      GRAFT_RETURN_IF_ERROR(write_file_atomic(join_path(folder, "model.py"), graph.rewritten));
    GRAFT_RETURN_IF_ERROR(write_file_atomic(join_path(folder, "output.txt"), graph.pass_output));
    log += bench::log_text(log_graph(graph, info));
  }
  GRAFT_RETURN_IF_ERROR(write_file_atomic(join_path(sample.folder, "validation.log"), log));
  if (sample.scores && sample.scores->aggregated) {
    Json score = Json::object({{"id", id}, {"score", *sample.scores->aggregated}});
    GRAFT_RETURN_IF_ERROR(
        write_file_atomic(join_path(sample.folder, "aggregated_score.json"), score.dump(4)));
  }
  Json document = to_json(info, {sample}, false);
  return write_file_atomic(join_path(sample.folder, "result.json"), document.dump(2) + "\n");
}

std::string table(const std::vector<SampleResult>& samples) {
  std::vector<Row> rows = {
      {"sample", "verdict", "matched", "correct from", "eager ms", "pass ms", "speed-up", "score"}};
  for (const SampleResult& sample : samples) {
    Row row;
    if (sample.graphs.size() == 1) {
      row = graph_row(sample.graphs[0], sample.name);
    } else {
      std::optional<int> from = bench::kStrictestLevel;
      bool noisy = false;
      for (const GraphResult& graph : sample.graphs) {
        from =
            from && graph.correct_from ? std::optional(std::max(*from, *graph.correct_from)) : std::nullopt;
        noisy = noisy || (graph.times && graph.times->noisy);
      }
      row = {sample.name,
             std::string(verdict_name(sample.verdict)),
             sample.matched ? "yes" : "no",
             from ? fmt::format("t = {}", *from) : "-",
             "",
             "",
             speedup_text(sample.speedup, sample.interval, noisy),
             ""};
    }
    row[7] = number(sample.scores ? sample.scores->aggregated : std::nullopt, "{:.4f}");
    rows.push_back(std::move(row));
    if (sample.graphs.size() == 1) continue;
    for (const GraphResult& graph : sample.graphs) {
      size_t slash = graph.name.find_last_of('/');
      rows.push_back(graph_row(graph, "  " + graph.name.substr(slash == std::string::npos ? 0 : slash + 1)));
    }
  }
  std::array<size_t, 8> widths{};
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      bool right = i == 4 || i == 5 || i == 7;
      line += right ? fmt::format("{:>{}}", row[i], widths[i]) : fmt::format("{:<{}}", row[i], widths[i]);
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string reasons(const std::vector<SampleResult>& samples) {
  constexpr size_t kLines = 6, kBytes = 1000;
  std::string text;
  for (const SampleResult& sample : samples) {
    for (const GraphResult& graph : sample.graphs) {
      if (graph.message.empty() || (is_right(graph.verdict) && graph.matched)) continue;
      std::string message = graph.message;
      size_t end = 0, lines = 0;
      while (end < message.size() && lines < kLines) {
        size_t feed = message.find('\n', end);
        end = feed == std::string::npos ? message.size() : feed + 1;
        ++lines;
      }
      size_t cut = std::min(end, kBytes);
      while (cut > 0 && cut < message.size() && (static_cast<unsigned char>(message[cut]) & 0xC0) == 0x80)
        --cut;
      if (cut < message.size()) message = message.substr(0, cut) + "...";
      for (size_t feed = message.find('\n'); feed != std::string::npos; feed = message.find('\n', feed + 1))
        message.insert(feed + 1, "    ");
      std::string name = sample.graphs.size() == 1 ? sample.name : sample.name + ", " + graph.name;
      text += fmt::format("{}: {}\n", name, without_controls(message));
    }
  }
  return text;
}

std::string conclusion(const std::vector<SampleResult>& samples, const std::string& folder) {
  std::map<Verdict, int> counts;
  int right = 0;
  for (const SampleResult& sample : samples) {
    ++counts[sample.verdict];
    right += is_right(sample.verdict) ? 1 : 0;
  }
  std::string verdicts;
  for (auto entry = counts.rbegin(); entry != counts.rend(); ++entry)
    verdicts +=
        fmt::format("{}{} {}", verdicts.empty() ? "" : ", ", entry->second, verdict_name(entry->first));
  return fmt::format("{} of {} sample{} right ({}); files in {}", right, samples.size(),
                     samples.size() == 1 ? "" : "s", verdicts.empty() ? "none evaluated" : verdicts, folder);
}

}  // namespace graft::referee
