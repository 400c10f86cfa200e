// graft bench run: evaluates the passes of samples against the original graphs.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/core.h>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/graph_common.h"
#include "referee/captures.h"
#include "referee/evaluator.h"
#include "referee/interrupt.h"
#include "referee/prepare.h"
#include "referee/result.h"
#include "referee/strays.h"

namespace graft::cli {
namespace {

using referee::PreparedSample;
using referee::SampleResult;

struct Options {
  std::vector<std::string> samples;
  std::string pass_dir;
  std::string const_pass_dir;
  std::string graph_list;
  std::string out;
  std::string candidate = "passes";
  std::string inductor_options;
  std::string baseline = "eager";
  int function_limit = -1;
  int pattern_limit = -1;
  std::string mode = "normalized";
  bool no_trace = false;
  referee::EvaluationOptions evaluation;
};

// The words of `candidate`, `baseline` and `inductor_options`, settled.
Status settle(Options& options) {
  using referee::CandidateKind;
  options.evaluation.candidate = options.candidate == "identity"   ? CandidateKind::kIdentity
                                 : options.candidate == "inductor" ? CandidateKind::kInductor
                                                                   : CandidateKind::kPasses;
  options.evaluation.inductor_baseline = false;
  std::string_view rest = options.baseline;
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "inductor")
      options.evaluation.inductor_baseline = true;
    else if (word != "eager")
      return input_error(fmt::format("'{}' is no baseline", word), {}, "eager, inductor, or eager,inductor");
  }
  // The reference matches on what Dynamo captures.
  if (options.evaluation.strict_passbench) options.mode = "passbench";
  if (options.inductor_options.empty()) return {};
  GRAFT_ASSIGN_OR_RETURN(options.evaluation.inductor_options,
                         Json::parse(options.inductor_options, "--inductor-options"));
  if (!options.evaluation.inductor_options.is_object())
    return input_error("--inductor-options is no JSON object", {},
                       R"({"fullgraph": bool, "dynamic": bool, "mode": text, "options": object})");
  for (const auto& [key, value] : options.evaluation.inductor_options.members())
    if (key != "fullgraph" && key != "dynamic" && key != "mode" && key != "options")
      return input_error(fmt::format("--inductor-options has an unknown key '{}'", key), {},
                         "fullgraph, dynamic, mode or options");
  return {};
}

std::string utc_now(const char* form) {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof text, form, &parts);
  return text;
}

// Results of two runs never mix.
Status check_is_new(const std::string& folder) {
  if (!is_directory(folder)) return {};
  GRAFT_ASSIGN_OR_RETURN(auto entries, list_directory(folder));
  if (entries.empty()) return {};
  return input_error(fmt::format("the folder '{}' is not empty", folder), {},
                     "a new or empty folder for --out");
}

Result<std::string> make_run_folder(const std::string& asked) {
  std::string folder =
      asked.empty() ? fmt::format("graft_results/{}-{}", utc_now("%Y%m%dT%H%M%SZ"), getpid()) : asked;
  GRAFT_RETURN_IF_ERROR(check_is_new(folder));
  GRAFT_RETURN_IF_ERROR(make_directories(folder));
  return std::filesystem::absolute(folder).lexically_normal().string();
}

Result<std::vector<PreparedSample>> prepare(const Options& options) {
  // Without passes to find, a graph folder is a sample as it is.
  bool with_pass_dir = !options.pass_dir.empty() || !options.graph_list.empty() ||
                       options.evaluation.candidate != referee::CandidateKind::kPasses;
  for (const auto& [name, value] :
       {std::pair<const char*, const std::string&>{"--pass-dir", options.pass_dir},
        {"--const-pass-dir", options.const_pass_dir},
        {"--graph-list", options.graph_list}})
    if (!value.empty() && options.samples.size() > 1)
      return input_error(fmt::format("{} goes with one sample", name), {}, "one SAMPLE");
  if (!options.pass_dir.empty() && !is_directory(options.pass_dir))
    return input_error(fmt::format("'{}' is not a folder", options.pass_dir), {},
                       "a folder of passes for --pass-dir");
  GRAFT_ASSIGN_OR_RETURN(auto paths, referee::find_samples(options.samples, with_pass_dir));
  bench::SampleOptions sample_options;
  sample_options.pass_dir = options.pass_dir;
  sample_options.const_pass_dir = options.const_pass_dir;
  sample_options.graph_list = options.graph_list;
  sample_options.need_passes = options.evaluation.candidate == referee::CandidateKind::kPasses;
  referee::PrepareOptions prepare_options;
  prepare_options.device = options.evaluation.device;
  prepare_options.candidate = options.evaluation.candidate;
  prepare_options.function_limit = options.function_limit;
  prepare_options.pattern_limit = options.pattern_limit;
  prepare_options.mode =
      options.mode == "passbench" ? referee::PassMode::kPassbench : referee::PassMode::kNormalized;
  prepare_options.trace = trace_options(options.no_trace);
  prepare_options.strict_passbench = options.evaluation.strict_passbench;
  std::vector<PreparedSample> prepared;
  for (const std::string& path : paths) {
    GRAFT_ASSIGN_OR_RETURN(PreparedSample sample,
                           referee::prepare_sample(path, sample_options, prepare_options));
    for (const referee::PreparedGraph& graph : sample.graphs) {
      for (const referee::PassUse& pass : graph.passes) note_traced(pass.path, pass.traced);
      if (!graph.passes.empty()) break;
    }
    prepared.push_back(std::move(sample));
  }
  return prepared;
}

