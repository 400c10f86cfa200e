#include "bench/materialize.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "base/hash.h"
#include "bench/random.h"
#include "bench/wide.h"

// The values must not depend on the processor.
GRAFT_EXACT_LOOPS

namespace graft::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRange = 100.0;  // floating tensors end within [-kRange, kRange]
constexpr size_t kChunk = 4096;   // even, so that pairs of normals never straddle two chunks

bool has_range(const TensorMeta& meta) {
  return meta.min_val.has_value() && meta.max_val.has_value() && is_signed_integer(meta.dtype);
}

// numpy's randint takes int() of its bounds; the upper one is max_val + 1, exclusive.
struct IntegerRange {
  int64_t low = 0;
  int64_t high = 0;  // inclusive
};

std::optional<int64_t> truncated(double value) {
  if (!(std::fabs(value) < 9.2e18)) return std::nullopt;
  return static_cast<int64_t>(value);
}

Result<IntegerRange> integer_range(const TensorMeta& meta) {
  auto low = meta.min_val->is_integer ? std::optional(meta.min_val->integer) : truncated(meta.min_val->real);
  std::optional<int64_t> high = meta.max_val->integer;
  if (!meta.max_val->is_integer) {
    high = truncated(meta.max_val->real + 1.0);
    if (high) --*high;
  }
  if (!low || !high)
    return input_error(fmt::format("min_val or max_val of tensor {} is no 64-bit integer", meta.name),
                       meta.place);
  if (*low > *high)
    return input_error(fmt::format("min_val of tensor {} is above max_val", meta.name), meta.place);
  return IntegerRange{*low, *high};
}

void store_integer(DType dtype, int64_t value, void* out) {
  // Little-endian: the low bytes are the wrapped value.
  if (is_integer(dtype))
    std::memcpy(out, &value, item_size(dtype));
  else if (dtype == DType::kBool)
    store_double(dtype, value != 0 ? 1.0 : 0.0, out);
  else
    store_double(dtype, static_cast<double>(value), out);
}

// Whether torch.tensor() takes the number for an integer dtype.
bool fits(DType dtype, const Number& number) {
  if (!is_integer(dtype)) return true;
  int bits = static_cast<int>(8 * item_size(dtype));
  bool is_signed = is_signed_integer(dtype);
  if (!number.is_integer) {
    double limit = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    double whole = std::trunc(number.real);
    return whole < limit && (is_signed ? whole >= -limit : whole > -limit);
  }
  if (bits == 64) return is_signed || number.integer >= 0;
  int64_t limit = int64_t{1} << (is_signed ? bits - 1 : bits);
  // For unsigned types torch lets negative numbers wrap.
  return number.integer < limit && (is_signed ? number.integer >= -limit : number.integer > -limit);
}

void store_number(DType dtype, const Number& number, void* out) {
  if (number.is_integer || !is_integer(dtype)) {
    if (number.is_integer)
      store_integer(dtype, number.integer, out);
    else
      store_double(dtype, number.real, out);
    return;
  }
  double whole = std::trunc(number.real);
  if (whole >= 9223372036854775808.0)
    store_integer(dtype, static_cast<int64_t>(static_cast<uint64_t>(whole)), out);
  else
    store_integer(dtype, static_cast<int64_t>(whole), out);
}

void fill_data(const PlannedTensor& tensor, unsigned char* out) {
  size_t size = item_size(tensor.meta.dtype);
  for (const Number& number : tensor.meta.data->elements) {
    store_number(tensor.meta.dtype, number, out);
    out += size;
  }
}

// ---- Drawn tensors

// The bounds of a tensor as values of its dtype. Lower, then upper, then for floating types the general
// range.
struct Bounds {
  double low = -kInfinity;
  double high = kInfinity;
  bool any = false;
};

double rounded_to(DType dtype, double value) {
  if (!std::isfinite(value)) return value;
  unsigned char stored[16];
  store_double(dtype, value, stored);
  return load_double(dtype, stored);
}

