// The line protocol's transport: one JSON object a line over a Unix stream socket, file descriptors beside
// the lines.
//
// Everything that arrives is treated as written by an adversary: lines are bounded, JSON is checked,
// descriptors sent to the host are dropped by the kernel because the host never offers room for them.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace graft::referee {

using Deadline = std::chrono::steady_clock::time_point;

// Time left, at least zero.
std::chrono::milliseconds time_left(Deadline deadline);

// What became of waiting for a line.
struct Received {
  enum class Kind {
    kLine,         // `message` is a JSON object
    kMalformed,    // a line that is no JSON object, or one that is too long; `detail` says which
    kClosed,       // the other side closed its end (or ended)
    kTimedOut,     // nothing complete before the deadline
    kInterrupted,  // the user asked to stop
  };
  Kind kind = Kind::kTimedOut;
  Json message;
  std::string detail;
};

class Channel {
 public:
  // The longest line accepted, in bytes.
  static constexpr size_t kMaxLine = size_t{4} << 20;

  // The host's end, and the descriptor for the other process.
  static Result<std::pair<Channel, UniqueFd>> create();

  Channel() = default;

  // Sends one line, the descriptors with its first byte. False when the other side is gone or does not read
  // before the deadline.
  bool send(const Json& message, std::span<const int> descriptors, Deadline deadline);

  Received receive(Deadline deadline);

  // True when the other side has closed its end and nothing is left to read. Does not block.
  bool closed();

 private:
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::string pending_;  // bytes read behind the last line
};

}  // namespace graft::referee
