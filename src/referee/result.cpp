#include "referee/result.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/version.h"
#include "bench/log_writer.h"

namespace graft::referee {
namespace {

Json optional_int(std::optional<int> value) {
  return value ? Json(*value) : Json();
}
Json optional_double(std::optional<double> value) {
  return value ? Json(*value) : Json();
}

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(value);
  return list;
}

Json to_json(const bench::Interval& interval) {
  return Json::object({{"low", interval.low}, {"high", interval.high}});
}

Json to_json(const Measurement::Handshake& handshake) {
  return Json::object({{"spinning_ms", handshake.spinning_ms}, {"sleeping_ms", handshake.sleeping_ms}});
}

Json to_json(const OutputInfo& info) {
  Json json = Json::object({{"dtype", info.dtype}});
  if (info.is_tensor) json.set("shape", list_of(info.shape));
  if (info.stride) json.set("stride", list_of(*info.stride));
  if (!info.value.empty()) json.set("value", info.value);
  if (!info.aliases.empty()) json.set("aliases", list_of(info.aliases));
  return json;
}

Json to_json(const OutputResult& output) {
  Json json = Json::object({{"eager", to_json(output.eager)},
                            {"pass", output.pass ? to_json(*output.pass) : Json()},
                            {"correct_from", optional_int(output.correct_from())},
                            {"written", output.written}});
  if (output.compared) {
    const bench::Comparison& compared = *output.compared;
    json.set("equal", compared.equal);
    json.set("max_diff", compared.max_diff);
    json.set("mean_diff", compared.mean_diff);
    json.set("relative_l2", compared.relative_l2);
    json.set("nonfinite_mismatches", compared.nonfinite_mismatches);
    json.set("worst_index", compared.worst_index);
  }
  return json;
}

// Without what the graph says itself: `differences`.
Json to_json(const CaptureReport& capture) {
  Json breaks = Json::array();
  for (const CaptureReport::Break& entry : capture.breaks)
    breaks.push_back(Json::object({{"reason", entry.reason},
                                   {"file", entry.file.empty() ? Json() : Json(entry.file)},
                                   {"line", entry.line > 0 ? Json(entry.line) : Json()},
                                   {"function", entry.function.empty() ? Json() : Json(entry.function)}}));
  Json matches = Json::array();
  for (size_t count : capture.matches) matches.push_back(static_cast<int64_t>(count));
  return Json::object(
      {{"graphs", static_cast<int64_t>(capture.graphs)},
       {"breaks", std::move(breaks)},
       {"matches", std::move(matches)},
       {"cannot_rewrite", capture.cannot_rewrite.empty() ? Json() : Json(capture.cannot_rewrite)},
       {"error", capture.error.empty()
                     ? Json()
                     : Json::object({{"class", capture.error_class}, {"message", capture.error}})}});
}

Json to_json(const PassUse& use) {
  return Json::object({{"name", use.name},
                       {"path", use.path},
                       {"matches", use.matches},
                       {"miss", use.miss.empty() ? Json() : Json(use.miss)},
                       {"traced", !use.traced.empty()},
                       {"traced_because", use.traced.empty() ? Json() : Json(use.traced)}});
}

Json profile_json(const GraphResult& graph) {
  auto side = [&](const Profile& profile, double ms) {
    double seconds = ms / 1e3;
    return Json::object({{"peak_bytes", profile.peak_bytes ? Json(*profile.peak_bytes) : Json()},
                         {"launches", profile.launches ? Json(*profile.launches) : Json()},
                         {"bytes_per_second",
                          seconds > 0 ? Json(static_cast<double>(graph.least_bytes) / seconds) : Json()}});
  };
  if (!graph.times) return {};
  return Json::object({{"least_bytes", graph.least_bytes},
                       {"eager", side(graph.eager_profile, graph.times->eager.median)},
                       {"pass", side(graph.pass_profile, graph.times->pass.median)}});
}

}  // namespace

std::optional<int> OutputResult::correct_from() const {
  if (!pass || !written) return std::nullopt;
  if (equal_value) return bench::kStrictestLevel;
  return compared ? compared->correct_from() : std::nullopt;
}

std::optional<double> GraphResult::speedup() const {
  return times ? std::optional(times->speedup) : std::nullopt;
}

