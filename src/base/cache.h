// Where Graft keeps what it can make again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace graft {

// $GRAFT_CACHE, else $XDG_CACHE_HOME/graft, else ~/.cache/graft. Nothing is created. Fails with kMissing when
// none of the three variables is set.
Result<std::string> cache_directory();

// The folder `name` in the cache, created when absent, for this user only (mode 0700).
Result<std::string> cache_directory(std::string_view name);

}  // namespace graft
