// The one-word answer about a graph or a sample.
#pragma once

#include <span>
#include <string_view>

namespace graft::referee {

// From the worst to the best: of several graphs the worst one names the sample.
enum class Verdict {
  kMachineFault,  // the original graph could not be run here, so nothing is known about the pass
  kCheating,      // the pass forged something
  kForbidden,     // the pass breaks the rules for pass files
  kTimedOut,
  kCrashed,  // the pass could not be loaded, raised, or its process ended
  kWrong,    // its outputs are not the original's
  kNoMatch,
  kNoisy,  // right, but the times do not say whether it is faster
  kSlower,
  kFaster,
};

// "machine_fault", "cheating", ... as in docs/cli.md.
std::string_view verdict_name(Verdict verdict);

// Right outputs, whatever the speed: kNoisy, kSlower, kFaster.
bool is_right(Verdict verdict);

// Right outputs and a measured speed-up: faster above 1, slower otherwise; noisy where the measurement was
// noisy and its interval includes 1.
Verdict speed_verdict(double speedup, double low, double high, bool noisy);

// The worst verdict where one is not right; otherwise kFaster stands for "decided by the speed-ups of all
// graphs", which the caller passes to speed_verdict().
Verdict worst(std::span<const Verdict> verdicts);

}  // namespace graft::referee