bench::ScoredGraph GraphResult::scored() const {
  bench::ScoredGraph graph;
  graph.graph = name;
  // Whether a graph that ran is correct is asked at each level, not only at the one that decides the verdict.
  graph.status = strict_passbench ? bench::status_in_reference_log(status) : status;
  if (graph.status == bench::GraphStatus::kAccuracy) graph.status = bench::GraphStatus::kCorrect;
  // As the log carries it, so that scores read back from validation.log are these.
  if (times) graph.speedup = std::round(times->speedup * 1e5) / 1e5;
  graph.set_correct_from(correct_from);
  return graph;
}

Status SampleResult::settle() {
  std::vector<Verdict> verdicts;
  std::vector<bench::ScoredGraph> scored;
  double log_speedup = 0, log_low = 0, log_high = 0;
  int measured = 0;
  bool noisy = false;
  matched = !graphs.empty();
  for (const GraphResult& graph : graphs) {
    verdicts.push_back(graph.verdict);
    scored.push_back(graph.scored());
    matched = matched && graph.matched;
    if (!graph.times || graph.times->speedup <= 0) continue;
    log_speedup += std::log(graph.times->speedup);
    log_low += std::log(std::max(graph.times->interval.low, 1e-12));
    log_high += std::log(std::max(graph.times->interval.high, 1e-12));
    noisy = noisy || graph.times->noisy;
    ++measured;
  }
  if (measured > 0) {
    speedup = std::exp(log_speedup / measured);
    interval = {std::exp(log_low / measured), std::exp(log_high / measured)};
  }
  verdict = graphs.empty() ? Verdict::kMachineFault : worst(verdicts);
  if (is_right(verdict)) {
    verdict = speedup ? speed_verdict(*speedup, interval.low, interval.high, noisy) : Verdict::kMachineFault;
  }
  GRAFT_ASSIGN_OR_RETURN(scores, bench::score(scored));
  return {};
}

Json to_json(const GraphResult& graph) {
  Json json = Json::object({{"name", graph.name},
                            {"path", graph.path},
                            {"status", bench::status_name(graph.status)},
                            {"verdict", verdict_name(graph.verdict)},
                            {"matched", graph.matched},
                            {"correct_from", optional_int(graph.correct_from)}});
  std::optional<double> gpu;
  if (graph.eager_gpu && graph.pass_gpu) gpu = bench::speedup(*graph.eager_gpu, *graph.pass_gpu);
  json.set("speedup",
           Json::object({{"e2e", optional_double(graph.speedup())}, {"gpu", optional_double(gpu)}}));
  if (graph.times) {
    const Measurement& times = *graph.times;
    json.set("speedup_interval", to_json(times.interval));
    json.set("eager_ms", times.eager.median);
    json.set("pass_ms", times.pass.median);
    json.set("noisy", times.noisy);
    json.set("timing",
             Json::object({{"eager", bench::to_json(times.eager)},
                           {"pass", bench::to_json(times.pass)},
                           {"eager_gpu", graph.eager_gpu ? bench::to_json(*graph.eager_gpu) : Json()},
                           {"pass_gpu", graph.pass_gpu ? bench::to_json(*graph.pass_gpu) : Json()},
                           {"warmup", times.warmup},
                           {"trials", times.trials},
                           {"attempts", times.attempts},
                           {"eager_handshake", to_json(times.eager_handshake)},
                           {"pass_handshake", to_json(times.pass_handshake)},
                           {"eager_trials_ms", list_of(times.eager_ms)},
                           {"pass_trials_ms", list_of(times.pass_ms)}}));
  } else {
    json.set("speedup_interval", Json());
    json.set("eager_ms", Json());
    json.set("pass_ms", Json());
    json.set("noisy", false);
    json.set("timing", Json());
  }
  json.set("profile", profile_json(graph));
  Json baselines = Json::array();
  if (graph.inductor) baselines.push_back(graph.inductor->to_json());
  json.set("baselines", std::move(baselines));
  json.set("message", graph.message.empty() ? Json() : Json(graph.message));
  json.set("error", graph.error_class.empty()
                        ? Json()
                        : Json::object({{"class", graph.error_class}, {"traceback", graph.traceback}}));
  json.set("mode", graph.mode);
  json.set("matched_on", graph.matched_on.empty() ? Json() : Json(graph.matched_on));
  bool captured = graph.capture && graph.capture->error.empty();
  json.set("differences", captured ? list_of(graph.capture->differences) : Json());
  json.set("capture", graph.capture ? to_json(*graph.capture) : Json());
  Json passes = Json::array(), outputs = Json::array();
  for (const PassUse& use : graph.passes) passes.push_back(to_json(use));
  for (const OutputResult& output : graph.outputs) outputs.push_back(to_json(output));
  json.set("passes", std::move(passes));
  json.set("outputs", std::move(outputs));
  json.set("inputs_changed", list_of(graph.inputs_changed));
  json.set("inputs_mutated_equal", graph.inputs_mutated_equal ? Json(*graph.inputs_mutated_equal) : Json());
  json.set("host_ms", graph.host_ms);
  Json stages = Json::object();
  for (const auto& [stage, ms] : graph.stages_ms) stages.set(stage, ms);
  json.set("stages_ms", std::move(stages));
  json.set("seconds", graph.seconds);
  return json;
}

