#include "referee/evaluator.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include <fmt/core.h>

#include "referee/baseline.h"
#include "referee/interrupt.h"
#include "referee/outputs.h"
#include "referee/shared_memory.h"

namespace graft::referee {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

constexpr auto kStartLimit = std::chrono::seconds(180);  // to import torch and ready the device
// Inputs up to this size are compared after the last call.
constexpr size_t kCompareInputsBytes = size_t{64} << 20;
constexpr double kBusyWarmupMsCuda = 50;
constexpr int kGpuRepeats = 20;

// The host's own copy of what a worker exported: one dense buffer laid out like the shared one.
using Bytes = std::vector<std::byte>;

Error interrupted_error() {
  return {ErrorKind::kInterrupted, "interrupted", {}, {}, {}};
}

// Words that are NaN in every floating format of 16 bits and more and no legal bool, and that a candidate
// cannot foresee.
uint64_t poison_word() {
  static std::random_device device;
  uint64_t word = 0;
  for (int lane = 0; lane < 4; ++lane) {
    unsigned bits = device();
    word = word << 16 | 0x7FF0U | (bits & 0x800FU) | 1U;
  }
  return word;
}

void poison(std::span<std::byte> bytes, uint64_t word) {
  for (size_t i = 0; i + sizeof word <= bytes.size(); i += sizeof word)
    std::memcpy(bytes.data() + i, &word, sizeof word);
}

// True when no byte of a slot differs from the poison (slots start at multiples of 64).
bool untouched(std::span<const std::byte> bytes, uint64_t word) {
  std::array<std::byte, sizeof word> pattern;
  std::memcpy(pattern.data(), &word, sizeof word);
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != pattern[i % sizeof word]) return false;
  return !bytes.empty();
}

// " (TEXT)": the last line a process printed, which for Python is the exception that ended it.
std::string last_line(std::string_view output) {
  size_t end = output.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return {};
  output = output.substr(0, end + 1);
  size_t begin = output.find_last_of('\n');
  return fmt::format(" ({})", output.substr(begin == std::string_view::npos ? 0 : begin + 1).substr(0, 500));
}

Json layout_json(const std::vector<TensorSlot>& slots) {
  Json list = Json::array();
  for (const TensorSlot& slot : slots) list.push_back(slot.to_json());
  return list;
}

}  // namespace

// One evaluation: the steps in their order, each of which may settle the verdict and end it.
class Evaluation {
 public:
  Evaluation(Evaluator& owner, const PreparedGraph& graph)
      : owner_(owner), options_(owner.options_), graph_(graph) {}

  Result<GraphResult> run() {
    auto begin = steady_clock::now();
    int64_t waited_before = owner_.trusted_waited_ns();
    result_.name = graph_.folder.entry;
    result_.path = graph_.folder.path;
    result_.model_name = graph_.folder.model_name;
    result_.passes = graph_.passes;
    result_.matched = graph_.matched;
    result_.mode = pass_mode_name(graph_.mode);
    result_.matched_on = graph_.matched_on;
    result_.capture = graph_.capture;
    result_.rewritten = graph_.rewritten;
    result_.strict_passbench = options_.strict_passbench;
    Status status = steps();
    int64_t waited = owner_.trusted_waited_ns() - waited_before;
    if (candidate_) {
      waited += candidate_->waited_ns();
      result_.pass_output += candidate_->finish();
    }
    if (!status.ok()) return std::move(status).error();
    if (!owner_.reference_->alive()) GRAFT_RETURN_IF_ERROR(owner_.restart_reference());
    result_.seconds = duration<double>(steady_clock::now() - begin).count();
    result_.host_ms = result_.seconds * 1e3 - static_cast<double>(waited) / 1e6;
    return std::move(result_);
  }

