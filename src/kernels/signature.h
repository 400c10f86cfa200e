// Reads the functions a C++ source text defines, to know how each is called from outside: a reader of C++
// declarations, not a compiler. Conditional blocks of the preprocessor are all read as if they were taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/dlpack.h"

namespace graft::kernels {

// A type of elements or scalars a kernel may use.
struct ElementType {
  std::string_view name;  // as torch calls the dtype; "any" for void*
  std::string_view cpp;   // as the C++ text writes it
  DlDataType dtype;       // code, bits; {0, 0, 0} for void
};

struct Parameter {
  enum class Kind {
    kPointer,  // T*: the memory of a contiguous tensor
    kTensor,   // graft::Tensor: a tensor of any strides and any dtype
    kScalar,   // bool, an integer or a floating-point number by value
  };
  Kind kind = Kind::kScalar;
  std::string name;                   // empty when unnamed
  const ElementType* type = nullptr;  // nullptr for kTensor
  bool is_const = false;              // const T*
  bool has_default = false;
};

struct Function {
  std::string name;  // qualified: "detail::gelu"
  int line = 0;      // of the name, from 1
  bool internal =
      false;  // static, inline, constexpr or in an unnamed namespace: a helper unless asked for by name
  const ElementType* result = nullptr;  // nullptr: void
  std::vector<Parameter> parameters;
  // Why the function cannot be called from outside ("parameter 'x' has type 'std::vector<float>'"); empty
  // when it can.
  std::string obstacle;

  size_t required() const;          // parameters without a default
  std::string declaration() const;  // "void f(const float* x, int64_t n)"
};

// Every function with a body at namespace scope, in the order of the text. Fails with kInput on unbalanced
// brackets, an unterminated comment or string, with the place in the text.
Result<std::vector<Function>> read_functions(std::string_view source);

// The functions callable from outside: `wanted` when it is not empty, else every one that is neither internal
// nor has an obstacle. Fails with kInput, naming what there is, when that leaves none, or when two of them
// share a name.
Result<std::vector<Function>> callable_functions(std::string_view source, std::string_view wanted);

}  // namespace graft::kernels
