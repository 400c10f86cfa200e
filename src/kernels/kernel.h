// A kernel given as C++ text: read at once, compiled when asked, loaded at the first call.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/compile.h"
#include "kernels/library.h"
#include "kernels/preamble.h"
#include "kernels/signature.h"

namespace graft::kernels {

// One source text with the functions it offers. Thread-safe.
class CppSource {
 public:
  // Reads the text; `function` picks one of its functions, empty takes all. Fails with kInput (places in
  // options.origin).
  static Result<std::shared_ptr<CppSource>> create(std::string source, std::string_view function,
                                                   CompileOptions options);

  const std::vector<Function>& functions() const { return functions_; }

  // Compiles, or finds the object in the cache. A failure is kept: the text does not get better. A success is
  // kept too.
  const CompileResult& compile();
  bool compiled();

  // The trampoline of functions()[index], compiling and loading first.
  struct Loaded {
    Trampoline call = nullptr;
    std::optional<CompileFailure> failure;
  };
  Loaded load(size_t index);

 private:
  CppSource() = default;
  const CompileResult& compile_locked();

  std::string source_;
  CompileOptions options_;
  std::vector<Function> functions_;
  std::mutex mutex_;
  std::optional<CompileResult> result_;
  std::optional<Library> library_;
};

// What is wrong with `tensor` as an argument for `parameter`, in words ("expected float32, got float64");
// empty when it fits. A tensor fits a pointer when it is in CPU memory, its dtype is the pointer's (uint16_t*
// also takes the bits of float16 and bfloat16, uint8_t* those of bool, void* anything) and it is contiguous;
// it fits graft::Tensor when it is in CPU memory.
std::string mismatch(const DlTensor& tensor, const Parameter& parameter);

// "float32", "int64", ...; "<code>x<bits>" for what has no name here.
std::string dtype_name(DlDataType dtype);

// True when the elements lie in row-major order without gaps (sizes of 1 and empty tensors have no order).
bool is_contiguous(const DlTensor& tensor);

}  // namespace graft::kernels
