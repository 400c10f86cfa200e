// C++ source text -> shared object, compiled once for this text, these flags, this compiler and this
// processor.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/toolchain.h"

namespace graft::kernels {

// Where a source text stands in a file, so that messages can name that place. Line 1 of the text is `line` of
// `file`.
struct Origin {
  std::string file;  // empty: the text has no file
  int line = 1;
};

struct CompileOptions {
  std::vector<std::string> flags;  // after the standard ones
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
  Origin origin;
};

struct CompiledObject {
  std::string path;     // the shared object, in the cache
  std::string key;      // SHA-256 of everything it was made from
  bool cached = false;  // it was there already
  double seconds = 0;   // of compiling; 0 when cached
};

// Why a text did not become an object: what the compiler said, or that it took too long.
struct CompileFailure {
  Error error;  // kInput: the text is wrong; kMissing: no compiler; message without the compiler's output
  std::string output;  // the compiler's own messages, places translated to the origin; may be empty

  std::string to_string() const;
};

// A CompiledObject or a CompileFailure.
struct CompileResult {
  CompiledObject object;
  std::optional<CompileFailure> failure;
  bool ok() const { return !failure; }
};

// `unit` is the translation unit, in which `source` stands under the name kSourceName (see preamble.h);
// `source` is written beside it so that the compiler can quote its lines.
//
// The cache is the folder `kernels` of cache_directory(). An entry is an object and a record with the
// object's SHA-256; one that does not agree with its record is made again. Processes that ask for the same
// key compile once: the others wait.
CompileResult compile(const std::string& unit, const std::string& source, const CompileOptions& options);

// "kernel.cpp:12:5: error" -> "pass.py:57:5: error" for every place in the text `output`.
std::string translate_places(std::string_view output, const Origin& origin);

}  // namespace graft::kernels
