#include "referee/output_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <thread>

#include <fmt/core.h>

namespace graft::referee {

struct OutputCapture::State {
  UniqueFd read_end, write_end, stop;
  size_t max_bytes = 0;
  std::string text;
  uint64_t dropped = 0;
  std::thread thread;

  // Reads what is there. False at the end of the pipe.
  bool drain(size_t limit) {
    char buffer[1 << 14];
    for (size_t total = 0; total < limit;) {
      ssize_t count = read(read_end.get(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return true;
      if (count <= 0) return false;
      size_t room = max_bytes - text.size();
      size_t kept = std::min(room, static_cast<size_t>(count));
      text.append(buffer, kept);
      dropped += static_cast<size_t>(count) - kept;
      total += static_cast<size_t>(count);
    }
    return true;
  }

  void run() {
    constexpr size_t kSlice = size_t{1} << 20;
    for (;;) {
      pollfd entries[2] = {{read_end.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
      if (poll(entries, 2, -1) < 0 && errno != EINTR) return;
      // Bounded, so that a writer outside the group cannot keep this thread from seeing the stop.
      if (!drain(kSlice)) return;
      if (entries[1].revents != 0) return;
    }
  }
};

OutputCapture::OutputCapture() = default;
OutputCapture::OutputCapture(OutputCapture&&) noexcept = default;
OutputCapture& OutputCapture::operator=(OutputCapture&& other) noexcept {
  if (this != &other) {
    finish();
    state_ = std::move(other.state_);
  }
  return *this;
}
OutputCapture::~OutputCapture() {
  finish();
}

Result<OutputCapture> OutputCapture::start(size_t max_bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return os_error("create a pipe", "", errno);
  OutputCapture capture;
  capture.state_ = std::make_unique<State>();
  State& state = *capture.state_;
  state.read_end.reset(ends[0]);
  state.write_end.reset(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  state.stop.reset(eventfd(0, EFD_CLOEXEC));
  if (!state.stop) return os_error("create an event descriptor", "", errno);
  state.max_bytes = max_bytes;
  // Signals belong to the main thread, whose waits they must interrupt.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  state.thread = std::thread([&state] { state.run(); });
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return capture;
}

int OutputCapture::write_fd() const {
  return state_->write_end.get();
}

void OutputCapture::close_write_end() {
  state_->write_end.reset();
}

std::string OutputCapture::finish() {
  if (!state_) return {};
  std::unique_ptr<State> state = std::move(state_);
  state->write_end.reset();
  uint64_t one = 1;
  ssize_t ignored = write(state->stop.get(), &one, sizeof one);
  (void)ignored;
  if (state->thread.joinable()) state->thread.join();
  if (state->dropped > 0) state->text += fmt::format("\n[{} more bytes were dropped]\n", state->dropped);
  return std::move(state->text);
}

}  // namespace graft::referee
