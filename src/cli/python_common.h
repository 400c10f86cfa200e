// What the commands of the group `python` share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace graft::cli {

// --profile.
Option profile_option(std::string* value);
// --jobs; 0 stands for the number of cores.
Option jobs_option(int* value);
int effective_jobs(int value);

// The error as for any other, then the line of the text it is about and a caret under its column.
std::string with_caret(const Error& error, std::string_view line_text);

}  // namespace graft::cli
