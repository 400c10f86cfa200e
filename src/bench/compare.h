// Compares an output of a candidate with eager's, element by element, at all tolerances in one pass over the
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bench/dtype.h"
#include "bench/tolerance.h"

namespace graft::bench {

enum class CompareMode {
  // close: |e - c| <= atol + rtol |e|, in float64. NaN agrees with NaN exactly where eager has NaN;
  // infinities must be equal.
  kDefault,
  // The reference evaluator's torch.allclose(eager, candidate): |e - c| <= atol + rtol |c| with every step
  // rounded to the
  // tensors' own dtype (integers: to float32); NaN never agrees.
  kStrictPassBench,
};

struct Comparison {
  DType dtype = DType::kFloat32;
  int64_t count = 0;
  bool equal = true;  // every element, +0 equal to -0; NaN as the mode says
  // Largest and mean |e - c|, over float32 values for floating types. Pairs that agree as NaN or infinity
  // count as 0 in the default mode; in the strict mode they make both NaN, as in torch. 0 for empty tensors.
  double max_diff = 0.0;
  double mean_diff = 0.0;
  // sqrt(sum |e - c|^2 / sum |e|^2): the error relative to the output's size; 0 if both are 0, infinite if
  // only eager is 0. Over finite pairs only.
  double relative_l2 = 0.0;
  int64_t nonfinite_mismatches = 0;  // NaN or infinity on one side only, or of other sign
  int64_t worst_index = -1;  // flat index of max_diff or of the first non-finite mismatch; -1: no difference
  // For each column of the table the smallest level at which all elements are close; nullopt: none up to
  // kLoosestLevel.
  std::array<std::optional<int>, kToleranceColumnCount> close_from{};

  // Whether all elements are close in this column at level t (in this mode closeness never ends as t grows).
  bool close(ToleranceColumn column, int t) const {
    const auto& from = close_from[static_cast<size_t>(column)];
    return from.has_value() && *from <= t;
  }
  // Whether the output counts as correct at level t: closeness in the dtype's own column, or equality.
  bool correct(int t) const;
  // The smallest level from which it is correct (kStrictestLevel at the strictest); nullopt: never.
  std::optional<int> correct_from() const;
};

// Both sides: `count` dense elements of `dtype` in the same order. (Shape and dtype have been found equal
// before.)
Comparison compare_tensors(DType dtype, const void* eager, const void* candidate, int64_t count,
                           CompareMode mode = CompareMode::kDefault);

// The smallest level at which an answer that did no work would be taken for this output: all zeros, or
// everywhere the mean of its finite elements. A level from there on says nothing about a candidate.
struct TrivialAnswers {
  std::optional<int> zeros_from;
  std::optional<int> mean_from;
};
TrivialAnswers trivial_answers(DType dtype, const void* eager, int64_t count);

}  // namespace graft::bench
