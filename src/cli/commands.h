// One function a command file, each returning the Command it defines.
#pragma once

#include "cli/command.h"

namespace graft::cli {

}  // namespace graft::cli