Json to_json(const SampleResult& sample) {
  Json graphs = Json::array();
  double host_ms = 0;
  for (size_t i = 0; i < sample.graphs.size(); ++i) {
    Json graph = to_json(sample.graphs[i]);
    if (!sample.folder.empty()) {
      std::string folder = graph_folder(sample, i);
      graph.set(
          "files",
          Json::object({{"model", sample.graphs[i].rewritten.empty() ? Json() : Json(folder + "/model.py")},
                        {"output", folder + "/output.txt"}}));
    }
    graphs.push_back(std::move(graph));
    host_ms += sample.graphs[i].host_ms;
  }
  bool aggregated = sample.scores && sample.scores->aggregated;
  Json json = Json::object({{"name", sample.name},
                            {"path", sample.path},
                            {"pass_dir", sample.pass_dir},
                            {"verdict", verdict_name(sample.verdict)},
                            {"matched", sample.matched},
                            {"graphs", std::move(graphs)},
                            {"speedup", optional_double(sample.speedup)},
                            {"speedup_interval", sample.speedup ? to_json(sample.interval) : Json()},
                            {"es", sample.scores ? bench::es_json(*sample.scores) : Json()},
                            {"s", sample.scores ? bench::s_json(*sample.scores) : Json()},
                            {"score", aggregated ? Json(*sample.scores->aggregated) : Json()},
                            {"host_ms", host_ms}});
  if (!sample.folder.empty())
    json.set("files",
             Json::object({{"folder", sample.folder},
                           {"result", sample.folder + "/result.json"},
                           {"log", sample.folder + "/validation.log"},
                           {"score", aggregated ? Json(sample.folder + "/aggregated_score.json") : Json()}}));
  return json;
}

namespace {

Json head(const RunInfo& info) {
  return Json::object(
      {{"schema", "graft/bench-run/v1"},
       {"graft", kVersion},
       {"started", info.started},
       {"device", info.device},
       {"hardware", info.hardware},
       {"python", info.python_version},
       {"torch", info.torch_version},
       {"threads", info.threads},
       {"cpus", list_of(info.cpus)},
       {"warmup", info.warmup},
       {"trials", info.trials},
       {"timeout", info.timeout_seconds},
       {"correct_at", info.correct_at},
       {"timing", info.strict_passbench ? "passbench" : "graft"},
       {"mode", info.mode},
       {"candidate", info.candidate},
       {"copy_bytes_per_second", info.bytes_per_second > 0 ? Json(info.bytes_per_second) : Json()},
       {"folder", info.folder}});
}

}  // namespace

Json to_json(const RunInfo& info, const std::vector<SampleResult>& samples, bool interrupted) {
  Json document = head(info);
  document.set("interrupted", interrupted);
  Json list = Json::array();
  for (const SampleResult& sample : samples) list.push_back(to_json(sample));
  document.set("samples", std::move(list));
  return document;
}

std::string graph_folder(const SampleResult& sample, size_t index) {
  return sample.graphs.size() == 1 ? sample.folder : fmt::format("{}/graph_{}", sample.folder, index);
}

}  // namespace graft::referee
