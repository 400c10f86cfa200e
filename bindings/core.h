// The extension module graft._core: one registration function a concept, each in a file of its own name.
#pragma once

#include <nanobind/nanobind.h>

#include "base/result.h"

namespace graft::bindings {

void bind_doorbell(nanobind::module_& module);
void bind_kernels(nanobind::module_& module);

// Throws the Python exception that fits an Error: ValueError for a wrong request, RuntimeError for a missing
// piece of the machine or a fault. The text is Error::to_string().
[[noreturn]] void raise(const Error& error);

// The value of a Result, or the Python exception of its Error.
template <class T>
T value_or_raise(Result<T> result) {
  if (!result.ok()) raise(result.error());
  return std::move(result).value();
}

}  // namespace graft::bindings