// One graph, with what the mode asks of Dynamo: before the evaluation where patterns are matched on the
// capture, behind it where the report only says how the text differs, so that no measurement comes after
// Dynamo's work.
Result<referee::GraphResult> evaluate(referee::Evaluator& evaluator, const referee::CaptureStore& store,
                                      const PreparedSample& sample, referee::CandidateKind kind,
                                      referee::PreparedGraph graph) {
  // Without a pass nothing is matched.
  if (kind != referee::CandidateKind::kPasses) return evaluator.evaluate(graph);
  if (graph.mode == referee::PassMode::kPassbench) {
    GRAFT_RETURN_IF_ERROR(referee::match_on_capture(store, evaluator, sample.passes, graph));
    return evaluator.evaluate(graph);
  }
  GRAFT_ASSIGN_OR_RETURN(referee::GraphResult result, evaluator.evaluate(graph));
  // Of an original that does not run nothing can be captured.
  if (graph.matched && result.verdict != referee::Verdict::kMachineFault) {
    GRAFT_ASSIGN_OR_RETURN(result.capture, referee::compare_with_capture(store, evaluator, graph));
  }
  return result;
}

// A folder name of its own for each sample.
std::string folder_name(const std::string& sample, std::set<std::string>& taken) {
  std::string name = sample.empty() || sample == "." || sample == ".." ? "sample" : sample;
  for (char& c : name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", name, i);
  return unique;
}

Result<int> run(const Context& context, Options options) {
  GRAFT_RETURN_IF_ERROR(settle(options));
  // Before anything is started.
  if (!options.out.empty()) GRAFT_RETURN_IF_ERROR(check_is_new(options.out));
  // Also of what a traced pass left behind.
  referee::adopt_orphans();
  GRAFT_ASSIGN_OR_RETURN(std::vector<PreparedSample> prepared, prepare(options));
  referee::InterruptScope interrupts;
  referee::RunInfo info;
  info.warmup = options.evaluation.warmup;
  info.trials = options.evaluation.trials;
  info.timeout_seconds = options.evaluation.timeout_seconds;
  info.correct_at = options.evaluation.correct_at;
  info.candidate = options.candidate;
  info.strict_passbench = options.evaluation.strict_passbench;
  info.mode = options.mode;
  info.started = utc_now("%Y-%m-%dT%H:%M:%SZ");
  GRAFT_ASSIGN_OR_RETURN(auto evaluator, referee::Evaluator::start(options.evaluation));
  GRAFT_RETURN_IF_ERROR(evaluator->ready(info));
  GRAFT_ASSIGN_OR_RETURN(info.folder, make_run_folder(options.out));
  std::string cpus;
  for (int cpu : info.cpus) cpus += fmt::format("{}{}", cpus.empty() ? "" : ",", cpu);
  log_info(fmt::format("torch {} on {} ({}), {} thread{} on CPUs {} for both arms", info.torch_version,
                       info.device, info.hardware, info.threads, info.threads == 1 ? "" : "s", cpus));

  const referee::CaptureStore captures(info.torch_version, info.device);
  size_t total = 0, done = 0;
  for (const PreparedSample& sample : prepared) total += sample.graphs.size();
  std::vector<SampleResult> results;
  std::set<std::string> taken;
  bool stopped = false;
  for (size_t i = 0; i < prepared.size() && !stopped; ++i) {
    const PreparedSample& sample = prepared[i];
    SampleResult result;
    result.name = sample.sample.name;
    result.path = sample.sample.path;
    result.pass_dir = sample.sample.pass_dir;
    result.folder = join_path(info.folder, folder_name(result.name, taken));
    for (const referee::PreparedGraph& graph : sample.graphs) {
      log_progress(fmt::format("[{}/{}] {} {}", ++done, total, result.name, graph.folder.entry));
      Result<referee::GraphResult> evaluated =
          evaluate(*evaluator, captures, sample, options.evaluation.candidate, graph);
      if (!evaluated.ok()) {
        if (evaluated.error().kind != ErrorKind::kInterrupted) return std::move(evaluated).error();
        stopped = true;
        break;
      }
      result.graphs.push_back(std::move(*evaluated));
    }
    // A sample stopped halfway is not a result.
    if (stopped) break;
    GRAFT_RETURN_IF_ERROR(result.settle());
    GRAFT_RETURN_IF_ERROR(write_sample_files(result, info, static_cast<int>(i) + 1));
    results.push_back(std::move(result));
  }
  end_progress();

  Json document = to_json(info, results, stopped);
  GRAFT_RETURN_IF_ERROR(write_file_atomic(join_path(info.folder, "result.json"), document.dump(2) + "\n"));
  if (context.json) {
    print_json(document);
  } else {
    std::string reasons = referee::reasons(results);
    fmt::print("{}\n{}{}{}{}\n", referee::table(results), reasons, reasons.empty() ? "" : "\n",
               stopped ? "interrupted: " : "", referee::conclusion(results, info.folder));
  }
  if (stopped) return exit_code(ErrorKind::kInterrupted);
  for (const SampleResult& result : results)
    if (!result.matched || !is_right(result.verdict)) return 1;
  return 0;
}

}  // namespace

