// Ctrl-C and SIGTERM as a flag that waiting code looks at.
#pragma once

namespace graft::referee {

// True once SIGINT or SIGTERM arrived while an InterruptScope lived.
bool interrupted();

// While it lives, SIGINT and SIGTERM set the flag and interrupt system calls instead of ending the process; a
// second one half a second later ends it at once (children die with their parent).
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

}  // namespace graft::referee
