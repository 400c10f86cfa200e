#include "referee/worker.h"

#include <fcntl.h>

#include <algorithm>
#include <new>

#include <fmt/core.h>

#include "base/utf8.h"
#include "referee/interrupt.h"
#include "referee/strays.h"

namespace graft::referee {
namespace {

constexpr int kChannelFd = 3;  // numbers in the worker
constexpr int kDoorbellFd = 4;
constexpr auto kSlice =
    std::chrono::milliseconds(20);  // between looks at the process while waiting for its bell
constexpr auto kReceiveSlice = std::chrono::milliseconds(100);
constexpr auto kEndGrace =
    std::chrono::milliseconds(2000);  // for a process to end after it closed its channel

std::string clipped(const Json& text, size_t bytes) {
  std::string result = text.as_string();
  if (result.size() <= bytes) return result;
  size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0) == 0x80) --end;
  return result.substr(0, end) + " ...";
}

}  // namespace

std::string WorkerFailure::to_string() const {
  return error_class.empty() ? message : message.empty() ? error_class : error_class + ": " + message;
}

Result<std::unique_ptr<Worker>> Worker::start(const WorkerOptions& options) {
  std::unique_ptr<Worker> worker(new Worker);
  GRAFT_ASSIGN_OR_RETURN(auto ends, Channel::create());
  worker->channel_ = std::move(ends.first);
  GRAFT_ASSIGN_OR_RETURN(worker->bell_page_, SharedBuffer::create("graft-doorbell", kDoorbellBytes,
                                                                  SharedBuffer::Access::kReadWrite));
  worker->bell_ = HostBell(new (worker->bell_page_.data()) DoorbellPage);
  GRAFT_ASSIGN_OR_RETURN(worker->output_, OutputCapture::start(options.max_output));
  worker->spin_ns_ = options.host_spin_ns;

  ProcessOptions process;
  process.argv = options.python;
  const char* role = options.role == WorkerOptions::Role::kReference ? "reference" : "candidate";
  for (std::string argument :
       {std::string("-m"), std::string("graft.worker"), std::string(role), options.device,
        std::to_string(options.threads), std::to_string(options.worker_spin_ns)})
    process.argv.push_back(std::move(argument));
  process.directory = options.directory;
  process.clear_environment = true;
  process.environment = options.environment;
  process.descriptors = {{ends.second.get(), kChannelFd}, {worker->bell_page_.fd(), kDoorbellFd}};
  process.stdout_fd = worker->output_.write_fd();
  process.stderr_fd = worker->output_.write_fd();
  GRAFT_ASSIGN_OR_RETURN(worker->process_, Process::start(process));
  keep_child(worker->process_.pid());
  worker->output_.close_write_end();
  worker->alive_ = true;
  return worker;
}

Worker::~Worker() {
  kill();
}

void Worker::kill() {
  if (!alive_) return;
  alive_ = false;
  end_ = process_.kill_group().to_string();
  forget_child(process_.pid());
  kill_strays();
}

std::string Worker::finish() {
  kill();
  return output_.finish();
}

WorkerFailure Worker::fail(WorkerFailure::Kind kind, std::string message) {
  kill();
  return {kind, {}, std::move(message), {}, {}};
}

WorkerFailure Worker::ended() {
  if (!alive_) return fail(WorkerFailure::Kind::kDied, end_.empty() ? "has ended" : "ended by " + end_);
  std::optional<ExitStatus> status = process_.wait(kEndGrace);
  std::string how = status ? "ended by " + status->to_string() : "closed its channel";
  return fail(WorkerFailure::Kind::kDied, std::move(how));
}

Reply Worker::ready(Deadline deadline) {
  return receive(deadline);
}

std::optional<WorkerFailure> Worker::send(const std::string& method, Json parameters, Deadline deadline,
                                          std::span<const int> descriptors) {
  if (!alive_) return ended();
  ++next_id_;
  Json request = Json::object({{"id", next_id_},
                               {"method", method},
                               {"deadline_ms", int64_t{time_left(deadline).count()}},
                               {"params", std::move(parameters)}});
  if (channel_.send(request, descriptors, deadline)) return std::nullopt;
  if (interrupted()) return fail(WorkerFailure::Kind::kInterrupted, "interrupted");
  if (!channel_.closed() && time_left(deadline).count() == 0)
    return fail(WorkerFailure::Kind::kTimedOut, fmt::format("did not read the request '{}' in time", method));
  return ended();
}

