#include "bench/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace graft::bench {
namespace {

struct Traits {
  std::string_view name;
  uint8_t size;
};

constexpr std::array<Traits, kDTypeCount> kTraits = {
    {{"bool", 1},        {"uint8", 1},           {"uint16", 2},
     {"uint32", 4},      {"uint64", 8},          {"int8", 1},
     {"int16", 2},       {"int32", 4},           {"int64", 8},
     {"float16", 2},     {"bfloat16", 2},        {"float32", 4},
     {"float64", 8},     {"complex32", 4},       {"complex64", 8},
     {"complex128", 16}, {"float8_e4m3fn", 1},   {"float8_e4m3fnuz", 1},
     {"float8_e5m2", 1}, {"float8_e5m2fnuz", 1}, {"float8_e8m0fnu", 1}}};

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr Alias kAliases[] = {
    {"half", DType::kFloat16},    {"float", DType::kFloat32},    {"double", DType::kFloat64},
    {"short", DType::kInt16},     {"int", DType::kInt32},        {"long", DType::kInt64},
    {"chalf", DType::kComplex32}, {"cfloat", DType::kComplex64}, {"cdouble", DType::kComplex128}};

// A format of one sign bit, `exponent_bits` and `mantissa_bits` and no more than 8 bits in all.
struct Float8Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool ieee;           // the highest exponent is for infinities and NaN
  bool unsigned_zero;  // one zero only; NaN is 0x80
};

Float8Format float8_format(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FNUZ:
      return {4, 3, 8, false, true};
    case DType::kFloat8E5M2:
      return {5, 2, 15, true, false};
    case DType::kFloat8E5M2FNUZ:
      return {5, 2, 16, false, true};
    default:
      return {4, 3, 7, false, false};
  }
}

// Powers of two from 2^-127 to 2^127 by exponent alone; 0xff is NaN. Torch rounds to nearest with ties to
// even of the exponent's neighbour, which for a mantissa-less format means: up from a mantissa above one
// half, and from exactly one half when the result is no denormal's zero.
uint8_t e8m0_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t exponent = (bits >> 23) & 0xff;
  if (exponent == 0xff) return 0xff;
  bool guard = (bits & 0x400000) != 0;
  bool round = (bits & 0x200000) != 0;
  bool sticky = (bits & 0x1fffff) != 0;
  if (guard && (exponent > 0 || round || sticky)) return static_cast<uint8_t>(exponent + 1);
  return static_cast<uint8_t>(exponent);
}

template <class T>
void put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}

template <class T>
T get(const void* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

// cvttsd2si: the lowest value stands for everything that does not fit.
int32_t truncate32(double value) {
  return value > -2147483649.0 && value < 2147483648.0 ? static_cast<int32_t>(value)
                                                       : std::numeric_limits<int32_t>::min();
}
int64_t truncate64(double value) {
  return value >= -9223372036854775808.0 && value < 9223372036854775808.0
             ? static_cast<int64_t>(value)
             : std::numeric_limits<int64_t>::min();
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  return kTraits[static_cast<size_t>(dtype)].name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
  for (size_t i = 0; i < kTraits.size(); ++i)
    if (kTraits[i].name == name) return static_cast<DType>(i);
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.dtype;
  return std::nullopt;
}

size_t item_size(DType dtype) {
  return kTraits[static_cast<size_t>(dtype)].size;
}

bool is_floating(DType dtype) {
  return (dtype >= DType::kFloat16 && dtype <= DType::kFloat64) || dtype >= DType::kFloat8E4M3FN;
}
bool is_complex(DType dtype) {
  return dtype >= DType::kComplex32 && dtype <= DType::kComplex128;
}
bool is_integer(DType dtype) {
  return dtype >= DType::kUInt8 && dtype <= DType::kInt64;
}
bool is_signed_integer(DType dtype) {
  return dtype >= DType::kInt8 && dtype <= DType::kInt64;
}

uint16_t float16_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to 65536 or more
  if (magnitude < 0x38800000) {
    // Below 2^-14: adding 0.5 puts the result's 2^-24 at the last place of the sum, where the processor
    // rounds.
    float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000));
  }
  uint32_t odd = (magnitude >> 13) & 1;
  magnitude += 0xc8000000 + 0xfff + odd;  // bias 127 -> 15, rounding half to even
  return static_cast<uint16_t>(sign | (magnitude >> 13));
}

float float_from_float16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  uint32_t exponent = magnitude & 0x0f800000;
  if (exponent == 0x0f800000) {
    magnitude += 0x70000000;  // infinity, NaN
  } else if (exponent == 0) {
    float value = std::bit_cast<float>(magnitude + 0x38800000) - std::bit_cast<float>(0x38800000U);
    magnitude = std::bit_cast<uint32_t>(value);
  } else {
    magnitude += 0x38000000;
  }
  return std::bit_cast<float>(sign | magnitude);
}

