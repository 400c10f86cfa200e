// Any bytes as a log: read and scored.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bench/log_reader.h"

using namespace graft::bench;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto log = parse_log({reinterpret_cast<const char*>(data), size}, "x.log");
  if (!log.ok()) return 0;
  auto graphs = scored_graphs(*log);
  if (!graphs.ok() || graphs->empty()) return 0;
  for (Interpretation interpretation : {Interpretation::kDefault, Interpretation::kMismatchExtended}) {
    ScoreOptions options;
    options.interpretation = interpretation;
    auto scores = score(*graphs, options);
    if (scores.ok() && scores->levels.size() != (interpretation == Interpretation::kDefault ? 15U : 16U))
      std::abort();
  }
  return 0;
}