 private:
  Status steps() {
    if (interrupted()) return interrupted_error();
    if (!settle_statically()) return {};
    GRAFT_ASSIGN_OR_RETURN(candidate_,
                           owner_.start_worker(WorkerOptions::Role::kCandidate,
                                               fmt::format("candidate-{}", owner_.candidates_++)));
    if (options_.inductor_baseline && (!owner_.baseline_ || !owner_.baseline_->alive())) {
      GRAFT_ASSIGN_OR_RETURN(owner_.baseline_,
                             owner_.start_worker(WorkerOptions::Role::kReference, "baseline"));
      fresh_baseline_ = true;
    }
    // Each step returns false once the verdict is settled.
    struct Step {
      const char* name;
      Result<bool> (Evaluation::*run)();
    };
    for (const Step& step :
         {Step{"inputs", &Evaluation::materialize}, Step{"original", &Evaluation::run_original},
          Step{"start_candidate", &Evaluation::await_candidate},
          Step{"rewritten", &Evaluation::run_rewritten}, Step{"timing", &Evaluation::time_both},
          Step{"judgement", &Evaluation::judge}, Step{"profile", &Evaluation::profile},
          Step{"baseline", &Evaluation::time_baseline}}) {
      auto begin = steady_clock::now();
      Result<bool> go_on = (this->*step.run)();
      result_.stages_ms.emplace_back(step.name,
                                     duration<double, std::milli>(steady_clock::now() - begin).count());
      if (!go_on.ok()) return std::move(go_on).error();
      if (!*go_on) break;
    }
    return {};
  }