uint16_t bfloat16_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float float_from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint8_t float8_from_float(DType dtype, float value) {
  if (dtype == DType::kFloat8E8M0FNU) return e8m0_from_float(value);
  Float8Format format = float8_format(dtype);
  auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
  int exponent_top = (1 << format.exponent_bits) - 1;
  // The code after the largest finite one, without sign, and what stands for values beyond.
  int first_beyond =
      format.ieee ? exponent_top << format.mantissa_bits : (format.unsigned_zero ? 0x80 : 0x7f);
  auto beyond = static_cast<uint8_t>(format.unsigned_zero ? 0x80 : (sign | (format.ieee ? 0x7c : 0x7f)));
  if (std::isnan(value)) return static_cast<uint8_t>(format.unsigned_zero ? 0x80 : (sign | 0x7f));
  if (std::isinf(value)) return beyond;
  // As a multiple of the last place at its exponent, rounded half to even; the rounding mode is the default
  // one.
  double magnitude = std::fabs(static_cast<double>(value));
  int code = 0;
  if (magnitude > 0) {
    int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
    double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
    // `units` may have reached the next power of two: adding carries into the exponent field.
    code = static_cast<int>(units) + ((exponent + format.bias - 1) << format.mantissa_bits);
    if (code >= first_beyond) return beyond;
  }
  if (code == 0 && format.unsigned_zero) return 0;
  return static_cast<uint8_t>(sign | code);
}

float float_from_float8(DType dtype, uint8_t bits) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (dtype == DType::kFloat8E8M0FNU) return bits == 0xff ? kNan : std::ldexp(1.0f, bits - 127);
  Float8Format format = float8_format(dtype);
  if (format.unsigned_zero && bits == 0x80) return kNan;
  int magnitude = bits & 0x7f;
  int exponent = magnitude >> format.mantissa_bits;
  int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  float value = 0;
  if (format.ieee && exponent == (1 << format.exponent_bits) - 1)
    value = mantissa == 0 ? std::numeric_limits<float>::infinity() : kNan;
  else if (!format.ieee && !format.unsigned_zero && magnitude == 0x7f)
    value = kNan;
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - format.bias - format.mantissa_bits);
  else
    value = std::ldexp(static_cast<float>(mantissa + (1 << format.mantissa_bits)),
                       exponent - format.bias - format.mantissa_bits);
  return (bits & 0x80) != 0 ? -value : value;
}

void store_double(DType dtype, double value, void* out) {
  switch (dtype) {
    case DType::kBool:
      put<uint8_t>(out, value != 0 ? 1 : 0);
      break;
    case DType::kUInt8:
      put(out, static_cast<uint8_t>(truncate64(value)));
      break;
    case DType::kUInt16:
      put(out, static_cast<uint16_t>(truncate32(value)));
      break;
    case DType::kUInt32:
      put(out, static_cast<uint32_t>(truncate64(value)));
      break;
    case DType::kUInt64:
      put(out, value >= 9223372036854775808.0 && value < 18446744073709551616.0
                   ? static_cast<uint64_t>(value)
                   : static_cast<uint64_t>(truncate64(value)));
      break;
    case DType::kInt8:
      put(out, static_cast<int8_t>(truncate32(value)));
      break;
    case DType::kInt16:
      put(out, static_cast<int16_t>(truncate32(value)));
      break;
    case DType::kInt32:
      put(out, truncate32(value));
      break;
    case DType::kInt64:
      put(out, truncate64(value));
      break;
    case DType::kFloat16:
      put(out, float16_from_float(static_cast<float>(value)));
      break;
    case DType::kBFloat16:
      put(out, bfloat16_from_float(static_cast<float>(value)));
      break;
    case DType::kFloat32:
      put(out, static_cast<float>(value));
      break;
    case DType::kFloat64:
      put(out, value);
      break;
    case DType::kComplex32: {
      uint16_t parts[2] = {float16_from_float(static_cast<float>(value)), 0};
      std::memcpy(out, parts, sizeof parts);
      break;
    }
    case DType::kComplex64: {
      float parts[2] = {static_cast<float>(value), 0};
      std::memcpy(out, parts, sizeof parts);
      break;
    }
    case DType::kComplex128: {
      double parts[2] = {value, 0};
      std::memcpy(out, parts, sizeof parts);
      break;
    }
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0FNU:
      put(out, float8_from_float(dtype, static_cast<float>(value)));
      break;
  }
}

double load_double(DType dtype, const void* in) {
  switch (dtype) {
    case DType::kBool:
      return get<uint8_t>(in) != 0 ? 1 : 0;
    case DType::kUInt8:
      return get<uint8_t>(in);
    case DType::kUInt16:
      return get<uint16_t>(in);
    case DType::kUInt32:
      return get<uint32_t>(in);
    case DType::kUInt64:
      return static_cast<double>(get<uint64_t>(in));
    case DType::kInt8:
      return get<int8_t>(in);
    case DType::kInt16:
      return get<int16_t>(in);
    case DType::kInt32:
      return get<int32_t>(in);
    case DType::kInt64:
      return static_cast<double>(get<int64_t>(in));
    case DType::kFloat16:
    case DType::kComplex32:
      return float_from_float16(get<uint16_t>(in));
    case DType::kBFloat16:
      return float_from_bfloat16(get<uint16_t>(in));
    case DType::kFloat32:
    case DType::kComplex64:
      return get<float>(in);
    case DType::kFloat64:
    case DType::kComplex128:
      return get<double>(in);
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0FNU:
      return float_from_float8(dtype, get<uint8_t>(in));
  }
  return 0;
}

}  // namespace graft::bench
