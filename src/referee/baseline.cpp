#include "referee/baseline.h"

#include <algorithm>
#include <chrono>

#include "bench/compare.h"

namespace graft::referee {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

// The steps, each of which says how it failed, if it did.
class Baseline {
 public:
  Baseline(Worker& eager, Worker& worker, const BaselineRequest& request, BaselineResult& result)
      : eager_(eager), worker_(worker), request_(request), result_(result) {}

  std::optional<WorkerFailure> run() {
    int fd = request_.inputs.fd();
    auto begin = steady_clock::now();
    if (Reply reply = worker_.call("load", request_.load, request_.deadline, {&fd, 1}); !reply.ok())
      return std::move(reply.failure);
    if (auto failure = serve(worker_, {BellCommand::kPrepare, BellCommand::kRun})) return failure;
    result_.first_call_ms = duration<double, std::milli>(steady_clock::now() - begin).count();
    if (auto failure = compare()) return failure;
    for (Worker* worker : {&eager_, &worker_})
      if (auto failure = worker->send("serve", Json::object(), request_.deadline)) return failure;
    Measurement times;
    auto failed = measure(eager_, worker_, request_.plan, request_.deadline, times);
    if (failed) {
      if (!failed->eager) quit(eager_);
      return std::move(failed->failure);
    }
    for (Worker* worker : {&eager_, &worker_})
      if (auto failure = quit(*worker)) return failure;
    result_.times = std::move(times);
    return std::nullopt;
  }

 private:
  std::optional<WorkerFailure> serve(Worker& worker, std::initializer_list<BellCommand> commands) {
    if (auto failure = worker.send("serve", Json::object(), request_.deadline)) return failure;
    for (BellCommand command : commands)
      if (BellAnswer answer = worker.ring(command, 0, request_.deadline); !answer.ok())
        return std::move(answer.failure);
    return quit(worker);
  }

  std::optional<WorkerFailure> quit(Worker& worker) {
    BellAnswer answer = worker.ring(BellCommand::kQuit, 0, request_.deadline);
    if (!answer.ok()) return std::move(answer.failure);
    return worker.receive(request_.deadline).failure;
  }

  std::optional<WorkerFailure> compare() {
    auto buffer =
        SharedBuffer::create("graft-baseline", request_.expected.size(), SharedBuffer::Access::kReadWrite);
    if (!buffer.ok())
      return WorkerFailure{WorkerFailure::Kind::kProtocol, {}, buffer.error().message, {}, {}};
    Json slots = Json::array();
    for (const auto& slot : request_.outputs) slots.push_back(slot ? slot->to_json() : Json());
    int fd = buffer->fd();
    Json parameters = Json::object({{"bytes", static_cast<int64_t>(buffer->size())},
                                    {"outputs", std::move(slots)},
                                    {"inputs", Json::array()}});
    if (Reply reply = worker_.call("outputs", std::move(parameters), request_.deadline, {&fd, 1});
        !reply.ok())
      return std::move(reply.failure);
    if (auto failure = serve(worker_, {BellCommand::kPrepare, BellCommand::kRun, BellCommand::kExport}))
      return failure;
    result_.correct_from = bench::kStrictestLevel;
    for (const auto& slot : request_.outputs) {
      if (!slot) continue;
      auto from = bench::compare_tensors(slot->dtype, request_.expected.data() + slot->offset,
                                         buffer->data() + slot->offset, slot->count())
                      .correct_from();
      result_.correct_from =
          from && result_.correct_from ? std::optional(std::max(*from, *result_.correct_from)) : std::nullopt;
    }
    return std::nullopt;
  }

  Worker& eager_;
  Worker& worker_;
  const BaselineRequest& request_;
  BaselineResult& result_;
};

}  // namespace

Json BaselineResult::to_json() const {
  Json json = Json::object({{"name", name}});
  json.set("ms", times ? Json(times->pass.median) : Json());
  json.set("eager_ms", times ? Json(times->eager.median) : Json());
  json.set("speedup", times ? Json(times->speedup) : Json());
  json.set("speedup_interval",
           times ? Json::object({{"low", times->interval.low}, {"high", times->interval.high}}) : Json());
  json.set("noisy", times && times->noisy);
  json.set("correct_from", correct_from ? Json(*correct_from) : Json());
  json.set("first_call_ms", first_call_ms);
  json.set("failure", failure.empty() ? Json() : Json(failure));
  return json;
}

std::optional<BaselineResult> measure_baseline(Worker& eager, Worker& baseline,
                                               const BaselineRequest& request) {
  BaselineResult result;
  result.name = request.name;
  auto failure = Baseline(eager, baseline, request, result).run();
  if (failure && failure->kind == WorkerFailure::Kind::kInterrupted) return std::nullopt;
  if (failure)
    result.failure =
        failure->kind == WorkerFailure::Kind::kTimedOut ? "not done in time" : failure->to_string();
  return result;
}

}  // namespace graft::referee