Reply Worker::receive(Deadline deadline) {
  if (!alive_) return {ended(), {}};
  Received received;
  for (;;) {
    // In slices: a descendant may hold the channel open after the worker is gone.
    Deadline slice = std::min(deadline, std::chrono::steady_clock::now() + kReceiveSlice);
    bool running = process_.running();
    int64_t begin = doorbell_detail::now_ns();
    received = channel_.receive(running ? slice : std::chrono::steady_clock::now());
    waited_ns_ += doorbell_detail::now_ns() - begin;
    if (received.kind != Received::Kind::kTimedOut) break;
    if (!running) return {ended(), {}};
    if (time_left(deadline).count() == 0) break;
  }
  switch (received.kind) {
    case Received::Kind::kMalformed:
      return {fail(WorkerFailure::Kind::kProtocol, "sent a malformed line: " + received.detail), {}};
    case Received::Kind::kClosed:
      return {ended(), {}};
    case Received::Kind::kTimedOut:
      return {fail(WorkerFailure::Kind::kTimedOut, "no answer before the deadline"), {}};
    case Received::Kind::kInterrupted:
      return {fail(WorkerFailure::Kind::kInterrupted, "interrupted"), {}};
    case Received::Kind::kLine:
      break;
  }
  const Json& message = received.message;
  if (!message["id"].is_int() || message["id"].as_int() != next_id_)
    return {fail(WorkerFailure::Kind::kProtocol, "answered a request that was not asked"), {}};
  if (const Json* error = message.find("error"); error != nullptr) {
    if (!error->is_object())
      return {fail(WorkerFailure::Kind::kProtocol, "sent an error that is not an object"), {}};
    return {WorkerFailure{WorkerFailure::Kind::kRaised, clipped((*error)["class"], 200),
                          clipped((*error)["message"], 4000), clipped((*error)["traceback"], 20000),
                          clipped((*error)["stage"], 40)},
            {}};
  }
  const Json* result = message.find("result");
  if (result == nullptr)
    return {fail(WorkerFailure::Kind::kProtocol, "sent neither a result nor an error"), {}};
  return {std::nullopt, *result};
}

Reply Worker::call(const std::string& method, Json parameters, Deadline deadline,
                   std::span<const int> descriptors) {
  if (auto failure = send(method, std::move(parameters), deadline, descriptors))
    return {std::move(failure), {}};
  return receive(deadline);
}

BellAnswer Worker::ring(BellCommand command, uint32_t argument, Deadline deadline) {
  if (!alive_) return {ended(), 0};
  int64_t start = bell_.ring(command, argument);
  int64_t spin = spin_ns_, waiting_since = start;
  for (;;) {
    auto slice = std::min<std::chrono::nanoseconds>(kSlice, time_left(deadline));
    std::optional<int64_t> stop = bell_.wait(spin, slice.count());
    waited_ns_ += (stop ? *stop : doorbell_detail::now_ns()) - waiting_since;
    waiting_since = doorbell_detail::now_ns();
    if (stop) {
      if (bell_.outcome() == BellOutcome::kDone) return {std::nullopt, *stop - start};
      Reply reply = receive(deadline);
      if (reply.ok()) return {fail(WorkerFailure::Kind::kProtocol, "reported a failure without a reason"), 0};
      return {std::move(reply.failure), 0};
    }
    spin = 0;
    if (interrupted()) return {fail(WorkerFailure::Kind::kInterrupted, "interrupted"), 0};
    if (!process_.running() || channel_.closed()) return {ended(), 0};
    if (time_left(deadline).count() == 0)
      return {fail(WorkerFailure::Kind::kTimedOut, "no answer before the deadline"), 0};
  }
}

}  // namespace graft::referee
