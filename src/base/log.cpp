#include "base/log.h"

#include <unistd.h>

#include <chrono>
#include <mutex>
#include <string>

#include <fmt/core.h>

namespace graft {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
  std::mutex mutex;
  Verbosity verbosity = Verbosity::kNormal;
  bool terminal = isatty(STDERR_FILENO) == 1;
  bool line_open = false;
  Clock::time_point last_progress{};
};

State& state() {
  static State instance;
  return instance;
}

void write_line(State& log, std::string_view prefix, std::string_view text) {
  std::string line = log.line_open ? "\r\x1b[K" : "";
  line += prefix;
  line += text;
  line += '\n';
  log.line_open = false;
  fmt::print(stderr, "{}", line);
}

}  // namespace

void set_verbosity(Verbosity verbosity) {
  state().verbosity = verbosity;
}
Verbosity verbosity() {
  return state().verbosity;
}

void log_info(std::string_view text) {
  State& log = state();
  std::lock_guard guard(log.mutex);
  if (log.verbosity != Verbosity::kQuiet) write_line(log, "", text);
}

void log_warning(std::string_view text) {
  State& log = state();
  std::lock_guard guard(log.mutex);
  if (log.verbosity != Verbosity::kQuiet) write_line(log, "warning: ", text);
}

void log_verbose(std::string_view text) {
  State& log = state();
  std::lock_guard guard(log.mutex);
  if (log.verbosity == Verbosity::kVerbose) write_line(log, "", text);
}

void log_progress(std::string_view text) {
  State& log = state();
  std::lock_guard guard(log.mutex);
  if (log.verbosity == Verbosity::kQuiet) return;
  auto now = Clock::now();
  if (log.terminal) {
    if (log.line_open && now - log.last_progress < std::chrono::milliseconds(50)) return;
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
    log.line_open = true;
  } else {
    if (log.last_progress != Clock::time_point{} && now - log.last_progress < std::chrono::seconds(5)) return;
    write_line(log, "", text);
  }
  log.last_progress = now;
}

void end_progress() {
  State& log = state();
  std::lock_guard guard(log.mutex);
  if (!log.line_open) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  log.line_open = false;
}

}  // namespace graft
