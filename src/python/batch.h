// Many Python texts at once: which ones a list of paths names, and work on them by several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace graft::python {

// One text: a file, or the member "model.py" of a record of a .jsonl file.
struct BatchInput {
  std::string name;                          // the path; FILE.jsonl:RECORD for a record
  std::string path;                          // the file to read
  std::shared_ptr<const std::string> bytes;  // the text itself where it comes from a record
};

// Files are taken as they are, whatever their name; *.jsonl gives one input per record; a folder gives every
// *.py below it, in the order of their paths, symbolic links to folders not followed. Fails for a path that
// does not exist and for a malformed .jsonl.
Result<std::vector<BatchInput>> collect_inputs(const std::vector<std::string>& paths);

// The bytes of an input.
Result<std::string> read_input(const BatchInput& input);

// Calls work(index) for 0 <= index < count, once each, from `jobs` threads (1: from this one, in order). work
// must not throw.
void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& work);

}  // namespace graft::python
