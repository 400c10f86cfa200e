#include "referee/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace graft::referee {
namespace {

std::atomic<int> signals_seen{0};
struct sigaction old_interrupt, old_terminate;

void on_signal(int) {
  if (signals_seen.fetch_add(1) > 0) _exit(130);
}

}  // namespace

bool interrupted() {
  return signals_seen.load(std::memory_order_relaxed) > 0;
}

InterruptScope::InterruptScope() {
  signals_seen = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a wait must return
  sigaction(SIGINT, &action, &old_interrupt);
  sigaction(SIGTERM, &action, &old_terminate);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_terminate, nullptr);
  signals_seen = 0;
}

}  // namespace graft::referee
