#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/core.h>

#include "base/file.h"

extern char** environ;

namespace graft {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> child_environment(const ProcessOptions& options) {
  std::vector<std::string> result;
  auto overridden = [&](std::string_view entry) {
    std::string_view name = entry.substr(0, entry.find('='));
    return std::any_of(options.environment.begin(), options.environment.end(),
                       [&](const auto& pair) { return pair.first == name; });
  };
  if (!options.clear_environment)
    for (char** entry = environ; *entry != nullptr; ++entry)
      if (!overridden(*entry)) result.emplace_back(*entry);
  for (const auto& [name, value] : options.environment) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

ExitStatus decode(int status) {
  ExitStatus result;
  if (WIFSIGNALED(status))
    result.signaled = WTERMSIG(status);
  else
    result.exited = WEXITSTATUS(status);
  return result;
}

bool set_nonblocking(int fd) {
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const ProcessOptions& options, const char* program, char* const* argv,
                         char* const* envp, int stdin_fd, int error_fd, pid_t parent) {
  setpgid(0, 0);
  if (options.die_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) signal(number, SIG_DFL);

  auto fail = [&](int code) {
    ssize_t ignored = write(error_fd, &code, sizeof code);
    (void)ignored;
    _exit(127);
  };
  // Every source is first moved out of the way of the target numbers, since a target may be another source.
  constexpr int kHigh = 200;
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  struct Move {
    int from, to;
  };
  Move moves[32];
  size_t count = 0;
  auto add = [&](int from, int to) {
    if (count == 32) fail(E2BIG);
    int high = fcntl(from, F_DUPFD_CLOEXEC, kHigh);
    if (high < 0) fail(errno);
    moves[count++] = {high, to};
  };
  int high_error_fd = fcntl(error_fd, F_DUPFD_CLOEXEC, kHigh);
  if (high_error_fd < 0) fail(errno);
  error_fd = high_error_fd;
  add(stdin_fd >= 0 ? stdin_fd : null_fd, STDIN_FILENO);
  add(options.stdout_fd >= 0 ? options.stdout_fd : null_fd, STDOUT_FILENO);
  add(options.stderr_fd >= 0 ? options.stderr_fd : null_fd, STDERR_FILENO);
  for (const auto& [ours, theirs] : options.descriptors) add(ours, theirs);
  int highest = STDERR_FILENO;
  for (size_t i = 0; i < count; ++i) {
    if (dup2(moves[i].from, moves[i].to) < 0) fail(errno);
    highest = std::max(highest, moves[i].to);
  }
  for (int fd = 3; fd <= highest; ++fd) {
    bool wanted = false;
    for (size_t i = 0; i < count; ++i) wanted = wanted || moves[i].to == fd;
    if (!wanted) close(fd);
  }
  // Marks the rest close-on-exec rather than closing it: the error pipe must live until exec succeeds.
  constexpr unsigned kCloseRangeCloexec = 4;
  if (syscall(SYS_close_range, highest + 1, ~0U, kCloseRangeCloexec) != 0) {
    for (int fd = highest + 1; fd < 1024; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) fail(errno);
  execve(program, argv, envp);
  fail(errno);
  _exit(127);
}

Result<pid_t> spawn(const ProcessOptions& options, int stdin_fd) {
  if (options.argv.empty()) return fault("no command to start");
  // A path is left to exec, whose answer says more than "absent".
  std::string program = options.argv[0];
  if (program.find('/') == std::string::npos) program = find_on_path(program);
  if (program.empty())
    return missing_error(fmt::format("program '{}' is not on the PATH", options.argv[0]),
                         "install it or put its folder on the PATH");
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = child_environment(options);
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> envp = pointers(environment);
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return os_error("create a pipe", "", errno);
  UniqueFd error_read(error_pipe[0]), error_write(error_pipe[1]);
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return os_error("start a process", program, errno);
  if (pid == 0)
    become(options, program.c_str(), argv.data(), envp.data(), stdin_fd, error_write.get(), parent);
  setpgid(pid, pid);  // also here: the group must exist before anyone kills it
  error_write.reset();
  int code = 0;
  ssize_t count;
  do count = read(error_read.get(), &code, sizeof code);
  while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof code)) {
    waitpid(pid, nullptr, 0);
    return missing_error(fmt::format("cannot start '{}': {}", program, std::strerror(code)),
                         "check the file and its first line");
  }
  return pid;
}

}  // namespace