  Result<bool> await_candidate() {
    Reply hello = candidate_->ready(steady_clock::now() + kStartLimit);
    if (hello.ok()) {
      // A process that still imports torch would disturb the trials. What becomes of it is the baseline's
      // affair.
      if (std::exchange(fresh_baseline_, false)) owner_.baseline_->ready(steady_clock::now() + kStartLimit);
      return true;
    }
    // No pass has been loaded yet: this says nothing about the pass.
    if (interrupted()) return interrupted_error();
    result_.pass_output = candidate_->finish();
    settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault,
           fmt::format("the candidate worker does not start: {}{}", hello.failure->to_string(),
                       last_line(result_.pass_output)));
    return false;
  }

  std::chrono::milliseconds limit() const {
    return std::chrono::milliseconds(static_cast<int64_t>(options_.timeout_seconds * 1000));
  }

  // --- verdicts
  // --------------------------------------------------------------------------------------------------------

  void settle(bench::GraphStatus status, Verdict verdict, std::string message) {
    result_.status = status;
    result_.verdict = verdict;
    result_.message = std::move(message);
  }

  // The verdict on a failure of an arm. An Error only when the user stopped the work.
  Result<bool> settle_failure(bool eager, const WorkerFailure& failure, bool loading) {
    if (failure.kind == WorkerFailure::Kind::kInterrupted) return interrupted_error();
    result_.error_class = failure.error_class;
    result_.traceback = failure.traceback;
    if (eager) {
      settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault,
             "the original graph: " + failure.to_string());
      return false;
    }
    bool timed_out = failure.kind == WorkerFailure::Kind::kTimedOut;
    bool load = loading || failure.stage == "load" || failure.stage == "compile";
    std::string message = failure.to_string();
    if (timed_out) message = fmt::format("not done within {:g} s", options_.timeout_seconds);
    settle(load ? bench::GraphStatus::kCompileFail : bench::GraphStatus::kRuntimeFail,
           timed_out ? Verdict::kTimedOut : Verdict::kCrashed, std::move(message));
    return false;
  }

  bool settle_statically() {
    if (graph_.failure) {
      settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault, graph_.failure->to_string());
      result_.error_class = graph_.failure_class;
      result_.traceback = graph_.failure_traceback;
    } else if (graph_.forbidden) {
      settle(bench::GraphStatus::kCompileFail, Verdict::kForbidden, *graph_.forbidden);
    } else if (graph_.pass_failure) {
      settle(bench::GraphStatus::kCompileFail, Verdict::kCrashed, graph_.pass_failure->to_string());
    } else if (!graph_.matched) {
      settle(bench::GraphStatus::kPassMiss, Verdict::kNoMatch,
             graph_.miss_note.empty() ? "no pass matches" : graph_.miss_note);
      for (const PassUse& use : graph_.passes)
        if (!use.miss.empty()) result_.message += fmt::format("; {}: {}", use.name, use.miss);
    } else {
      return true;
    }
    return false;
  }

  // --- inputs
  // ----------------------------------------------------------------------------------------------------------

  Result<bool> materialize() {
    const bench::MaterializePlan& plan = graph_.plan;
    for (const bench::PlannedTensor& tensor : plan.tensors)
      inputs_.push_back(
          {tensor.meta.name, tensor.meta.dtype, tensor.meta.shape, tensor.offset, tensor.bytes});
    // The reference's buffer is the pristine copy as well: nobody but the host can map it for writing, and
    // only the trusted worker gets it at all.
    for (SharedBuffer* buffer : {&eager_inputs_, &pass_inputs_}) {
      auto made = SharedBuffer::create("graft-inputs", plan.total_bytes, SharedBuffer::Access::kReaderOnly);
      if (!made.ok()) {
        settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault, made.error().to_string());
        return false;
      }
      *buffer = std::move(*made);
    }
    bench::Materialized made = bench::materialize(plan, eager_inputs_.data());
    if (!made.nonfinite.empty()) {
      GRAFT_ASSIGN_OR_RETURN(bool go_on, fill_nonfinite(made.nonfinite));
      if (!go_on) return false;
    }
    refill();
    return true;
  }

  // Infinite and NaN elements are replaced by draws that only torch can make.
  Result<bool> fill_nonfinite(const std::vector<bench::NonfiniteTensor>& tensors) {
    size_t bytes = 0;
    Json list = Json::array();
    for (const bench::NonfiniteTensor& entry : tensors) {
      const bench::PlannedTensor& tensor = graph_.plan.tensors[entry.tensor];
      Json request = inputs_[entry.tensor].to_json();
      request.set("dtype", bench::dtype_name(tensor.meta.dtype));
      request.set("count", static_cast<int64_t>(entry.indices.size()));
      request.set("offset", static_cast<int64_t>(bytes));
      list.push_back(std::move(request));
      bytes += entry.indices.size() * (sizeof(int64_t) + sizeof(double));
    }
    auto buffer = SharedBuffer::create("graft-nonfinite", bytes, SharedBuffer::Access::kReadWrite);
    if (!buffer.ok()) {
      settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault, buffer.error().to_string());
      return false;
    }
    size_t at = 0;
    for (const bench::NonfiniteTensor& entry : tensors) {
      std::memcpy(buffer->data() + at, entry.indices.data(), entry.indices.size() * sizeof(int64_t));
      at += entry.indices.size() * (sizeof(int64_t) + sizeof(double));
    }
    int fd = buffer->fd();
    Reply reply = owner_.reference_->call(
        "nonfinite",
        Json::object({{"tensors", std::move(list)}, {"bytes", static_cast<int64_t>(buffer->size())}}),
        steady_clock::now() + limit(), {&fd, 1});
    if (!reply.ok()) return settle_failure(true, *reply.failure, false);
    at = 0;
    for (const bench::NonfiniteTensor& entry : tensors) {
      std::vector<double> values(entry.indices.size());
      std::memcpy(values.data(), buffer->data() + at + values.size() * sizeof(int64_t),
                  values.size() * sizeof(double));
      at += values.size() * (sizeof(int64_t) + sizeof(double));
      const bench::PlannedTensor& tensor = graph_.plan.tensors[entry.tensor];
      bench::finish_nonfinite(tensor, eager_inputs_.data() + tensor.offset, entry.indices, values);
    }
    return true;
  }

  void refill() { std::memcpy(pass_inputs_.data(), eager_inputs_.data(), graph_.plan.total_bytes); }

  // --- workers
  // ---------------------------------------------------------------------------------------------------------

  Json load_parameters(const std::string& source, const std::string& file, const SharedBuffer& inputs) const {
    return Json::object({{"source", source},
                         {"file", file},
                         {"inputs", layout_json(inputs_)},
                         {"bytes", static_cast<int64_t>(inputs.size())},
                         {"seed_each_call", options_.strict_passbench}});
  }

  Json through_inductor() const { return Json::object({{"inductor", options_.inductor_options}}); }

  // Loads a graph and calls it once. What the worker says of its outputs.
  Result<std::optional<OutputReport>> first_call(bool eager, Json parameters, const SharedBuffer& inputs) {
    Worker& worker = eager ? *owner_.reference_ : *candidate_;
    int fd = inputs.fd();
    auto settled = [&](const WorkerFailure& failure, bool loading) -> Result<std::optional<OutputReport>> {
      GRAFT_RETURN_IF_ERROR(settle_failure(eager, failure, loading));
      return std::optional<OutputReport>();
    };
    Reply loaded = worker.call("load", std::move(parameters), deadline_, {&fd, 1});
    if (!loaded.ok()) return settled(*loaded.failure, true);
    if (auto failure = rings(worker, {BellCommand::kPrepare, BellCommand::kRun}))
      return settled(*failure, false);
    Reply described = worker.call("describe", Json::object(), deadline_);
    if (!described.ok()) return settled(*described.failure, false);
    auto report = read_output_report(described.result);
    if (!report.ok())
      return settled({WorkerFailure::Kind::kProtocol, {}, report.error().message, {}, {}}, false);
    return std::optional(std::move(*report));
  }

  // Serves a fixed row of rings.
  std::optional<WorkerFailure> rings(Worker& worker, std::initializer_list<BellCommand> commands) {
    if (auto failure = worker.send("serve", Json::object(), deadline_)) return failure;
    for (BellCommand command : commands) {
      BellAnswer answer = worker.ring(command, 0, deadline_);
      if (!answer.ok()) return std::move(answer.failure);
    }
    return quit(worker);
  }

  std::optional<WorkerFailure> quit(Worker& worker) {
    BellAnswer answer = worker.ring(BellCommand::kQuit, 0, deadline_);
    if (!answer.ok()) return std::move(answer.failure);
    return worker.receive(deadline_).failure;
  }

  // Gives a worker room for its outputs and, where they are compared, its inputs after the call.
  std::optional<WorkerFailure> send_output_buffer(Worker& worker, const SharedBuffer& buffer) {
    Json outputs = Json::array();
    for (const auto& slot : output_slots_) outputs.push_back(slot ? slot->to_json() : Json());
    int fd = buffer.fd();
    Json parameters = Json::object({{"bytes", static_cast<int64_t>(buffer.size())},
                                    {"outputs", std::move(outputs)},
                                    {"inputs", layout_json(final_inputs_)}});
    return worker.call("outputs", std::move(parameters), deadline_, {&fd, 1}).failure;
  }

  Result<bool> run_original() {
    deadline_ = steady_clock::now() + limit();
    Worker& worker = *owner_.reference_;
    GRAFT_ASSIGN_OR_RETURN(
        auto report,
        first_call(true, load_parameters(graph_.source, graph_.folder.model_file(), eager_inputs_),
                   eager_inputs_));
    if (!report) return false;
    eager_ = std::move(*report);
    result_.inputs_changed = eager_.inputs_changed;
    for (const OutputInfo& info : eager_.outputs) {
      result_.outputs.emplace_back().eager = info;
      if (!info.is_tensor) {
        output_slots_.emplace_back();
        continue;
      }
      auto dtype = bench::dtype_from_name(info.dtype);
      std::optional<TensorSlot> slot;
      if (dtype) slot = place_tensor("", *dtype, info.shape, output_bytes_);
      if (!slot) {
        settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault,
               fmt::format("the original graph returns {}, which cannot be compared", info.to_string()));
        return false;
      }
      output_slots_.push_back(std::move(slot));
    }
    size_t bytes = output_bytes_;
    if (graph_.plan.total_bytes <= kCompareInputsBytes)
      for (const TensorSlot& input : inputs_)
        final_inputs_.push_back(*place_tensor(input.name, input.dtype, input.shape, bytes));
    auto make = [&](SharedBuffer& buffer) {
      auto made = SharedBuffer::create("graft-outputs", bytes, SharedBuffer::Access::kReadWrite);
      if (made.ok())
        buffer = std::move(*made);
      else
        settle(bench::GraphStatus::kEagerFail, Verdict::kMachineFault, made.error().to_string());
      return made.ok();
    };
    SharedBuffer buffer;
    if (!make(buffer) || !make(pass_outputs_)) return false;
    auto failure = send_output_buffer(worker, buffer);
    if (!failure) failure = rings(worker, {BellCommand::kPrepare, BellCommand::kRun, BellCommand::kExport});
    if (failure) return settle_failure(true, *failure, false);
    // Private from here on.
    expected_.assign(buffer.data(), buffer.data() + bytes);
    return true;
  }

  Result<bool> run_rewritten() {
    deadline_ = steady_clock::now() + limit();
    // Behind torch.compile the original is what Dynamo captures; the rewritten graph takes the capture's
    // place.
    bool captured = options_.strict_passbench && options_.candidate == CandidateKind::kPasses;
    Json parameters =
        captured ? load_parameters(graph_.source, graph_.folder.model_file(), pass_inputs_)
                 : load_parameters(graph_.rewritten, "rewritten " + graph_.folder.model_file(), pass_inputs_);
    if (captured) {
      Json leaves = Json::array();
      for (int64_t output : graph_.output_of_leaves) leaves.push_back(output);
      parameters.set("through", Json::object({{"passes", graph_.rewritten}, {"outputs", std::move(leaves)}}));
    }
    Json passes = Json::array();
    for (const Replacement& replacement : graph_.replacements)
      passes.push_back(Json::object(
          {{"symbol", replacement.symbol}, {"name", replacement.pass}, {"path", replacement.path}}));
    parameters.set("passes", std::move(passes));
    Json folders = Json::array();
    for (const std::string& folder : graph_.import_folders) folders.push_back(folder);
    parameters.set("folders", std::move(folders));
    if (options_.candidate == CandidateKind::kInductor) parameters.set("through", through_inductor());
    GRAFT_ASSIGN_OR_RETURN(auto report, first_call(false, std::move(parameters), pass_inputs_));
    if (!report) return false;
    pass_ = std::move(*report);

    for (size_t i = 0; i < std::min(eager_.outputs.size(), pass_.outputs.size()); ++i)
      result_.outputs[i].pass = pass_.outputs[i];
    if (pass_.outputs.size() != eager_.outputs.size()) {
      settle(bench::GraphStatus::kShapeMismatch, Verdict::kWrong,
             fmt::format("{} outputs instead of {}", pass_.outputs.size(), eager_.outputs.size()));
      return false;
    }
    // Types first, of all outputs: the reference's order of complaints.
    for (bool types : {true, false}) {
      for (size_t i = 0; i < eager_.outputs.size(); ++i) {
        const OutputInfo &wanted = eager_.outputs[i], &given = pass_.outputs[i];
        bool same = types ? wanted.dtype == given.dtype && wanted.is_tensor == given.is_tensor
                          : wanted.shape == given.shape;
        if (same) continue;
        settle(types ? bench::GraphStatus::kTypeMismatch : bench::GraphStatus::kShapeMismatch,
               Verdict::kWrong,
               fmt::format("output {} is {} instead of {}", i, given.to_string(), wanted.to_string()));
        return false;
      }
    }
    return true;
  }

  // --- timing and judgement
  // ----------------------------------------------------------------------------------------------

  // The reference counts a noisy phase as failed. Here only who sets its threshold asks for that.
  bool noise_fails() const {
    return options_.strict_passbench && std::getenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD") != nullptr;
  }

  TrialPlan trial_plan() const {
    TrialPlan plan;
    plan.warmup = options_.warmup;
    plan.trials = options_.trials;
    plan.busy_warmup_ms = options_.device == "cuda" ? kBusyWarmupMsCuda : 0;
    plan.refresh_each = !eager_.inputs_changed.empty() || !pass_.inputs_changed.empty();
    plan.budget_seconds = duration<double>(deadline_ - steady_clock::now()).count();
    if (noise_fails()) plan.attempts = 1;
    return plan;
  }

  Result<bool> time_both() {
    Worker &eager = *owner_.reference_, &pass = *candidate_;
    poison_ = poison_word();
    poison(pass_outputs_.bytes(), poison_);
    refill();
    if (auto failure = send_output_buffer(pass, pass_outputs_)) return settle_failure(false, *failure, false);
    if (auto failure = eager.send("serve", Json::object(), deadline_))
      return settle_failure(true, *failure, false);
    if (auto failure = pass.send("serve", Json::object(), deadline_))
      return settle_failure(false, *failure, false);
    TrialPlan plan = trial_plan();
    Measurement measurement;
    auto failed = measure(eager, pass, plan, deadline_, measurement);
    // The last call, on fresh inputs, is the one that is judged.
    std::optional<WorkerFailure> failure;
    if (!failed) {
      refill();
      for (BellCommand command : {BellCommand::kPrepare, BellCommand::kRun, BellCommand::kExport}) {
        BellAnswer answer = pass.ring(command, 0, deadline_);
        if (answer.ok()) continue;
        failed = ArmFailure{false, std::move(*answer.failure)};
        break;
      }
    }
    if (failed && failed->failure.kind == WorkerFailure::Kind::kInterrupted) return interrupted_error();
    if (!failed || !failed->eager) failure = quit(eager);
    if (failed) return settle_failure(failed->eager, failed->failure, false);
    if (failure) return settle_failure(true, *failure, false);
    if ((failure = quit(pass))) return settle_failure(false, *failure, false);
    result_.times = std::move(measurement);
    if (options_.device == "cuda") {
      Json request = Json::object({{"repeats", kGpuRepeats}, {"refresh", plan.refresh_each ? 1 : 0}});
      result_.eager_gpu = gpu_times(eager, request);
      result_.pass_gpu = gpu_times(pass, request);
    }
    return true;
  }

  std::optional<bench::Statistics> gpu_times(Worker& worker, const Json& request) {
    Reply reply = worker.call("gpu_times", request, deadline_);
    std::vector<double> times;
    for (const Json& time : reply.result["ms"].items())
      if (time.is_number()) times.push_back(time.as_double());
    if (times.empty()) return std::nullopt;
    return bench::summarize(times);
  }

  Result<bool> judge() {
    // Copied before it is looked at: the candidate still has the buffer mapped.
    Bytes given(pass_outputs_.data(), pass_outputs_.data() + expected_.size());
    result_.pass_profile = profile_of(*candidate_);
    candidate_->kill();
    bool first = true;
    for (size_t i = 0; i < output_slots_.size(); ++i) {
      OutputResult& output = result_.outputs[i];
      if (output_slots_[i]) {
        compare_tensor(*output_slots_[i], given, output);
      } else {
        output.equal_value = output.eager.value == output.pass->value;
      }
      auto from = output.correct_from();
      if (first)
        result_.correct_from = from;
      else if (!from || !result_.correct_from)
        result_.correct_from = std::nullopt;
      else
        result_.correct_from = std::max(*from, *result_.correct_from);
      first = false;
    }
    if (output_slots_.empty()) result_.correct_from = bench::kStrictestLevel;
    if (!final_inputs_.empty()) {
      bool equal = true;
      for (const TensorSlot& slot : final_inputs_)
        equal =
            equal && std::memcmp(expected_.data() + slot.offset, given.data() + slot.offset, slot.bytes) == 0;
      result_.inputs_mutated_equal = equal;
    }
    const Measurement& times = *result_.times;
    if (noise_fails() && times.noisy) {
      bool eager = bench::is_noisy(times.eager);
      settle(eager ? bench::GraphStatus::kEagerFail : bench::GraphStatus::kRuntimeFail, Verdict::kNoisy,
             fmt::format("iqr/median of the {} phase is above {:g}, which the reference counts as a failure",
                         eager ? "eager" : "compiled", bench::noise_threshold()));
    } else if (!result_.correct_from || *result_.correct_from > options_.correct_at) {
      settle(bench::GraphStatus::kAccuracy, Verdict::kWrong, wrong_message());
    } else {
      settle(bench::GraphStatus::kCorrect,
             speed_verdict(times.speedup, times.interval.low, times.interval.high, times.noisy), {});
    }
    return true;
  }

  Profile profile_of(Worker& worker) {
    Profile profile;
    if (options_.device != "cuda") return profile;
    Reply reply = worker.call("profile", Json::object(), deadline_);
    if (const Json& bytes = reply.result["peak_bytes"]; bytes.is_number())
      profile.peak_bytes = bytes.as_int();
    if (const Json& launches = reply.result["launches"]; launches.is_number())
      profile.launches = launches.as_int();
    return profile;
  }

  // What both arms must at least move: every input read and every output written once.
  Result<bool> profile() {
    result_.eager_profile = profile_of(*owner_.reference_);
    result_.least_bytes = 0;
    for (const TensorSlot& input : inputs_) result_.least_bytes += static_cast<int64_t>(input.bytes);
    for (const auto& output : output_slots_)
      if (output) result_.least_bytes += static_cast<int64_t>(output->bytes);
    return true;
  }

  Result<bool> time_baseline() {
    if (!options_.inductor_baseline) return true;
    deadline_ = steady_clock::now() + limit();
    Json load = load_parameters(graph_.source, graph_.folder.model_file(), eager_inputs_);
    load.set("through", through_inductor());
    BaselineRequest request{.name = "inductor",
                            .load = std::move(load),
                            .inputs = eager_inputs_,
                            .outputs = output_slots_,
                            .expected = expected_,
                            .plan = trial_plan(),
                            .deadline = deadline_};
    result_.inductor = measure_baseline(*owner_.reference_, *owner_.baseline_, request);
    if (!result_.inductor) return interrupted_error();
    return true;
  }

  void compare_tensor(const TensorSlot& slot, Bytes& given, OutputResult& output) {
    std::span<std::byte> bytes(given.data() + slot.offset, slot.bytes);
    const std::byte* expected = expected_.data() + slot.offset;
    if (slot.bytes > 0) output.written = !untouched(bytes, poison_);
    // A bool is 0 or 1; any other byte came from elsewhere and agrees with nothing.
    if (slot.dtype == bench::DType::kBool)
      for (size_t i = 0; i < bytes.size(); ++i)
        if (std::to_integer<unsigned>(bytes[i]) > 1)
          bytes[i] = expected[i] == std::byte{0} ? std::byte{1} : std::byte{0};
    output.compared = bench::compare_tensors(
        slot.dtype, expected, bytes.data(), slot.count(),
        options_.strict_passbench ? bench::CompareMode::kStrictPassBench : bench::CompareMode::kDefault);
  }

  std::string wrong_message() const {
    std::string message;
    for (size_t i = 0; i < result_.outputs.size(); ++i) {
      const OutputResult& output = result_.outputs[i];
      auto from = output.correct_from();
      if (from && *from <= options_.correct_at) continue;
      if (!message.empty()) message += "; ";
      message += fmt::format("output {} is ", i);
      if (!output.written)
        message += "not written";
      else if (!output.compared)
        message += fmt::format("{} instead of {}", output.pass->value, output.eager.value);
      else
        message += fmt::format("off by up to {:.3g} (element {})", output.compared->max_diff,
                               output.compared->worst_index);
      message += from ? fmt::format(", correct from t = {}", *from) : ", correct at no t";
    }
    return message;
  }

  Evaluator& owner_;
  const EvaluationOptions& options_;
  const PreparedGraph& graph_;
  GraphResult result_;
  std::unique_ptr<Worker> candidate_;
  Deadline deadline_;
  std::vector<TensorSlot> inputs_, final_inputs_;
  std::vector<std::optional<TensorSlot>> output_slots_;
  size_t output_bytes_ = 0;
  SharedBuffer eager_inputs_, pass_inputs_, pass_outputs_;
  OutputReport eager_, pass_;
  Bytes expected_;
  uint64_t poison_ = 0;
  bool fresh_baseline_ = false;
};

