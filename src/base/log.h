// Words for people, on stderr. Data never goes through here: it is printed to stdout by the command that owns
// it.
#pragma once

#include <string_view>

namespace graft {

enum class Verbosity { kQuiet, kNormal, kVerbose };

void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

// Printed unless -q.
void log_info(std::string_view text);
// Printed unless -q, behind "warning: ".
void log_warning(std::string_view text);
// Printed with -v.
void log_verbose(std::string_view text);

// One line of progress: overwritten in place on a terminal; elsewhere at most one plain line every few
// seconds.
void log_progress(std::string_view text);
// Clears the line of progress on a terminal.
void end_progress();

}  // namespace graft
