// A worker: a Python process that runs graphs for the referee, asked over its channel and timed over its
// doorbell.
//
// The reference worker is trusted and lives for a whole command. A candidate worker runs untrusted code,
// lives for one graph, and can do nothing to the host but fail: whatever it sends, prints or does ends as a
// WorkerFailure. A worker that fails in any way but raising an ordinary exception has been killed with its
// whole process group by the time the failure is returned.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/doorbell.h"
#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "base/worker_environment.h"
#include "referee/channel.h"
#include "referee/output_capture.h"
#include "referee/shared_memory.h"

namespace graft::referee {

struct WorkerFailure {
  enum class Kind {
    kRaised,       // the request raised in Python; the worker lives on
    kDied,         // the process ended, or closed its channel
    kTimedOut,     // no answer before the deadline
    kProtocol,     // it answered something that is not an answer
    kInterrupted,  // the user asked to stop
  };
  Kind kind;
  std::string error_class;  // Python's class name for kRaised, else empty
  std::string message;      // one line
  std::string traceback;    // for kRaised; may be empty
  // The exception's class as the worker classed it ("load", "run", "memory", ...); only for kRaised.
  std::string stage;

  // "TypeError: ...", "ended by signal 11 (Segmentation fault)", ...
  std::string to_string() const;
};

struct Reply {
  std::optional<WorkerFailure> failure;
  Json result;
  bool ok() const { return !failure; }
};

struct BellAnswer {
  std::optional<WorkerFailure> failure;
  int64_t elapsed_ns = 0;  // from the ring to the answer, by the host's clock
  bool ok() const { return !failure; }
};

// Longer than a sleeping process takes to wake up.
inline constexpr int64_t kWorkerSpinNs = 2'000'000;

struct WorkerOptions {
  enum class Role { kReference, kCandidate };
  Role role = Role::kReference;
  std::vector<std::string> python;                               // the interpreter and its options
  std::vector<std::pair<std::string, std::string>> environment;  // the whole environment of the worker
  std::string directory;                                         // working folder
  std::string device = "cpu";                                    // "cpu" or "cuda"
  int threads = 0;  // torch's intra-op threads; 0: torch's own choice
  // How long each side spins before it sleeps. The worker must spin over the moment in which the host wakes
  // up from the answer before, or its own waking would be timed.
  int64_t host_spin_ns = 50'000;
  int64_t worker_spin_ns = kWorkerSpinNs;
  size_t max_output = size_t{1} << 20;
};

class Worker {
 public:
  // Starts the process; it imports torch in the background. Only ready() waits for that.
  static Result<std::unique_ptr<Worker>> start(const WorkerOptions& options);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Waits until the worker has said hello. Its description of itself: {"python", "torch", "threads",
  // "device", "hardware"}.
  Reply ready(Deadline deadline);

  // One request and its reply. `descriptors` travel with it.
  Reply call(const std::string& method, Json parameters, Deadline deadline,
             std::span<const int> descriptors = {});

  // Sends a request whose reply is fetched later; used around a stretch of rings.
  std::optional<WorkerFailure> send(const std::string& method, Json parameters, Deadline deadline,
                                    std::span<const int> descriptors = {});
  // The reply to the last request sent.
  Reply receive(Deadline deadline);

  // Rings the doorbell and waits. When the worker answers that it failed, its reply to the pending request is
  // fetched and returned as the failure.
  BellAnswer ring(BellCommand command, uint32_t argument, Deadline deadline);

  // Kills the process group. Further calls fail with kDied.
  void kill();
  bool alive() const { return alive_; }
  // How long a ring is waited for by spinning; a longer wait ends with the host waking up from sleep.
  int64_t host_spin_ns() const { return spin_ns_; }
  // Nanoseconds this object has spent waiting for the process, over its life.
  int64_t waited_ns() const { return waited_ns_; }
  pid_t pid() const { return process_.pid(); }

  // Kills the worker and returns what it printed.
  std::string finish();

 private:
  Worker() = default;
  WorkerFailure fail(WorkerFailure::Kind kind, std::string message);
  // The failure of a worker whose channel has closed.
  WorkerFailure ended();

  Process process_;
  Channel channel_;
  OutputCapture output_;
  SharedBuffer bell_page_;
  HostBell bell_;
  int64_t spin_ns_ = 0;
  int64_t next_id_ = 0;
  int64_t waited_ns_ = 0;
  bool alive_ = false;
  std::string end_;  // how it ended, once it has
};

}  // namespace graft::referee
