// What a worker says about the outputs of its graph, and the layout of the buffer they are copied into.
//
// A candidate's description is untrusted text: it can name itself wrong, but it cannot make the host allocate
// or read anything, since all sizes come from the reference's outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/dtype.h"

namespace graft::referee {

// Tensors or values in one buffer, dense and row-major, each at a multiple of 64 bytes.
struct TensorSlot {
  std::string name;  // empty for outputs
  bench::DType dtype = bench::DType::kFloat32;
  std::vector<int64_t> shape;
  size_t offset = 0;
  size_t bytes = 0;

  int64_t count() const;
  // {"name", "dtype", "shape", "offset"}
  Json to_json() const;
};

// Appends a slot behind `total` bytes and grows `total`. Empty when the size overflows.
std::optional<TensorSlot> place_tensor(std::string name, bench::DType dtype, std::vector<int64_t> shape,
                                       size_t& total);

// One output: a tensor, or (without a shape) a Python value.
struct OutputInfo {
  std::string dtype;  // torch's name without "torch.", or the Python type's name
  bool is_tensor = false;
  std::vector<int64_t> shape;
  std::optional<std::vector<int64_t>> stride;  // elements; absent for sparse layouts
  std::string value;                           // repr of a plain value
  std::vector<std::string> aliases;            // inputs whose memory it shares

  // "float32[2, 3]", or the type's name.
  std::string to_string() const;
};

struct OutputReport {
  std::vector<OutputInfo> outputs;
  std::vector<std::string> inputs_changed;  // names of inputs the call wrote
};

// Reads the reply to `describe`. Fails on anything that is not one.
Result<OutputReport> read_output_report(const Json& reply);

}  // namespace graft::referee
