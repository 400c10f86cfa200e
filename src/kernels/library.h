// A shared object loaded into this process. It stays loaded until the process ends: code of it may be on a
// stack, and OpenMP threads may still hold pointers into it.
#pragma once

#include <string>

#include "base/result.h"

namespace graft::kernels {

class Library {
 public:
  // Loads the object. An OpenMP runtime that is already in the process (torch brings its own) is used for it
  // too, so that kernels and torch share one pool of threads and one setting of their number.
  static Result<Library> load(const std::string& path);

  // Fails with kFault when the object has no such symbol.
  Result<void*> symbol(const std::string& name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace graft::kernels
