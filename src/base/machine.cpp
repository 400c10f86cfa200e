#include "base/machine.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>

#include "base/file.h"

namespace graft {
namespace {

// The management library's interface, as far as it is used (docs.nvidia.com/deploy/nvml-api).
struct Nvml {
  using Device = void*;
  struct Memory {
    unsigned long long total, free, used;
  };
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*capability)(Device, int*, int*) = nullptr;
  const char* (*words)(int) = nullptr;

  bool load(void* library) {
    auto find = [library](const char* symbol, auto* into) {
      *into = reinterpret_cast<std::remove_pointer_t<decltype(into)>>(dlsym(library, symbol));
      return *into != nullptr;
    };
    return find("nvmlInit_v2", &init) && find("nvmlShutdown", &shutdown) &&
           find("nvmlSystemGetDriverVersion", &driver_version) && find("nvmlDeviceGetCount_v2", &count) &&
           find("nvmlDeviceGetHandleByIndex_v2", &device) && find("nvmlDeviceGetName", &name) &&
           find("nvmlDeviceGetMemoryInfo", &memory) &&
           find("nvmlDeviceGetCudaComputeCapability", &capability) && find("nvmlErrorString", &words);
  }
};

Result<GpuSystem> ask(const Nvml& nvml) {
  GpuSystem system;
  char text[128] = "";
  unsigned count = 0;
  if (int code = nvml.driver_version(text, sizeof text); code != 0) return fault(nvml.words(code));
  system.driver = text;
  if (int code = nvml.count(&count); code != 0) return fault(nvml.words(code));
  for (unsigned i = 0; i < count; ++i) {
    Nvml::Device device = nullptr;
    Nvml::Memory memory{};
    Gpu gpu;
    if (int code = nvml.device(i, &device); code != 0) return fault(nvml.words(code));
    if (nvml.name(device, text, sizeof text) == 0) gpu.name = text;
    if (nvml.memory(device, &memory) == 0) gpu.memory_bytes = memory.total;
    nvml.capability(device, &gpu.capability_major, &gpu.capability_minor);
    system.gpus.push_back(std::move(gpu));
  }
  return system;
}

}  // namespace

std::string processor_name() {
  auto text = read_file("/proc/cpuinfo", 1 << 24);
  if (!text.ok()) return "unknown";
  size_t at = text->find("model name");
  if (at == std::string::npos) return "unknown";
  size_t start = text->find(": ", at);
  size_t end = text->find('\n', at);
  if (start == std::string::npos || end == std::string::npos || start > end) return "unknown";
  return text->substr(start + 2, end - start - 2);
}

int usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

Result<GpuSystem> nvidia_gpus() {
  // Some containers mount the driver where the loader does not look.
  void* library = nullptr;
  for (const char* name : {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                           "/usr/local/nvidia/lib/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) return missing_error("no NVIDIA driver", "passes run on the CPU without one");
  Nvml nvml;
  if (!nvml.load(library)) return missing_error("the NVIDIA driver is too old", "update the driver");
  if (int code = nvml.init(); code != 0)
    return missing_error(fmt::format("the NVIDIA driver does not answer: {}", nvml.words(code)),
                         "is a GPU visible in this container or machine?");
  auto system = ask(nvml);
  nvml.shutdown();
  return system;
}

SandboxSupport sandbox_support() {
  SandboxSupport support;
  pid_t pid = fork();
  if (pid == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
  int status = 0;
  if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)) {
    support.user_namespaces = WEXITSTATUS(status) == 0;
    if (!support.user_namespaces) support.user_namespaces_reason = std::strerror(WEXITSTATUS(status));
  } else {
    support.user_namespaces_reason = "could not be tried";
  }
  // landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION); the number is the same on every
  // architecture.
  constexpr long kLandlockCreateRuleset = 444;
  long abi = syscall(kLandlockCreateRuleset, nullptr, 0, 1U);
  support.landlock_abi = abi > 0 ? static_cast<int>(abi) : 0;
  unsigned action = SECCOMP_RET_ERRNO;
  support.seccomp_filter = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  return support;
}

Result<uint64_t> free_disk(const std::string& path) {
  std::string existing = path;
  while (!is_directory(existing)) {
    std::string above = std::filesystem::path(existing).parent_path().string();
    if (above.empty() || above == existing) return os_error("look at", path, ENOENT);
    existing = above;
  }
  struct statvfs info {};
  if (statvfs(existing.c_str(), &info) != 0) return os_error("look at", existing, errno);
  return uint64_t{info.f_bavail} * info.f_frsize;
}

}  // namespace graft
