// Python source -> AST, without running anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "python/arena.h"
#include "python/ast.h"
#include "python/source.h"

namespace graft::python {

// Whose grammar. kDefault accepts every form up to 3.13; where versions differ in the meaning of one
// text, 3.11 decides.
enum class Profile : uint8_t {
  kDefault = 0,
  kPython38 = 8,
  kPython39,
  kPython310,
  kPython311,
  kPython312,
  kPython313
};

// "3.8" ... "3.13" or "default".
Result<Profile> parse_profile(std::string_view name);

struct ParseOptions {
  Profile profile = Profile::kDefault;
  uint32_t max_errors = 20;  // stop after this many syntax errors; at least 1
};

struct TextRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// A parsed file. Owns the text and all nodes; nodes and their views stay valid when the object is moved.
struct ParsedModule {
  SourceText source;
  Arena arena;
  // Never null. With errors it holds the statements that could be read: good for diagnosis, not for use.
  const Module* module = nullptr;
  std::vector<Error> errors;        // in text order; errors[0] is the one CPython would report
  std::vector<TextRange> comments;  // from '#' to before the line end, in text order
  bool ok() const { return errors.empty(); }
};

// Never fails outright: an unreadable program gives `errors`. Memory is bounded by a multiple of the text's
// size.
ParsedModule parse_module(SourceText source, const ParseOptions& options = {});

// Reads, decodes and parses; the first syntax error, where there is one, becomes the Error.
Result<ParsedModule> parse_text(std::string bytes, std::string file = {}, const ParseOptions& options = {});
Result<ParsedModule> parse_file(const std::string& path, const ParseOptions& options = {});

}  // namespace graft::python