Command bench_run_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "bench run";
  command.summary = "evaluates passes: match, correctness at every tolerance, speed-up, score";
  command.details =
      "A SAMPLE is a sample folder (graph_list.txt, graphs, pass_dir/), a graph folder with --pass-dir, or a "
      "folder of samples.\n"
      "Exit code 0 when every sample matched and is right, 1 when one is not, 2 when a file is wrong and "
      "nothing was started.";
  command.options = {
      {.name = "SAMPLE", .help = "what to evaluate", .list = &options->samples, .required = true},
      {.name = "--device",
       .help = "where the graphs run",
       .text = &options->evaluation.device,
       .choices = {"cpu", "cuda"}},
      {.name = "--warmup",
       .help = "calls before the trials",
       .number = &options->evaluation.warmup,
       .minimum = 0},
      {.name = "--trials",
       .help = "timed calls of each arm",
       .number = &options->evaluation.trials,
       .minimum = 1},
      {.name = "--timeout",
       .help = "seconds a graph may take",
       .real = &options->evaluation.timeout_seconds,
       .minimum = 0.01,
       .maximum = 1e6},
      {.name = "--threads",
       .help = "torch threads of both arms; 0: torch's choice",
       .number = &options->evaluation.threads,
       .minimum = 0},
      {.name = "--correct-at",
       .help = "tolerance level (-10 to 5) at which outputs must agree",
       .number = &options->evaluation.correct_at,
       .minimum = -10,
       .maximum = 5},
      {.name = "--mode",
       .help = "how patterns are matched: normalized or passbench",
       .text = &options->mode,
       .choices = {"normalized", "passbench"}},
      {.name = "--pass-dir",
       .help = "passes of this folder instead of the sample's pass_dir",
       .text = &options->pass_dir},
      {.name = "--const-pass-dir",
       .help = "built-in passes of this folder instead of the sample's const_pass_dir",
       .text = &options->const_pass_dir},
      {.name = "--graph-list",
       .help = "the graphs named in this file, below SAMPLE, instead of those of its graph_list.txt",
       .text = &options->graph_list},
      {.name = "--function-limit",
       .help = "different replacement functions that passes may have; the first stay (-1: any number)",
       .number = &options->function_limit,
       .minimum = -1},
      {.name = "--pattern-limit",
       .help = "passes that are used; the first stay (-1: any number)",
       .number = &options->pattern_limit,
       .minimum = -1},
      {.name = "--candidate",
       .help = "what is compared with the original: the passes; the original graph printed back, a control "
               "(identity); torch.compile (inductor)",
       .text = &options->candidate,
       .choices = {"passes", "identity", "inductor"}},
      {.name = "--inductor-options",
       .help = "arguments of torch.compile as a JSON object: fullgraph, dynamic, mode, options",
       .text = &options->inductor_options},
      {.name = "--baseline",
       .help = "what the passes are measured beside: eager, or eager,inductor",
       .text = &options->baseline},
      {.name = "--strict-passbench",
       .help =
           "times and classes as the reference evaluator has them: through torch.compile, seeding inside the "
           "timed call",
       .flag = &options->evaluation.strict_passbench},
      {.name = "--out",
       .help = "folder for results, new or empty (default: graft_results/TIME-PID)",
       .text = &options->out},
      no_trace_option(&options->no_trace),
  };
  command.run = [options](const Context& context) { return run(context, *options); };
  return command;
}

}  // namespace graft::cli
