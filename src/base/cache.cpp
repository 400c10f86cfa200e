#include "base/cache.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"

namespace graft {
namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Result<std::string> cache_directory() {
  if (const char* path = variable("GRAFT_CACHE")) return std::string(path);
  if (const char* path = variable("XDG_CACHE_HOME")) return join_path(path, "graft");
  if (const char* path = variable("HOME")) return join_path(path, ".cache/graft");
  return missing_error("no place for the cache: HOME is not set", "set GRAFT_CACHE to a folder");
}

Result<std::string> cache_directory(std::string_view name) {
  GRAFT_ASSIGN_OR_RETURN(std::string root, cache_directory());
  GRAFT_RETURN_IF_ERROR(make_directories(root));
  std::string path = join_path(root, name);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return os_error("create", path, errno);
  return path;
}

}  // namespace graft
