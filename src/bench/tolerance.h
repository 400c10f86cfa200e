// The one table of tolerances: how far an output may be from eager's at level t.
//
// atol = 10^(t ka), rtol = 10^(t kr), with (ka, kr) by dtype:
//   float16 (1, 3/5), bfloat16 (1, 1.796/5), float32 (1, 5.886/5), float64 (7/5, 7/5); every other dtype must
//   be equal at every t.
// Both are rounded to three significant digits before use. Levels run from -10 (strictest) to 5.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "bench/dtype.h"

namespace graft::bench {

inline constexpr int kStrictestLevel = -10;
inline constexpr int kLoosestLevel = 5;
inline constexpr int kLevelCount = kLoosestLevel - kStrictestLevel + 1;
// Level <-> index in arrays of kLevelCount.
constexpr size_t level_index(int t) {
  return static_cast<size_t>(t - kStrictestLevel);
}

// The columns of the table, in the order of the log.
enum class ToleranceColumn { kFloat16, kBFloat16, kFloat32, kFloat64 };
inline constexpr size_t kToleranceColumnCount = 4;

struct Tolerance {
  double atol = 0.0;
  double rtol = 0.0;
};

// The column of a dtype; nullopt: exact.
std::optional<ToleranceColumn> tolerance_column(DType dtype);

// t in [kStrictestLevel, kLoosestLevel].
Tolerance tolerance(ToleranceColumn column, int t);
// The unrounded values.
Tolerance exact_tolerance(ToleranceColumn column, int t);

// "[all_close_atol_1.00E-10_rtol_1.69E-12]": the key of the row of a log.
std::string tolerance_key(ToleranceColumn column, int t);
// The key of the row that decides for `dtype`: tolerance_key() or "[equal]".
std::string decisive_key(DType dtype, int t);

}  // namespace graft::bench
