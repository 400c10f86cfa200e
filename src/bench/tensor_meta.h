// weight_meta.py and input_meta.py: one class of constant attributes for each tensor of a graph, read without
// running Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "bench/dtype.h"

namespace graft::bench {

// A Python int or float.
struct Number {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0.0;  // the value as a float, also for an int

  static Number of(int64_t value) { return {true, value, static_cast<double>(value)}; }
  static Number of(double value) { return {false, 0, value}; }
};

// The attribute `data`: a scalar or a (nested) list, flattened in row-major order.
struct TensorData {
  std::vector<Number> elements;
  Place place;
};

struct TensorMeta {
  std::string class_name;
  std::string name;            // the parameter of forward() this tensor is for
  std::vector<int64_t> shape;  // [] is a scalar
  DType dtype = DType::kFloat32;
  std::string device = "cpu";
  std::optional<double> mean = 0.0;  // nullopt: None in the file
  std::optional<double> std = 1.0;   // nullopt: None in the file
  std::optional<Number> min_val;
  std::optional<Number> max_val;
  std::optional<TensorData> data;
  std::string original_name;  // empty where absent
  Place place;                // the class statement
  Place shape_place;          // the attribute, or `place` where absent

  int64_t element_count() const;  // the product of `shape`; 1 for a scalar
};

// The classes of a metadata file in the order in which the reference visits them: sorted by class name (code
// points), a class name used twice keeping its last definition. Two classes may have the same `name`: see
// effective_tensors(). Base classes must be classes of the same file (their attributes are inherited). Other
// statements than classes, imports, assignments and docstrings are errors, as is a class without `name`, an
// unknown dtype, a negative extent, a `data` that is text.
Result<std::vector<TensorMeta>> parse_tensor_meta(std::string_view text, const std::string& file);

// One tensor a name: a later class replaces an earlier one of the same name, at the earlier one's position.
std::vector<TensorMeta> effective_tensors(const std::vector<TensorMeta>& metas);

}  // namespace graft::bench
