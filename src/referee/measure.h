// Timing: two workers that each hold a graph ready, called in turns, by the host's clock alone.
//
// A call is a ring of the doorbell: the time from the ring to the answer, less the cost of the ring itself.
// The arms alternate in blocks, the order turning round from block to block, so that a machine that slows
// down or speeds up meets both alike. While one arm runs, the other sleeps in its futex.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/statistics.h"
#include "referee/worker.h"

namespace graft::referee {

struct TrialPlan {
  int warmup = 25;
  int trials = 100;
  int blocks = 5;
  int attempts = 3;           // measurements at most, while they are noisy
  double busy_warmup_ms = 0;  // warm-up calls go on until each arm was busy this long
  bool refresh_each =
      false;  // fresh inputs before every call, not only at the start of a block: for graphs that write them
  double budget_seconds =
      1e9;  // warm-up and trials are cut so that the eager arm alone fits into a third of this
};

// The arm whose worker failed, and how.
struct ArmFailure {
  bool eager = false;
  WorkerFailure failure;
};

struct Measurement {
  // Milliseconds a call, in the order taken.
  std::vector<double> eager_ms;
  std::vector<double> pass_ms;
  bench::Statistics eager;
  bench::Statistics pass;
  double speedup = 0;        // median over median; above 1: the pass is faster
  bench::Interval interval;  // of the speed-up, 95 %
  bool noisy = false;        // iqr/median of an arm is above the threshold in every attempt
  int attempts = 0;
  int warmup = 0;  // calls made
  int trials = 0;
  // What a ring costs beside the call, at the least: while the host spins for the answer, and where it has
  // gone to sleep and must wake up. Those of the eager arm are taken off both arms' times; those of the pass
  // arm are a diagnostic, for they are what untrusted code could stretch.
  struct Handshake {
    double spinning_ms = 0;
    double sleeping_ms = 0;
  };
  Handshake eager_handshake;
  Handshake pass_handshake;
};

// Both workers are in `serve`. On a failure of one, the other is still serving.
std::optional<ArmFailure> measure(Worker& eager, Worker& pass, const TrialPlan& plan, Deadline deadline,
                                  Measurement& measurement);

// The noise of an attempt: the larger iqr/median of the two arms.
double noise_of(const Measurement& measurement);

}  // namespace graft::referee