std::string find_on_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (true) {
    size_t colon = rest.find(':');
    std::string_view folder = rest.substr(0, colon);
    std::string candidate = join_path(folder.empty() ? std::string_view(".") : folder, name);
    if (is_executable(candidate)) return candidate;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

std::string ExitStatus::to_string() const {
  if (exited) return fmt::format("exit code {}", *exited);
  if (signaled) return fmt::format("signal {} ({})", *signaled, strsignal(*signaled));
  return "still running";
}

Result<Process> Process::start(const ProcessOptions& options) {
  GRAFT_ASSIGN_OR_RETURN(pid_t pid, spawn(options, -1));
  Process process;
  process.pid_ = pid;
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(std::exchange(other.status_, {})) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() {
  if (pid_ > 0 && !status_) kill_group();
}

bool Process::running() {
  return pid_ > 0 && !wait(std::chrono::milliseconds(0));
}

std::optional<ExitStatus> Process::wait(std::chrono::milliseconds timeout) {
  if (status_ || pid_ <= 0) return status_;
  auto deadline = Clock::now() + timeout;
  auto pause = std::chrono::microseconds(200);
  while (true) {
    int status = 0;
    pid_t done = waitpid(pid_, &status, WNOHANG);
    if (done == pid_) {
      status_ = decode(status);
      return status_;
    }
    if (done < 0 && errno != EINTR) {
      status_ = ExitStatus{127, {}};  // reaped by somebody else
      return status_;
    }
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
  }
}

ExitStatus Process::kill_group() {
  if (pid_ <= 0) return {};
  if (!status_) wait(std::chrono::milliseconds(0));
  kill(-pid_, SIGKILL);  // group members may outlive their leader
  if (!status_) {
    kill(pid_, SIGKILL);
    int status = 0;
    pid_t done;
    do done = waitpid(pid_, &status, 0);
    while (done < 0 && errno == EINTR);
    status_ = done == pid_ ? decode(status) : ExitStatus{127, {}};
  }
  return *status_;
}

Result<ProcessOutput> run_process(const ProcessOptions& options, std::chrono::milliseconds timeout,
                                  std::string_view input, size_t max_output) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) != 0) return os_error("create a pipe", "", errno);
  UniqueFd in_read(in[0]), in_write(in[1]);
  if (pipe2(out, O_CLOEXEC) != 0) return os_error("create a pipe", "", errno);
  UniqueFd out_read(out[0]), out_write(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return os_error("create a pipe", "", errno);
  UniqueFd err_read(err[0]), err_write(err[1]);

  auto started = Clock::now();
  ProcessOptions piped = options;
  piped.stdout_fd = out_write.get();
  piped.stderr_fd = err_write.get();
  GRAFT_ASSIGN_OR_RETURN(pid_t pid, spawn(piped, in_read.get()));
  in_read.reset();
  out_write.reset();
  err_write.reset();
  set_nonblocking(in_write.get());
  set_nonblocking(out_read.get());
  set_nonblocking(err_read.get());

  // A write into a pipe whose reader is gone must give EPIPE, not end this process; only this thread is
  // shielded.
  sigset_t pipe_set, old_set;
  sigemptyset(&pipe_set);
  sigaddset(&pipe_set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_set, &old_set);

  ProcessOutput result;
  std::optional<int> raw_status;
  auto deadline = started + timeout;
  auto drain = [&](UniqueFd& fd, std::string& into) {
    char buffer[1 << 14];
    while (true) {
      ssize_t count = read(fd.get(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) {
        fd.reset();
        return;
      }
      size_t room = max_output - std::min(max_output, into.size());
      if (static_cast<size_t>(count) > room) result.truncated = true;
      into.append(buffer, std::min(static_cast<size_t>(count), room));
    }
  };
  if (input.empty()) in_write.reset();
  // A descendant that left the group may keep the pipes open after the child is gone, so the end of the
  // child, not the end of its output, ends the loop.
  while (true) {
    int status = 0;
    if (!raw_status && waitpid(pid, &status, WNOHANG) == pid) raw_status = status;
    if (out_read) drain(out_read, result.out);
    if (err_read) drain(err_read, result.err);
    if (raw_status) break;
    auto now = Clock::now();
    if (now >= deadline) {
      result.timed_out = true;
      break;
    }
    if (in_write) {
      ssize_t count = write(in_write.get(), input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<size_t>(count));
      if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) in_write.reset();
    }
    pollfd polls[3];
    nfds_t count = 0;
    if (out_read) polls[count++] = {out_read.get(), POLLIN, 0};
    if (err_read) polls[count++] = {err_read.get(), POLLIN, 0};
    if (in_write) polls[count++] = {in_write.get(), POLLOUT, 0};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now).count();
    // Without a pidfd in every supported kernel the child's end is polled; both pipes closing usually
    // announces it.
    poll(polls, count, static_cast<int>(std::clamp<long long>(left, 1, count == 0 ? 2 : 20)));
  }
  kill(-pid, SIGKILL);
  if (!raw_status) {
    int status = 0;
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    raw_status = status;
    if (out_read) drain(out_read, result.out);
    if (err_read) drain(err_read, result.err);
  }
  timespec no_wait{};
  while (sigtimedwait(&pipe_set, nullptr, &no_wait) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &old_set, nullptr);
  result.status = decode(*raw_status);
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return result;
}

}  // namespace graft