Bounds bounds_of(const TensorMeta& meta) {
  Bounds bounds;
  bounds.any = meta.min_val.has_value() || meta.max_val.has_value();
  if (meta.dtype == DType::kBool || is_complex(meta.dtype)) return {};
  bool floating = is_floating(meta.dtype);
  if (meta.min_val)
    bounds.low = floating ? rounded_to(meta.dtype, meta.min_val->real) : std::ceil(meta.min_val->real);
  if (meta.max_val)
    bounds.high = floating ? rounded_to(meta.dtype, meta.max_val->real) : std::floor(meta.max_val->real);
  return bounds;
}

// NaN passes through.
inline double clamp(double value, double low, double high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

// The affine part: normals[i] * std * 0.2 + mean.
GRAFT_WIDE void scale(double* values, size_t count, double deviation, double mean) {
  for (size_t i = 0; i < count; ++i) values[i] = values[i] * deviation * 0.2 + mean;
}

// Rounded to float32, clamped; returns how many are not finite.
GRAFT_WIDE size_t finish_floats(const double* values, float* out, size_t count, float low, float high) {
  constexpr float kLimit = std::numeric_limits<float>::infinity();
  constexpr auto kFloatRange = static_cast<float>(kRange);
  size_t odd = 0;
  for (size_t i = 0; i < count; ++i) {
    auto value = static_cast<float>(values[i]);
    value = value < low ? low : value;
    value = value > high ? high : value;
    bool finite = std::fabs(value) < kLimit;
    odd += static_cast<size_t>(!finite);
    float bounded = value < -kFloatRange ? -kFloatRange : value;
    bounded = bounded > kFloatRange ? kFloatRange : bounded;
    out[i] = finite ? bounded : value;
  }
  return odd;
}

// The general form: one value to its dtype, clamped as above. Returns whether it is finite.
bool finish_value(DType dtype, double value, const Bounds& bounds, unsigned char* out) {
  store_double(dtype, value, out);
  if (bounds.any && !is_floating(dtype)) {
    // In integers, so that 64-bit values keep their last digits.
    double stored = load_double(dtype, out);
    double bounded = clamp(stored, bounds.low, bounds.high);
    if (bounded != stored) store_double(dtype, bounded, out);
  }
  if (!is_floating(dtype)) return true;
  double stored = load_double(dtype, out);
  double bounded = clamp(stored, bounds.low, bounds.high);
  bool finite = std::isfinite(bounded);
  if (finite) bounded = clamp(bounded, -kRange, kRange);
  // Storing again would lose the kind of a NaN, which nobody looks at, and nothing else.
  if (bounded != stored) store_double(dtype, bounded, out);
  return finite;
}

// Chunk by chunk: float64 values of the tensor -> its memory. Collects the non-finite elements.
class Finisher {
 public:
  Finisher(const TensorMeta& meta, void* out, std::vector<int64_t>& nonfinite)
      : dtype_(meta.dtype),
        size_(item_size(meta.dtype)),
        bounds_(bounds_of(meta)),
        out_(static_cast<unsigned char*>(out)),
        nonfinite_(nonfinite) {}

  void take(const double* values, size_t count) {
    if (dtype_ == DType::kFloat32) {
      auto* floats = reinterpret_cast<float*>(out_);
      size_t odd = finish_floats(values, floats, count, static_cast<float>(bounds_.low),
                                 static_cast<float>(bounds_.high));
      if (odd > 0)
        for (size_t i = 0; i < count; ++i)
          if (!std::isfinite(floats[i])) note(i);
    } else {
      for (size_t i = 0; i < count; ++i)
        if (!finish_value(dtype_, values[i], bounds_, out_ + i * size_)) note(i);
    }
    out_ += count * size_;
    done_ += count;
  }

 private:
  void note(size_t i) { nonfinite_.push_back(static_cast<int64_t>(done_ + i)); }

  DType dtype_;
  size_t size_;
  Bounds bounds_;
  unsigned char* out_;
  std::vector<int64_t>& nonfinite_;
  size_t done_ = 0;
};

void draw(const PlannedTensor& tensor, NumpyRandom& random, void* out, std::vector<int64_t>& nonfinite) {
  const TensorMeta& meta = tensor.meta;
  auto count = static_cast<size_t>(tensor.count);
  std::vector<double> chunk(std::min(count, kChunk));
  if (meta.dtype == DType::kBool) {
    auto* bytes = static_cast<unsigned char*>(out);
    for (size_t at = 0; at < count; at += kChunk) {
      std::span<double> values(chunk.data(), std::min(kChunk, count - at));
      random.fill_rand(values);
      for (double value : values) *bytes++ = value > 0.5 ? 1 : 0;
    }
    return;
  }
  double mean = meta.mean.value_or(0.0);
  double deviation = meta.std.value_or(0.1);
  Finisher finisher(meta, out, nonfinite);
  for (size_t at = 0; at < count; at += kChunk) {
    std::span<double> values(chunk.data(), std::min(kChunk, count - at));
    if (deviation == 0.0) {
      if (at == 0) std::fill(values.begin(), values.end(), mean);
    } else {
      random.fill_randn(values);
      scale(values.data(), values.size(), deviation, mean);
    }
    finisher.take(values.data(), values.size());
  }
}

// All integer ranges of one file in class order. `tensor_of` gives the memory of a class, null for draws
// nobody sees.
template <class Destination>
void draw_ranges(const std::vector<TensorMeta>& metas, NumpyRandom& random,
                 const Destination& destination_of) {
  for (size_t i = 0; i < metas.size(); ++i) {
    const TensorMeta& meta = metas[i];
    if (!has_range(meta)) continue;
    IntegerRange range = integer_range(meta).value();  // checked by the plan
    auto* out = static_cast<unsigned char*>(destination_of(i));
    size_t size = item_size(meta.dtype);
    int64_t count = meta.element_count();
    for (int64_t k = 0; k < count; ++k) {
      int64_t value = random.randint(range.low, range.high);
      if (out == nullptr) continue;
      std::memcpy(out, &value, size);
      out += size;
    }
  }
}

void append(std::string& out, const void* data, size_t size) {
  out.append(static_cast<const char*>(data), size);
}

void append_number(std::string& out, const std::optional<Number>& number) {
  out += !number ? 'n' : number->is_integer ? 'i' : 'f';
  if (number && number->is_integer) append(out, &number->integer, sizeof number->integer);
  if (number) append(out, &number->real, sizeof number->real);
}

}  // namespace

