#include "kernels/library.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace graft::kernels {
namespace {

// Paths of the OpenMP runtimes in this process: GNU's, Intel's and LLVM's; wheels rename theirs to
// libgomp-<hash>.so.1.
std::vector<std::string> loaded_openmp_runtimes() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
        std::string_view name = path.substr(path.rfind('/') + 1);
        for (std::string_view known : {"libgomp", "libiomp5", "libomp"})
          if (name.starts_with(known)) static_cast<std::vector<std::string>*>(into)->emplace_back(path);
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

Result<Library> Library::load(const std::string& path) {
  // A runtime under the usual name is found by the loader itself. One under another name is made visible to
  // every object loaded later, before the one the kernel was linked with, whose functions are then never
  // called.
  for (const std::string& runtime : loaded_openmp_runtimes())
    dlopen(runtime.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return missing_error(fmt::format("cannot load the kernel: {}", reason != nullptr ? reason : path),
                         "the kernel needs a library this machine lacks, or names a function nobody defines");
  }
  return Library(handle);
}

Result<void*> Library::symbol(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) return fault(fmt::format("the loaded kernel has no symbol '{}'", name));
  return address;
}

}  // namespace graft::kernels