Result<std::unique_ptr<Evaluator>> Evaluator::start(const EvaluationOptions& options) {
  std::unique_ptr<Evaluator> evaluator(new Evaluator(options));
  GRAFT_ASSIGN_OR_RETURN(evaluator->python_, find_python_environment());
  GRAFT_ASSIGN_OR_RETURN(TemporaryDirectory scratch, TemporaryDirectory::create("graft-run"));
  evaluator->scratch_ = std::make_unique<TemporaryDirectory>(std::move(scratch));
  GRAFT_ASSIGN_OR_RETURN(evaluator->reference_,
                         evaluator->start_worker(WorkerOptions::Role::kReference, "reference"));
  return evaluator;
}

Evaluator::~Evaluator() = default;

Result<std::unique_ptr<Worker>> Evaluator::start_worker(WorkerOptions::Role role, const std::string& name) {
  WorkerOptions options;
  options.role = role;
  options.python = {python_.executable};
  options.environment = worker_environment();
  auto set = [&](const std::string& variable, const std::string& value) {
    std::erase_if(options.environment, [&](const auto& pair) { return pair.first == variable; });
    options.environment.emplace_back(variable, value);
  };
  for (const auto& [variable, value] : python_.variables()) set(variable, value);
  set("PYTHONUNBUFFERED", "1");         // what a candidate printed before it died is kept
  set("PYTHONDONTWRITEBYTECODE", "1");  // samples stay as they are
  set("PYTHONSAFEPATH", "1");
  // Otherwise torch.compile starts processes of its own, which import torch while times are taken.
  set("TORCHINDUCTOR_COMPILE_THREADS", "1");
  options.directory = join_path(scratch_->path(), name);
  GRAFT_RETURN_IF_ERROR(make_directories(options.directory));
  options.device = options_.device;
  options.threads = options_.threads;
  // With CPUs to spare the host spins through most calls; otherwise it would take one from the threads of
  // torch.
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  int busy = options_.device == "cuda" ? 1 : options_.threads > 0 ? options_.threads : count;
  if (busy + 2 <= count) options.host_spin_ns = 2'000'000;
  if (count == 1) options.host_spin_ns = options.worker_spin_ns = 0;
  return Worker::start(options);
}

