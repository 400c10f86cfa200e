// The C++ text put before every kernel's source, and the calling convention between a compiled kernel and
// this program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/signature.h"

namespace graft::kernels {

// One argument or result in the calling convention: integers and bool as int64_t (uint64_t bit by bit),
// floating-point numbers as double, tensors as a pointer (to the data for T*, to a TensorView for
// graft::Tensor).
union Value {
  int64_t integer;
  double real;
  void* pointer;
};

// What the kernel's text knows as graft::Tensor; both are laid out alike.
struct TensorView {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;  // in elements
  int32_t ndim;
  uint8_t code;  // DlTypeCode
  uint8_t bits;
};

// The symbol "graft_call_<index of the function>": calls the function with `count` values. 0, or 1 when it
// threw; then `message` holds the exception's text.
using Trampoline = int (*)(const Value* values, int count, Value* result, char* message,
                           uint64_t message_size);

// The file name by which the compiler's messages name the kernel's own text.
inline constexpr std::string_view kSourceName = "kernel.cpp";

// The whole translation unit: the declarations of namespace graft, the source under the name kSourceName with
// its own line numbers, and one trampoline a function.
std::string translation_unit(std::string_view source, const std::vector<Function>& functions);

}  // namespace graft::kernels
