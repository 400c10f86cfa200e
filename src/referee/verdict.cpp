#include "referee/verdict.h"

#include <algorithm>

namespace graft::referee {

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMachineFault:
      return "machine_fault";
    case Verdict::kCheating:
      return "cheating";
    case Verdict::kForbidden:
      return "forbidden";
    case Verdict::kTimedOut:
      return "timed_out";
    case Verdict::kCrashed:
      return "crashed";
    case Verdict::kWrong:
      return "wrong";
    case Verdict::kNoMatch:
      return "no_match";
    case Verdict::kNoisy:
      return "noisy";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kFaster:
      return "faster";
  }
  return "machine_fault";
}

bool is_right(Verdict verdict) {
  return verdict >= Verdict::kNoisy;
}

Verdict speed_verdict(double speedup, double low, double high, bool noisy) {
  if (noisy && low <= 1 && high >= 1) return Verdict::kNoisy;
  return speedup > 1 ? Verdict::kFaster : Verdict::kSlower;
}

Verdict worst(std::span<const Verdict> verdicts) {
  Verdict result = Verdict::kFaster;
  for (Verdict verdict : verdicts)
    if (!is_right(verdict)) result = std::min(result, verdict);
  return result;
}

}  // namespace graft::referee