const PlannedTensor* MaterializePlan::find(std::string_view name) const {
  for (const PlannedTensor& tensor : tensors)
    if (tensor.meta.name == name) return &tensor;
  return nullptr;
}

Result<MaterializePlan> plan_materialization(std::vector<TensorMeta> input_metas,
                                             std::vector<TensorMeta> weight_metas) {
  MaterializePlan plan;
  auto check = [](const TensorMeta& meta) -> Status {
    if (has_range(meta)) {
      GRAFT_RETURN_IF_ERROR(integer_range(meta));
      return {};
    }
    if (!meta.data) return {};
    auto count = static_cast<size_t>(meta.element_count());
    if (meta.data->elements.size() != count)
      return input_error(
          fmt::format("'data' of tensor {} has {} elements", meta.name, meta.data->elements.size()),
          meta.data->place, fmt::format("{}, the product of its shape", count));
    for (const Number& number : meta.data->elements) {
      if (!fits(meta.dtype, number))
        return input_error(
            fmt::format("'data' of tensor {} holds {}, which does not fit {}", meta.name,
                        number.is_integer ? std::to_string(number.integer) : fmt::format("{}", number.real),
                        dtype_name(meta.dtype)),
            meta.data->place);
    }
    return {};
  };
  for (const TensorMeta& meta : input_metas) GRAFT_RETURN_IF_ERROR(check(meta));
  for (const TensorMeta& meta : weight_metas) GRAFT_RETURN_IF_ERROR(check(meta));

  constexpr size_t kAlignment = 64;
  size_t end = 0;
  for (TensorMeta& meta : effective_tensors(weight_metas)) {
    PlannedTensor tensor;
    tensor.count = meta.element_count();
    tensor.bytes = static_cast<size_t>(tensor.count) * item_size(meta.dtype);  // at most 2^52
    tensor.offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    end = tensor.offset + tensor.bytes;
    if (end > (size_t{1} << 60)) return input_error("the tensors together are too large", meta.shape_place);
    tensor.meta = std::move(meta);
    plan.tensors.push_back(std::move(tensor));
  }
  plan.total_bytes = (end + kAlignment - 1) / kAlignment * kAlignment;
  plan.input_metas = std::move(input_metas);
  plan.weight_metas = std::move(weight_metas);
  return plan;
}