Status Evaluator::ready(RunInfo& info) {
  Reply hello = reference_->ready(steady_clock::now() + kStartLimit);
  if (!hello.ok()) {
    if (interrupted()) return interrupted_error();
    std::string output = reference_->finish();
    std::string hint = options_.device == "cuda"
                           ? "see `graft doctor`; `--device cpu` needs no GPU"
                           : "install torch for this Python, or name another with GRAFT_PYTHON";
    return missing_error(fmt::format("the Python worker ({}) does not start: {}{}", python_.executable,
                                     hello.failure->to_string(), last_line(output)),
                         hint);
  }
  info.device = options_.device;
  info.hardware = hello.result["hardware"].as_string();
  info.python_version = hello.result["python"].as_string();
  info.torch_version = hello.result["torch"].as_string();
  info.threads = static_cast<int>(hello.result["threads"].as_int());
  Reply bandwidth = reference_->call("bandwidth", Json::object(), steady_clock::now() + kStartLimit);
  if (bandwidth.ok()) info.bytes_per_second = bandwidth.result["bytes_per_second"].as_double();
  for (const Json& cpu : hello.result["cpus"].items()) info.cpus.push_back(static_cast<int>(cpu.as_int()));
  return {};
}

int64_t Evaluator::trusted_waited_ns() const {
  return reference_->waited_ns() + (baseline_ ? baseline_->waited_ns() : 0);
}

Status Evaluator::restart_reference() {
  GRAFT_ASSIGN_OR_RETURN(reference_, start_worker(WorkerOptions::Role::kReference, "reference"));
  RunInfo ignored;
  return ready(ignored);
}

Result<Worker*> Evaluator::reference() {
  if (!reference_->alive()) GRAFT_RETURN_IF_ERROR(restart_reference());
  return reference_.get();
}

Deadline Evaluator::deadline() const {
  return steady_clock::now() +
         std::chrono::milliseconds(static_cast<int64_t>(options_.timeout_seconds * 1000));
}

Result<GraphResult> Evaluator::evaluate(const PreparedGraph& graph) {
  GRAFT_RETURN_IF_ERROR(reference());
  return Evaluation(*this, graph).run();
}

}  // namespace graft::referee
