// Any text as tensor metadata: read, planned, and, where small, made.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/materialize.h"

using namespace graft::bench;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto metas = parse_tensor_meta(text, "weight_meta.py");
  if (!metas.ok()) {
    if (metas.error().message.empty()) std::abort();
    return 0;
  }
  auto plan = plan_materialization(*metas, *metas);
  if (!plan.ok()) return 0;
  int64_t drawn = 0;
  for (const TensorMeta& meta : plan->weight_metas) {
    if (meta.element_count() > 100'000) return 0;
    drawn += meta.element_count();
  }
  if (drawn > 100'000) return 0;
  std::vector<unsigned char> buffer(plan->total_bytes);
  Materialized made = materialize(*plan, buffer.data());
  for (const NonfiniteTensor& entry : made.nonfinite) {
    const PlannedTensor& tensor = plan->tensors[entry.tensor];
    std::vector<double> zeros(entry.indices.size());
    finish_nonfinite(tensor, buffer.data() + tensor.offset, entry.indices, zeros);
  }
  return 0;
}
