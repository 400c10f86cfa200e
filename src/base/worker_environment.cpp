#include "base/worker_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

extern char** environ;

namespace graft {

std::vector<std::pair<std::string, std::string>> worker_environment() {
  constexpr std::array<std::string_view, 17> kNames = {"PATH",
                                                       "HOME",
                                                       "USER",
                                                       "LANG",
                                                       "TMPDIR",
                                                       "PYTHONPATH",
                                                       "PYTHONHOME",
                                                       "VIRTUAL_ENV",
                                                       "LD_LIBRARY_PATH",
                                                       "LD_PRELOAD",
                                                       "CC",
                                                       "CXX",
                                                       "CPATH",
                                                       "LIBRARY_PATH",
                                                       "XDG_CACHE_HOME",
                                                       "MALLOC_ARENA_MAX",
                                                       "ASAN_OPTIONS"};
  constexpr std::array<std::string_view, 14> kPrefixes = {
      "LC_",  "CUDA_", "NVIDIA_", "TRITON_", "TORCH_",    "TORCHINDUCTOR_", "PYTORCH_",
      "OMP_", "GOMP_", "KMP_",    "MKL_",    "OPENBLAS_", "CCACHE_",        "GRAFT_"};
  std::vector<std::pair<std::string, std::string>> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = text.substr(0, equals);
    bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
                 std::any_of(kPrefixes.begin(), kPrefixes.end(),
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (known) result.emplace_back(name, text.substr(equals + 1));
  }
  return result;
}

}  // namespace graft
