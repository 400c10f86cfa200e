// The source text of a definition, as Python's inspect.getsource() gives it, and the evidence made of it:
// source-v1 and ast-v1.
//
// All of it works on the text of a file that is not run. What a decorator or an assignment at run time makes
// of a definition is not seen; the text is that of the definition as written, with its decorators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "python/ast.h"
#include "python/definition.h"
#include "python/parser.h"

namespace graft::python {

// Whole physical lines, counted from 1, both ends included.
struct LineRange {
  uint32_t first = 0;
  uint32_t last = 0;
  friend bool operator==(const LineRange&, const LineRange&) = default;
};

// The lines of a function or class. They begin at the first decorator and end with the last line of the
// body's last statement. Where the body is an indented block, comments on lines of their own after it that
// are indented at least as much as its first statement belong to it, with everything before them. (3.8 leaves
// out the decorators of classes.)
LineRange definition_lines(const ParsedModule& module, const Stmt& definition,
                           Profile profile = Profile::kDefault);

// The lines of a lambda: from the line on which it begins to the end of the logical line that begins there,
// brackets opened earlier being unknown. Fails where CPython's tokenizer finds no end, which happens when the
// line begins inside a string.
Result<LineRange> lambda_lines(const ParsedModule& module, const Lambda& lambda,
                               Profile profile = Profile::kDefault);

// The lines with their LFs; a final LF is added where the file has none.
std::string text_of_lines(const SourceText& source, LineRange lines);

// The text that is hashed for a target. A property has one part per accessor, getter, setter, deleter in this
// order:
// `__turbo_physai_property_accessor__ = '<role>'`, LF, the dedented text of the accessor; parts are joined by
// LF.
struct Segment {
  std::string text;
  LineRange lines;  // from the first to the last line of any part
};
Result<Segment> segment_of(const ParsedModule& module, const Target& target,
                           Profile profile = Profile::kDefault);

// The text of a whole module: the bytes as strict UTF-8 with LF line ends, a byte-order mark kept, coding
// cookies ignored. nullopt where they are no UTF-8.
std::optional<std::string> module_segment(std::string_view bytes);

struct Evidence {
  std::string source;  // "source-v1:" and the SHA-256 of the text as UTF-8
  std::optional<std::string>
      ast;  // "ast-v1:..." of the dedented text; absent where that is no program of its own
};
Evidence evidence_of(std::string_view text, Profile profile = Profile::kDefault);

// The text dedented and parsed as a module of its own: what ast-v1 is computed from. The first syntax error
// becomes the Error.
Result<ParsedModule> parse_segment(std::string_view text, Profile profile = Profile::kDefault);

// The last line that CPython's getblock() takes of lines that begin at `first`: its own method, token by
// token, without the tree. It serves lambdas, and tests of definition_lines().
Result<uint32_t> block_end_by_tokens(const SourceText& source, uint32_t first,
                                     Profile profile = Profile::kDefault);

}  // namespace graft::python
