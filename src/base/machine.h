// What this machine has: processor, GPUs, and the kernel's means to confine a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace graft {

// The processor's name from /proc/cpuinfo ("unknown" where it has none), and how many of its threads this
// process may use.
std::string processor_name();
int usable_processors();

struct Gpu {
  std::string name;
  uint64_t memory_bytes = 0;
  int capability_major = 0;
  int capability_minor = 0;
};

struct GpuSystem {
  std::string driver;     // "580.159.04"
  std::vector<Gpu> gpus;  // in the driver's order, whatever CUDA_VISIBLE_DEVICES says
};

// NVIDIA's GPUs, asked of the management library of the driver: no CUDA context is made. Fails with kMissing
// when there is no driver, and with the library's own words when it is there and does not answer.
Result<GpuSystem> nvidia_gpus();

struct SandboxSupport {
  bool user_namespaces = false;        // tried in a child
  std::string user_namespaces_reason;  // the kernel's answer when not
  int landlock_abi = 0;                // 0: none
  bool seccomp_filter = false;
};
SandboxSupport sandbox_support();

// Bytes free for this user on the file system that holds `path` (or its nearest existing folder above).
Result<uint64_t> free_disk(const std::string& path);

}  // namespace graft
