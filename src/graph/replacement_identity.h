// Which function a pass file hands out as its replacement, so that passes which share one are known as such.
#pragma once

#include <string>

#include "python/parser.h"

namespace graft::graph {

// Read from the text of `replacement_func`, without running it: the dotted origin of an imported function
// ("pass_dir.helper.kernel"), "<path>:<name>" of one the file defines itself, or "<path>" where the text does
// not tell. Two passes of one pass folder have equal identities exactly where they return one object, as far
// as text decides.
std::string replacement_identity(const python::ParsedModule& module, const std::string& path);
// The same for a file; an unreadable one has its path as identity.
std::string replacement_identity(const std::string& path);

}  // namespace graft::graph
