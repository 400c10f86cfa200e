// The element types of tensors: torch's names, sizes and kinds, and the conversions between them that torch
// makes on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace graft::bench {

enum class DType : uint8_t {
  kBool,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex32,
  kComplex64,
  kComplex128,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0FNU,
};
inline constexpr int kDTypeCount = 21;

// "float32", as torch prints it without the prefix "torch.".
std::string_view dtype_name(DType dtype);

// Accepts what torch accepts as an attribute name: "float32", aliases such as "half" and "long", each also
// with a dotted prefix
// ("torch.float32": the part behind the last dot counts).
std::optional<DType> dtype_from_name(std::string_view name);

// Bytes of one element.
size_t item_size(DType dtype);

bool is_floating(DType dtype);  // float16 to float64, bfloat16, float8: torch's is_floating_point
bool is_complex(DType dtype);
bool is_integer(DType dtype);  // signed and unsigned, without bool
bool is_signed_integer(DType dtype);

// float32 to the 16-bit formats, to nearest, ties to even, and back (exact). NaN gives torch's quiet NaN
// (sign kept for float16, 0x7fc0 for bfloat16).
uint16_t float16_from_float(float value);
float float_from_float16(uint16_t bits);
uint16_t bfloat16_from_float(float value);
float float_from_bfloat16(uint16_t bits);

// float32 to one of the 8-bit formats (`dtype` names which) and back. Values beyond the largest finite one
// become what torch makes of them: NaN, or infinity where the format has one.
uint8_t float8_from_float(DType dtype, float value);
float float_from_float8(DType dtype, uint8_t bits);

// One float64 stored as an element of `dtype` at `out`, the way torch's Tensor.to(dtype) does: the 16-bit and
// 8-bit formats go through float32; integers truncate toward zero (out of range: what an x86-64 processor
// gives); bool is `value != 0`; complex gets the real part.
void store_double(DType dtype, double value, void* out);

// The element of `dtype` at `in` as float64 (complex: the real part; 64-bit integers rounded).
double load_double(DType dtype, const void* in);

}  // namespace graft::bench
