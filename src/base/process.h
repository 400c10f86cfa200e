// Child processes: one-shot runs with a deadline, and long-lived children. Every child leads a process group
// of its own, and ending it means ending the whole group.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace graft {

// Looks `name` up on the PATH ($PATH, else /usr/bin:/bin) as execvp does. A name with a '/' is returned as it
// is when executable. Empty when there is none.
std::string find_on_path(const std::string& name);

// How a child ended. Exactly one of `exited` and `signaled` is set once it has.
struct ExitStatus {
  std::optional<int> exited;    // exit code
  std::optional<int> signaled;  // number of the signal that ended it
  bool success() const { return exited == 0; }
  // "exit code 3", "signal 11 (Segmentation fault)".
  std::string to_string() const;
};

struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0] is looked up on PATH unless it holds a '/'
  std::string directory;          // working folder; empty: this process's
  bool clear_environment = false;
  std::vector<std::pair<std::string, std::string>>
      environment;  // set on top of the inherited (or cleared) environment
  // Descriptors the child gets: {ours, number in the child}. All others but 0 to 2 are closed.
  std::vector<std::pair<int, int>> descriptors;
  int stdout_fd = -1;  // where the child's stdout goes; -1: /dev/null. run_process() replaces both by pipes.
  int stderr_fd = -1;
  bool die_with_parent = true;  // SIGKILL when the thread that started it ends, or its process does
};

// A running child. The destructor kills its group and reaps it.
class Process {
 public:
  // Fails with kMissing when argv[0] cannot be found or executed. The child's stdin is /dev/null.
  static Result<Process> start(const ProcessOptions& options);

  Process() = default;
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  bool running();
  // Waits until the child ends or the time is over; nullopt when it still runs.
  std::optional<ExitStatus> wait(std::chrono::milliseconds timeout);
  // SIGKILL to the whole group, then reaps the child. Returns how it ended (an earlier end is kept).
  ExitStatus kill_group();

 private:
  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

struct ProcessOutput {
  ExitStatus status;
  bool timed_out = false;
  bool truncated = false;  // a stream was longer than max_output; its tail was dropped
  std::string out;
  std::string err;
  double seconds = 0;
};

// Runs a child to its end, feeding `input` to its stdin and collecting both output streams. At the deadline
// the group is killed and what was printed is returned with timed_out set. Fails only when the child could
// not be started.
Result<ProcessOutput> run_process(const ProcessOptions& options, std::chrono::milliseconds timeout,
                                  std::string_view input = {}, size_t max_output = size_t{1} << 20);

}  // namespace graft
