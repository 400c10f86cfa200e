// A doorbell between two processes: one shared page with two futex words.
//
// One side (the host) writes a command and rings; the other (the worker) waits for it, acts, and rings back
// with an outcome. The clock is the host's: it stamps right before it rings and right after it sees the
// answer. Nothing but the number of an answer is believed about the page, since the other side may write
// anything into it at any time: each side counts on its own, so garbage can only make it wait until its
// deadline.
//
// Waiting starts with a short spin (a wake-up through the kernel costs several microseconds) and goes on in a
// futex. Header only and free of other libraries, because the extension module uses it too.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace graft {

enum class BellCommand : uint32_t {
  kNone = 0,
  kPrepare = 1,    // copy the inputs afresh and seed the generators
  kRun = 2,        // call the graph once and synchronise the device
  kCalibrate = 3,  // stay busy for `argument` microseconds, for the cost of the handshake itself
  kExport = 4,     // copy the outputs of the last run into the output buffer
  kQuit = 5,       // leave the loop
};

enum class BellOutcome : uint32_t {
  kDone = 0,
  kFailed = 1,  // the worker has left its loop; the reason travels on its channel
};

// The layout of the shared page. The two futex words are on cache lines of their own, so that a spinning side
// is disturbed only by the ring it waits for.
struct DoorbellPage {
  alignas(64) std::atomic<uint32_t> request{0};  // rings of the host so far
  std::atomic<uint32_t> command{0};
  std::atomic<uint32_t> argument{0};
  alignas(64) std::atomic<uint32_t> worker_sleeps{0};
  alignas(64) std::atomic<uint32_t> reply{0};  // the request answered last
  std::atomic<uint32_t> outcome{0};
  alignas(64) std::atomic<uint32_t> host_sleeps{0};
};
inline constexpr size_t kDoorbellBytes = 4096;
static_assert(sizeof(DoorbellPage) <= kDoorbellBytes);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

namespace doorbell_detail {

inline int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The words lie in memory shared between processes, hence no FUTEX_PRIVATE_FLAG.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t value, int64_t timeout_ns) {
  timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, &timeout, nullptr, 0);
}

inline void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Waits until done(value of word) or until `timeout_ns` is over. A signal ends the wait early. True when
// done.
template <class Done>
bool wait_for(std::atomic<uint32_t>& word, std::atomic<uint32_t>& sleeps, Done done, int64_t spin_ns,
              int64_t timeout_ns) {
  int64_t start = now_ns();
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (done(word.load(std::memory_order_acquire))) return true;
      relax();
    }
    if (now_ns() - start >= spin_ns) break;
  }
  // Announce the sleep, then look once more: the other side writes the word first and looks at the
  // announcement second.
  sleeps.store(1, std::memory_order_seq_cst);
  uint32_t value = word.load(std::memory_order_seq_cst);
  int64_t left = timeout_ns - (now_ns() - start);
  if (!done(value) && left > 0) futex_wait(word, value, left);
  sleeps.store(0, std::memory_order_relaxed);
  return done(word.load(std::memory_order_acquire));
}

}  // namespace doorbell_detail

// The host's side. Uses a page it does not own.
class HostBell {
 public:
  HostBell() = default;
  explicit HostBell(DoorbellPage* page) : page_(page) {}

  // Rings. Returns the stamp (CLOCK_MONOTONIC, nanoseconds) taken right before.
  int64_t ring(BellCommand command, uint32_t argument = 0) {
    page_->command.store(static_cast<uint32_t>(command), std::memory_order_relaxed);
    page_->argument.store(argument, std::memory_order_relaxed);
    ++number_;
    int64_t stamp = doorbell_detail::now_ns();
    page_->request.store(number_, std::memory_order_seq_cst);
    if (page_->worker_sleeps.load(std::memory_order_seq_cst) != 0)
      doorbell_detail::futex_wake(page_->request);
    return stamp;
  }

  // Waits up to `timeout_ns` for the answer to the last ring, spinning for the first `spin_ns`. Returns the
  // stamp taken right after the answer was seen; nothing when the time is over or a signal arrived.
  std::optional<int64_t> wait(int64_t spin_ns, int64_t timeout_ns) {
    auto answered = [this](uint32_t value) { return value == number_; };
    if (!doorbell_detail::wait_for(page_->reply, page_->host_sleeps, answered, spin_ns, timeout_ns))
      return std::nullopt;
    return doorbell_detail::now_ns();
  }

  // The outcome that came with the answer. Any word but kDone counts as kFailed.
  BellOutcome outcome() const {
    uint32_t word = page_->outcome.load(std::memory_order_acquire);
    return word == static_cast<uint32_t>(BellOutcome::kDone) ? BellOutcome::kDone : BellOutcome::kFailed;
  }

 private:
  DoorbellPage* page_ = nullptr;
  uint32_t number_ = 0;
};

// The worker's side.
class WorkerBell {
 public:
  struct Request {
    BellCommand command;
    uint32_t argument;
  };

  WorkerBell() = default;
  explicit WorkerBell(DoorbellPage* page) : page_(page) {}

  // Waits up to `timeout_ns` for the next ring, spinning for the first `spin_ns`.
  std::optional<Request> wait(int64_t spin_ns, int64_t timeout_ns) {
    auto rung = [this](uint32_t value) { return value != number_; };
    if (!doorbell_detail::wait_for(page_->request, page_->worker_sleeps, rung, spin_ns, timeout_ns))
      return std::nullopt;
    number_ = page_->request.load(std::memory_order_acquire);
    return Request{static_cast<BellCommand>(page_->command.load(std::memory_order_relaxed)),
                   page_->argument.load(std::memory_order_relaxed)};
  }

  // Answers the request returned last.
  void answer(BellOutcome outcome) {
    page_->outcome.store(static_cast<uint32_t>(outcome), std::memory_order_relaxed);
    page_->reply.store(number_, std::memory_order_seq_cst);
    if (page_->host_sleeps.load(std::memory_order_seq_cst) != 0) doorbell_detail::futex_wake(page_->reply);
  }

 private:
  DoorbellPage* page_ = nullptr;
  uint32_t number_ = 0;
};

}  // namespace graft
