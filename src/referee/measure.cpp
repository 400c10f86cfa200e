#include "referee/measure.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace graft::referee {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr int kHandshakes = 40;
constexpr uint32_t kBusyUs = 300;  // longer than the host spins
// Calls that do not count at the start of a block go on this long: until the other arm's process and the
// threads of its torch have stopped spinning.
constexpr double kSettleMs = 5;
constexpr int kMinTrials = 5;

struct Arm {
  Worker& worker;
  bool eager;
  Measurement::Handshake handshake = {};
};

// One call, prepared where asked. The time in milliseconds, nothing taken off.
std::optional<ArmFailure> call(Arm& arm, bool refresh, Deadline deadline, double& elapsed_ms) {
  if (refresh) {
    BellAnswer ready = arm.worker.ring(BellCommand::kPrepare, 0, deadline);
    if (!ready.ok()) return ArmFailure{arm.eager, std::move(*ready.failure)};
  }
  BellAnswer answer = arm.worker.ring(BellCommand::kRun, 0, deadline);
  if (!answer.ok()) return ArmFailure{arm.eager, std::move(*answer.failure)};
  elapsed_ms = static_cast<double>(answer.elapsed_ns) / kNsPerMs;
  return std::nullopt;
}

std::optional<ArmFailure> calibrate(Arm& arm, Deadline deadline) {
  uint32_t sleeping_us = std::max(kBusyUs, static_cast<uint32_t>(3 * arm.worker.host_spin_ns() / 1000));
  for (uint32_t busy_us : {0U, sleeping_us}) {
    std::vector<double> times;
    int rings = busy_us > 1000 ? kHandshakes / 4 : kHandshakes;
    for (int i = 0; i < rings; ++i) {
      BellAnswer answer = arm.worker.ring(BellCommand::kCalibrate, busy_us, deadline);
      if (!answer.ok()) return ArmFailure{arm.eager, std::move(*answer.failure)};
      times.push_back(std::max(0.0, static_cast<double>(answer.elapsed_ns) / kNsPerMs - busy_us / 1e3));
    }
    // The least cost seen: on a busy machine a ring takes longer by chance, and taking off too much would
    // make short calls look like none at all.
    (busy_us == 0 ? arm.handshake.spinning_ms : arm.handshake.sleeping_ms) =
        *std::min_element(times.begin(), times.end());
  }
  return std::nullopt;
}

std::optional<ArmFailure> warm_up(Arm& arm, const TrialPlan& plan, int calls, Deadline deadline) {
  double busy = 0;
  for (int i = 0; i < calls || busy < plan.busy_warmup_ms; ++i) {
    double elapsed = 0;
    if (auto failure = call(arm, plan.refresh_each || i == 0, deadline, elapsed)) return failure;
    busy += std::max(elapsed, 1e-4);
  }
  return std::nullopt;
}

std::optional<ArmFailure> block(Arm& arm, const TrialPlan& plan, int calls,
                                const Measurement::Handshake& handshake, Deadline deadline,
                                std::vector<double>& times) {
  double elapsed = 0;
  auto begin = std::chrono::steady_clock::now();
  auto settled = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() >=
           kSettleMs;
  };
  bool first = true;
  do {
    if (auto failure = call(arm, plan.refresh_each || first, deadline, elapsed)) return failure;
    first = false;
  } while (!settled());
  double spin_ms = static_cast<double>(arm.worker.host_spin_ns()) / kNsPerMs;
  for (int i = 0; i < calls; ++i) {
    if (auto failure = call(arm, plan.refresh_each, deadline, elapsed)) return failure;
    double cost = elapsed > spin_ms ? handshake.sleeping_ms : handshake.spinning_ms;
    times.push_back(elapsed - std::min(cost, elapsed / 2));
  }
  return std::nullopt;
}

}  // namespace

double noise_of(const Measurement& measurement) {
  double noise = 0;
  for (const bench::Statistics& arm : {measurement.eager, measurement.pass})
    if (arm.median > 0) noise = std::max(noise, arm.iqr / arm.median);
  return noise;
}

std::optional<ArmFailure> measure(Worker& eager, Worker& pass, const TrialPlan& plan, Deadline deadline,
                                  Measurement& measurement) {
  Arm eager_arm{eager, true}, pass_arm{pass, false};
  for (Arm* arm : {&eager_arm, &pass_arm})
    if (auto failure = calibrate(*arm, deadline)) return failure;
  measurement.eager_handshake = eager_arm.handshake;
  measurement.pass_handshake = pass_arm.handshake;

  // A graph so slow that the plan would eat the time limit gets fewer calls; only the trusted arm's time
  // decides.
  int warmup = plan.warmup, trials = plan.trials;
  double first_ms = 0;
  if (auto failure = call(eager_arm, true, deadline, first_ms)) return failure;
  double wanted_seconds = first_ms / 1e3 * (warmup + trials + plan.blocks);
  if (wanted_seconds > plan.budget_seconds / 3) {
    double share = plan.budget_seconds / 3 / wanted_seconds;
    warmup = std::max(std::min(warmup, 1), static_cast<int>(warmup * share));
    trials = std::max(std::min(trials, kMinTrials), static_cast<int>(trials * share));
  }
  for (Arm* arm : {&eager_arm, &pass_arm})
    if (auto failure = warm_up(*arm, plan, warmup, deadline)) return failure;
  measurement.warmup = warmup;
  measurement.trials = trials;

  double best_noise = 0;
  int blocks = std::max(1, std::min(plan.blocks, trials));
  for (int attempt = 1; attempt <= plan.attempts; ++attempt) {
    Measurement taken = measurement;
    taken.eager_ms.clear();
    taken.pass_ms.clear();
    for (int i = 0; i < blocks; ++i) {
      int calls = trials * (i + 1) / blocks - trials * i / blocks;
      std::array<Arm*, 2> order = {&eager_arm, &pass_arm};
      if (i % 2 == 1) std::swap(order[0], order[1]);
      for (Arm* arm : order) {
        auto& times = arm->eager ? taken.eager_ms : taken.pass_ms;
        if (auto failure = block(*arm, plan, calls, eager_arm.handshake, deadline, times)) return failure;
      }
    }
    taken.eager = bench::summarize(taken.eager_ms);
    taken.pass = bench::summarize(taken.pass_ms);
    double noise = noise_of(taken);
    bool noisy = bench::is_noisy(taken.eager) || bench::is_noisy(taken.pass);
    if (attempt == 1 || noise < best_noise) {
      best_noise = noise;
      measurement = std::move(taken);
      measurement.noisy = noisy;
    }
    measurement.attempts = attempt;
    if (!noisy) break;
  }
  measurement.speedup = bench::speedup(measurement.eager, measurement.pass);
  measurement.interval = bench::speedup_interval(measurement.eager_ms, measurement.pass_ms);
  return std::nullopt;
}

}  // namespace graft::referee
