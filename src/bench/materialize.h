// From tensor metadata to tensors: the values the reference evaluator feeds to a graph, bit for bit, in
// memory of the caller.
//
// numpy's legacy generator, seeded with 123, draws first all integer ranges (classes of input_meta.py, then
// of weight_meta.py, each file in class-name order), then everything else in weight order. Tensors are dense
// and row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/dtype.h"
#include "bench/tensor_meta.h"

namespace graft::bench {

inline constexpr uint32_t kMaterializeSeed = 123;

struct PlannedTensor {
  TensorMeta meta;
  int64_t count = 0;  // elements
  size_t bytes = 0;
  size_t offset = 0;  // in one buffer of MaterializePlan::total_bytes, a multiple of 64
};

struct MaterializePlan {
  std::vector<TensorMeta> input_metas;   // only their draws count
  std::vector<TensorMeta> weight_metas;  // every class, also replaced ones: their draws count
  std::vector<PlannedTensor> tensors;    // one a name, in replay order
  size_t total_bytes = 0;

  const PlannedTensor* find(std::string_view name) const;
};

// Checks the metadata and lays the tensors out. Errors, each with the place in the metadata file: `data` with
// another number of elements than `shape`, or out of the dtype's range; an empty integer range; a size that
// overflows.
Result<MaterializePlan> plan_materialization(std::vector<TensorMeta> input_metas,
                                             std::vector<TensorMeta> weight_metas);

// Elements the reference would replace by torch.randn_like(tensor) * 0.01, since they are infinite or NaN.
// torch draws those, so the values must come from a torch process (whose generator was seeded with 123): one
// full-size draw a tensor listed here, in this order, of which the elements at `indices` are used.
struct NonfiniteTensor {
  size_t tensor = 0;             // index in MaterializePlan::tensors
  std::vector<int64_t> indices;  // flat, ascending
};

struct Materialized {
  // Empty in nearly all cases. The tensors listed are complete but for these elements, which are left
  // infinite or NaN until finish_nonfinite().
  std::vector<NonfiniteTensor> nonfinite;
};

// Fills every tensor. `destinations[i]` has room for tensors[i].bytes, aligned to the item size. About 20 ns
// an element.
Materialized materialize(const MaterializePlan& plan, std::span<void* const> destinations,
                         uint32_t seed = kMaterializeSeed);
// The same into one buffer, each tensor at its offset.
Materialized materialize(const MaterializePlan& plan, void* buffer, uint32_t seed = kMaterializeSeed);

// Writes `replacements` (one for each of `indices`, already multiplied by 0.01) into a tensor and clamps them
// to [-100, 100].
void finish_nonfinite(const PlannedTensor& tensor, void* data, std::span<const int64_t> indices,
                      std::span<const double> replacements);

// An identity of everything that decides the tensors' bytes (format version, seed, both metadata lists): the
// key of a cache.
std::string materialize_key(const MaterializePlan& plan, uint32_t seed = kMaterializeSeed);

}  // namespace graft::bench