Materialized materialize(const MaterializePlan& plan, std::span<void* const> destinations, uint32_t seed) {
  assert(destinations.size() == plan.tensors.size());
  NumpyRandom random(seed);
  draw_ranges(plan.input_metas, random, [](size_t) -> void* { return nullptr; });

  std::unordered_map<std::string, size_t> tensor_of_name;
  for (size_t i = 0; i < plan.tensors.size(); ++i) tensor_of_name.emplace(plan.tensors[i].meta.name, i);
  // A class that a later one of the same name replaces writes first and is overwritten; a different shape
  // could overrun the memory, so only the last one writes.
  std::unordered_map<std::string, size_t> last_class;
  for (size_t i = 0; i < plan.weight_metas.size(); ++i) last_class[plan.weight_metas[i].name] = i;
  draw_ranges(plan.weight_metas, random, [&](size_t i) -> void* {
    const std::string& name = plan.weight_metas[i].name;
    return last_class[name] == i ? destinations[tensor_of_name[name]] : nullptr;
  });

  Materialized result;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    if (has_range(tensor.meta)) continue;
    if (tensor.meta.data) {
      fill_data(tensor, static_cast<unsigned char*>(destinations[i]));
      continue;
    }
    NonfiniteTensor nonfinite{i, {}};
    draw(tensor, random, destinations[i], nonfinite.indices);
    if (!nonfinite.indices.empty()) result.nonfinite.push_back(std::move(nonfinite));
  }
  return result;
}

Materialized materialize(const MaterializePlan& plan, void* buffer, uint32_t seed) {
  std::vector<void*> destinations;
  for (const PlannedTensor& tensor : plan.tensors)
    destinations.push_back(static_cast<unsigned char*>(buffer) + tensor.offset);
  return materialize(plan, destinations, seed);
}

void finish_nonfinite(const PlannedTensor& tensor, void* data, std::span<const int64_t> indices,
                      std::span<const double> replacements) {
  assert(indices.size() == replacements.size());
  size_t size = item_size(tensor.meta.dtype);
  for (size_t i = 0; i < indices.size(); ++i) {
    unsigned char* out = static_cast<unsigned char*>(data) + static_cast<size_t>(indices[i]) * size;
    store_double(tensor.meta.dtype, clamp(replacements[i], -kRange, kRange), out);
  }
}

std::string materialize_key(const MaterializePlan& plan, uint32_t seed) {
  std::string text = fmt::format("materialize-v1 {}\n", seed);
  for (const auto* metas : {&plan.input_metas, &plan.weight_metas}) {
    text += fmt::format("{} classes\n", metas->size());
    for (const TensorMeta& meta : *metas) {
      text +=
          fmt::format("{} {} {} {}", meta.name.size(), meta.name, dtype_name(meta.dtype), meta.shape.size());
      for (int64_t extent : meta.shape) text += fmt::format(" {}", extent);
      text += '\n';
      append_number(text, meta.mean ? std::optional(Number::of(*meta.mean)) : std::nullopt);
      append_number(text, meta.std ? std::optional(Number::of(*meta.std)) : std::nullopt);
      append_number(text, meta.min_val);
      append_number(text, meta.max_val);
      text += fmt::format(" {}\n", meta.data ? static_cast<int64_t>(meta.data->elements.size()) : -1);
      if (meta.data)
        for (const Number& number : meta.data->elements) append_number(text, number);
    }
  }
  return sha256_hex(text);
}

}  // namespace graft::bench
