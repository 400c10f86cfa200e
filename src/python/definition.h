// Functions and classes of a module, and the search for one by its qualified name, without running anything.
//
// A qualified name is CPython's __qualname__: "f", "Class.method", "Outer.Inner.method", "f.<locals>.g".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "python/ast.h"
#include "python/parser.h"

namespace graft::python {

struct Definition {
  const Stmt* node = nullptr;  // FunctionDef, AsyncFunctionDef or ClassDef
  std::string qualname;
};

// Every function and class of the module, nested ones included, in text order (an outer one before those
// inside it).
std::vector<Definition> all_definitions(const Module& module);

struct ScopedStatement {
  const Stmt* node = nullptr;
  bool conditional = false;  // inside an if, for, while, try or match statement of this scope
};

// The statements of `body` and of all blocks inside them but those of functions and classes, in text order.
std::vector<ScopedStatement> statements_of_scope(const Nodes<Stmt>& body);

// What a name stands for.
struct Target {
  enum class Kind { kFunction, kClass, kLambda, kProperty };
  Kind kind = Kind::kFunction;
  const Node* node = nullptr;  // the definition or the Lambda; for a property its first accessor
  // kProperty: the accessors, each null or a FunctionBase (or a Lambda).
  const Node* getter = nullptr;
  const Node* setter = nullptr;
  const Node* deleter = nullptr;
  // More than one binding of a name on the way, the last of them under a condition: which one is alive cannot
  // be read off the text.
  bool ambiguous = false;
};

// Follows `qualname` from the top of the module. Where a name is bound more than once, the last binding wins.
// Also followed: methods inherited from a class of the same module, `name = other_name`, `name =
// Class.method`, `name = lambda ...`, properties by decorator
// (@property, @name.setter, ...) and by call (`name = property(f, g)`).
// Class statements: the profile decides as inspect does: up to 3.12 the first class of that qualified
// name, 3.13 the last. Fails when nothing of that name is defined here; the error names the part that was not
// found.
Result<Target> find_target(const ParsedModule& module, std::string_view qualname,
                           Profile profile = Profile::kDefault);

}  // namespace graft::python
