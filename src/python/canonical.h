// The canonical text of a syntax tree and its identity, ast-v1.
//
//   node  = ClassName "(" [ field { "," field } ] ")"        field = name "=" value
//   value = node | "[" [ value { "," value } ] "]" | scalar
//
// Fields come in CPython's declared order; one whose value is None or an empty list is left out, at every
// depth. Scalars follow Python's repr(). There are no blanks and no positions. The profile decides what
// depends on the version of CPython: 3.8 wraps subscripts in Index and ExtSlice, 3.12 ends a format
// specification that ends in a field with an empty Constant, and characters assigned later are escaped in
// strings. The default profile prints as 3.11 does.
//
// Memory: the depth of the tree plus one constant; the text itself is passed on in pieces.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "python/ast.h"
#include "python/parser.h"

namespace graft::python {

// The x of CPython 3.x whose rules a profile stands for: 11 for the default.
int minor_version(Profile profile);

// Takes a text in pieces.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void write(std::string_view piece) = 0;
};

// Fails where CPython cannot print the tree: an int of more than 4300 decimal digits.
Status write_canonical(const Node& node, Profile profile, TextSink& sink);
Result<std::string> canonical_text(const Node& node, Profile profile = Profile::kDefault);

// "ast-v1:" and the SHA-256 of the canonical text, in lower-case hexadecimal.
Result<std::string> ast_hash(const Node& node, Profile profile = Profile::kDefault);

}  // namespace graft::python
