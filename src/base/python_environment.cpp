#include "base/python_environment.h"

#include <limits.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>

#include "base/file.h"
#include "base/process.h"

namespace graft {
namespace {

namespace fs = std::filesystem;

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string parent(const std::string& path) {
  return fs::path(path).parent_path().string();
}

bool holds_package(const std::string& folder) {
  return is_regular_file(join_path(folder, "graft/__init__.py"));
}

std::string running_program() {
  std::error_code code;
  fs::path path = fs::read_symlink("/proc/self/exe", code);
  return code ? std::string() : path.string();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PythonEnvironment::variables() const {
  if (package_path.empty()) return {};
  std::string inherited = value_of("PYTHONPATH");
  return {{"PYTHONPATH", inherited.empty() ? package_path : package_path + ":" + inherited}};
}

Result<PythonEnvironment> find_python_environment(std::string_view program) {
  std::string path = program.empty() ? running_program() : std::string(program);
  std::string folder = parent(path);
  PythonEnvironment environment;
  // <build>/graft has <build>/python; <bundle>/bin/graft has <bundle>/python.
  for (const std::string& candidate : {join_path(folder, "python"), join_path(parent(folder), "python")}) {
    if (environment.package_path.empty() && holds_package(candidate)) environment.package_path = candidate;
  }

  if (std::string chosen = value_of("GRAFT_PYTHON"); !chosen.empty()) {
    environment.executable = find_on_path(chosen);
    environment.origin = "$GRAFT_PYTHON";
    if (environment.executable.empty())
      return input_error(fmt::format("GRAFT_PYTHON is '{}', which is not an executable file", chosen), {},
                         "the path of a Python interpreter", "correct or unset GRAFT_PYTHON");
    return environment;
  }
  for (const char* name : {"python3", "python"}) {
    std::string candidate = join_path(folder, name);
    if (!is_executable(candidate)) continue;
    environment.executable = candidate;
    environment.origin = "beside the program";
    return environment;
  }
  std::string above = folder;
  for (int level = 0; level < 3; ++level) {
    above = parent(above);
    std::string candidate = join_path(above, ".venv/bin/python");
    if (!is_executable(candidate)) continue;
    environment.executable = candidate;
    environment.origin = ".venv of the clone";
    return environment;
  }
  environment.executable = find_on_path("python3");
  environment.origin = "python3 on the PATH";
  if (environment.executable.empty())
    return missing_error("no Python found", "install Python 3.10 or newer, or set GRAFT_PYTHON to one");
  return environment;
}

}  // namespace graft
