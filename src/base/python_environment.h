// Which Python the program starts its workers with, and where that Python finds the package `graft`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace graft {

struct PythonEnvironment {
  std::string executable;    // absolute path
  std::string origin;        // which rule found it, for people: "$GRAFT_PYTHON", "beside the program", ...
  std::string package_path;  // folder that holds the package `graft` of this very program; empty when the
                             // interpreter has it installed

  // What a child must get on top of its environment: PYTHONPATH with package_path before what it was. Empty
  // without a package_path.
  std::vector<std::pair<std::string, std::string>> variables() const;
};

// The first of: $GRAFT_PYTHON; the interpreter in the program's own folder (the program was installed by
// pip); .venv/bin/python in one of the three folders above the program (the program was built in a clone);
// python3 on the PATH. `program` is the path of the running program; empty asks the kernel. Fails with
// kMissing when there is none, and with kInput when $GRAFT_PYTHON is not an executable file.
Result<PythonEnvironment> find_python_environment(std::string_view program = {});

}  // namespace graft
