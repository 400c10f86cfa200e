// A rival of the passes that is measured beside them: the original graph through another compiler, in a
// trusted worker.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "referee/measure.h"
#include "referee/outputs.h"
#include "referee/shared_memory.h"
#include "referee/worker.h"

namespace graft::referee {

struct BaselineResult {
  std::string name;  // "inductor"
  std::optional<Measurement>
      times;  // `pass` is the baseline's arm; the eager arm was measured again beside it
  std::optional<int> correct_from;  // of its outputs against eager's
  double first_call_ms = 0;         // with its compilation
  std::string failure;              // why there are no times

  Json to_json() const;
};

// What the baseline is given: the graph as the eager arm has it.
struct BaselineRequest {
  std::string name;
  Json load;  // parameters of the worker's `load`
  const SharedBuffer& inputs;
  std::span<const std::optional<TensorSlot>> outputs;  // eager's, nothing for plain values
  std::span<const std::byte> expected;                 // eager's outputs, laid out by `outputs`
  TrialPlan plan;
  Deadline deadline;
};

// `eager` has the graph loaded; both workers are idle before and, unless one failed, after. A failure is part
// of the result, except that of the user's wish to stop: then nothing.
std::optional<BaselineResult> measure_baseline(Worker& eager, Worker& baseline,
                                               const BaselineRequest& request);

}  // namespace graft::referee
