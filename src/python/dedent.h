// textwrap.dedent of CPython up to 3.13.
#pragma once

#include <string>
#include <string_view>

namespace graft::python {

// Removes the longest run of spaces and tabs that all lines with other content begin with, and empties the
// lines made of spaces and tabs alone. Works on raw text split at LF only: lines inside string literals take
// part, and a form feed counts as content.
std::string dedent(std::string_view text);

}  // namespace graft::python
