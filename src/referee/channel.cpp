#include "referee/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "referee/interrupt.h"

namespace graft::referee {
namespace {

constexpr size_t kMaxDescriptors = 16;

// Waits until `events` hold; false at the deadline, on an interrupt or on an error.
bool wait_ready(int fd, short events, Deadline deadline) {
  for (;;) {
    if (interrupted()) return false;
    pollfd entry{fd, events, 0};
    int count = poll(&entry, 1, static_cast<int>(std::min<int64_t>(time_left(deadline).count(), 1000)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
    if (count == 0 && time_left(deadline).count() == 0) return false;
  }
}

}  // namespace

std::chrono::milliseconds time_left(Deadline deadline) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

Result<std::pair<Channel, UniqueFd>> Channel::create() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return os_error("create a socket pair", "", errno);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  fcntl(ours.get(), F_SETFL, fcntl(ours.get(), F_GETFL) | O_NONBLOCK);
  return std::pair(Channel(std::move(ours)), std::move(theirs));
}

bool Channel::send(const Json& message, std::span<const int> descriptors, Deadline deadline) {
  std::string line = message.dump() + "\n";
  std::string_view rest = line;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
  bool with_descriptors = !descriptors.empty() && descriptors.size() <= kMaxDescriptors;
  if (descriptors.size() > kMaxDescriptors) return false;
  while (!rest.empty()) {
    iovec piece{const_cast<char*>(rest.data()), rest.size()};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (with_descriptors) {
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t count = sendmsg(fd_.get(), &header, MSG_NOSIGNAL);
    if (count > 0) {
      rest.remove_prefix(static_cast<size_t>(count));
      with_descriptors = false;
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait_ready(fd_.get(), POLLOUT, deadline)) return false;
    } else if (count < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

Received Channel::receive(Deadline deadline) {
  size_t searched = 0;
  for (;;) {
    size_t end = pending_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      Result<Json> message = Json::parse(line);
      if (!message.ok()) return {Received::Kind::kMalformed, {}, message.error().to_string()};
      if (!message->is_object()) return {Received::Kind::kMalformed, {}, "the line is not a JSON object"};
      return {Received::Kind::kLine, std::move(*message), {}};
    }
    searched = pending_.size();
    if (searched > kMaxLine)
      return {Received::Kind::kMalformed, {}, fmt::format("a line of more than {} bytes", kMaxLine)};
    if (!wait_ready(fd_.get(), POLLIN, deadline))
      return {interrupted() ? Received::Kind::kInterrupted : Received::Kind::kTimedOut, {}, {}};
    char buffer[1 << 16];
    ssize_t count = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (count > 0) {
      pending_.append(buffer, static_cast<size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      return {Received::Kind::kClosed, {}, {}};
    }
  }
}

bool Channel::closed() {
  char byte;
  ssize_t count = recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace graft::referee
