#include "kernels/preamble.h"

#include <fmt/core.h>

namespace graft::kernels {
namespace {

// Compiled with every kernel, so it includes only what is cheap to read.
constexpr std::string_view kPreamble =
    R"text(#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace graft {

// bfloat16 as storage: converts to float exactly, from float by rounding to nearest even.
struct bfloat16 {
  std::uint16_t bits;
  bfloat16() = default;
  bfloat16(float value) {
    std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    bits = static_cast<std::uint16_t>(
        value != value ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// IEEE binary16 as storage: converts to float exactly, from float by rounding to nearest even.
struct half {
  std::uint16_t bits;
  half() = default;
  half(float value) {
    std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    std::uint32_t sign = (word >> 16) & 0x8000u;
    std::uint32_t size = word & 0x7fffffffu;
    std::uint32_t result;
    if (size > 0x7f800000u) {
      result = 0x7e00u;  // NaN
    } else if (size >= 0x477ff000u) {
      result = 0x7c00u;               // rounds to infinity
    } else if (size < 0x38800000u) {  // below the smallest normal number: the adder rounds
      result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u;
    } else {
      result = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
    }
    bits = static_cast<std::uint16_t>(sign | result);
  }
  operator float() const {
    std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    std::uint32_t size = bits & 0x7fffu;
    std::uint32_t result;
    if (size >= 0x7c00u) {
      result = 0x7f800000u | ((size & 0x3ffu) << 13);
    } else if (size >= 0x400u) {
      result = (size << 13) + 0x38000000u;
    } else {
      result = std::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24f);
    }
    return std::bit_cast<float>(sign | result);
  }
};

enum class Kind : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  real = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6
};

// A tensor of any strides: what a parameter of this type is given.
struct Tensor {
  void* memory;
  const std::int64_t* sizes;
  const std::int64_t* strides;  // in elements
  std::int32_t ndim;
  Kind kind;
  std::uint8_t bits;  // of one element

  template <class T>
  T* data() const {
    return static_cast<T*>(memory);
  }
  std::int64_t size(int dim) const { return sizes[dim < 0 ? dim + ndim : dim]; }
  std::int64_t stride(int dim) const { return strides[dim < 0 ? dim + ndim : dim]; }
  std::int64_t numel() const {
    std::int64_t count = 1;
    for (int i = 0; i < ndim; ++i) count *= sizes[i];
    return count;
  }
};

}  // namespace graft
    )text";

constexpr std::string_view kCalls = R"text(
  namespace graft_calls {
  union Value {
    std::int64_t integer;
    double real;
    void* pointer;
  };
  inline int failed(const char* text, char* message, std::uint64_t size) {
    std::uint64_t i = 0;
    for (; i + 1 < size && text[i] != 0; ++i) message[i] = text[i];
    if (size > 0) message[i] = 0;
    return 1;
  }
  }  // namespace graft_calls
)text";

std::string argument(const Parameter& parameter, size_t index) {
  switch (parameter.kind) {
    case Parameter::Kind::kPointer:
      return fmt::format("static_cast<{}{}*>(values[{}].pointer)", parameter.is_const ? "const " : "",
                         parameter.type->cpp, index);
    case Parameter::Kind::kTensor:
      return fmt::format("*static_cast<graft::Tensor*>(values[{}].pointer)", index);
    case Parameter::Kind::kScalar:
      break;
  }
  return fmt::format("static_cast<{}>(values[{}].{})", parameter.type->cpp, index,
                     parameter.type->dtype.code == kDlFloat ? "real" : "integer");
}

std::string call(const Function& function, size_t count) {
  std::string text = "::" + function.name + "(";
  for (size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + argument(function.parameters[i], i);
  text += ")";
  if (function.result == nullptr) return text;
  if (function.result->dtype.code == kDlFloat) return "result->real = static_cast<double>(" + text + ")";
  return "result->integer = static_cast<std::int64_t>(" + text + ")";
}

std::string trampoline(const Function& function, size_t index) {
  std::string text = fmt::format(
      "extern \"C\" __attribute__((visibility(\"default\"))) int graft_call_{}(const graft_calls::Value* "
      "values, int count,\n"
      "    graft_calls::Value* result, char* message, std::uint64_t size) {{\n"
      "  (void)values; (void)result;\n"
      "  try {{\n"
      "    switch (count) {{\n",
      index);
  for (size_t count = function.required(); count <= function.parameters.size(); ++count)
    text += fmt::format("      case {}: {}; return 0;\n", count, call(function, count));
  text +=
      "      default: return graft_calls::failed(\"wrong number of arguments\", message, size);\n"
      "    }\n"
      "  } catch (const std::exception& error) {\n"
      "    return graft_calls::failed(error.what(), message, size);\n"
      "  } catch (...) {\n"
      "    return graft_calls::failed(\"an exception that is no std::exception\", message, size);\n"
      "  }\n"
      "}\n";
  return text;
}

}  // namespace

std::string translation_unit(std::string_view source, const std::vector<Function>& functions) {
  std::string text =
      fmt::format("{}#line 1 \"{}\"\n{}\n#line 1 \"calls.cpp\"\n{}", kPreamble, kSourceName, source, kCalls);
  for (size_t i = 0; i < functions.size(); ++i) text += trampoline(functions[i], i);
  return text;
}

}  // namespace graft::kernels
