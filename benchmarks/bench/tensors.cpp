// Making and comparing tensors: the host's share of the time of an evaluation.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/compare.h"
#include "bench/materialize.h"

namespace graft::bench {
namespace {

constexpr int64_t kCount = 8'000'000;

void materialize_dtype(benchmark::State& state, DType dtype) {
  TensorMeta meta;
  meta.name = "x";
  meta.shape = {kCount};
  meta.dtype = dtype;
  auto plan = plan_materialization({}, {meta});
  std::vector<unsigned char> buffer(plan->total_bytes);
  for (auto _ : state) benchmark::DoNotOptimize(materialize(*plan, buffer.data()));
  state.SetItemsProcessed(state.iterations() * kCount);
}
BENCHMARK_CAPTURE(materialize_dtype, float32, DType::kFloat32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(materialize_dtype, bfloat16, DType::kBFloat16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(materialize_dtype, float16, DType::kFloat16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(materialize_dtype, boolean, DType::kBool)->Unit(benchmark::kMillisecond);

template <class T>
std::vector<unsigned char> bytes_of(DType dtype, T value) {
  std::vector<unsigned char> bytes(static_cast<size_t>(kCount) * item_size(dtype));
  for (size_t i = 0; i < static_cast<size_t>(kCount); ++i)
    store_double(dtype, value(i), bytes.data() + i * item_size(dtype));
  return bytes;
}

void compare_dtype(benchmark::State& state, DType dtype, CompareMode mode) {
  auto eager = bytes_of(dtype, [](size_t i) { return static_cast<double>(i % 1000) / 100; });
  auto candidate = bytes_of(dtype, [](size_t i) { return static_cast<double>(i % 1000) / 100 + 1e-5; });
  for (auto _ : state)
    benchmark::DoNotOptimize(compare_tensors(dtype, eager.data(), candidate.data(), kCount, mode));
  state.SetItemsProcessed(state.iterations() * kCount);
}
BENCHMARK_CAPTURE(compare_dtype, float32, DType::kFloat32, CompareMode::kDefault)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_dtype, float16, DType::kFloat16, CompareMode::kDefault)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_dtype, bfloat16, DType::kBFloat16, CompareMode::kDefault)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_dtype, int64, DType::kInt64, CompareMode::kDefault)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_dtype, float32_strict, DType::kFloat32, CompareMode::kStrictPassBench)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graft::bench

BENCHMARK_MAIN();
