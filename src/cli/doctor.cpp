// graft doctor
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>

#include "base/cache.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/process.h"
#include "base/python_environment.h"
#include "base/version.h"
#include "cli/commands.h"
#include "kernels/toolchain.h"

namespace graft::cli {
namespace {

struct Check {
  std::string name;
  bool ok = false;
  bool needed = false;  // without it nothing is evaluated on the CPU
  std::string value;
  std::string hint;  // empty when ok
};

class Checks {
 public:
  void yes(std::string name, std::string value) { add({std::move(name), true, false, std::move(value), ""}); }
  void no(std::string name, std::string value, std::string hint) {
    add({std::move(name), false, false, std::move(value), std::move(hint)});
  }
  void add(Check check) { list_.push_back(std::move(check)); }
  // The last check is one without which nothing runs.
  void needed() { list_.back().needed = true; }
  const std::vector<Check>& list() const { return list_; }

 private:
  std::vector<Check> list_;
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Of what Python says when it fails, the last line names the reason.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// The first line a program prints, "" when it is absent or fails.
std::string answer(std::vector<std::string> command,
                   std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  ProcessOptions options;
  options.argv = std::move(command);
  options.environment = {{"LC_ALL", "C"}};
  auto output = run_process(options, limit);
  return output.ok() && output->status.success() ? first_line(output->out) : std::string();
}

// Prints one JSON object; every part that fails says why under "<part>_error".
constexpr const char* kPythonProbe = R"py(
import json, sys
out = {"version": sys.version.split()[0], "executable": sys.executable}
def part(name, get):
    try:
        out[name] = get()
    except BaseException as error:
        out[name + "_error"] = f"{type(error).__name__}: {error}".splitlines()[0]
def of(name):
    return __import__(name).__version__
part("graft", lambda: of("graft"))
part("numpy", lambda: of("numpy"))
part("torch", lambda: of("torch"))
if "torch" in out:
    import torch
    out["cuda_build"] = torch.version.cuda
    part("cuda_devices", lambda: torch.cuda.device_count() if torch.cuda.is_available() else 0)
part("triton", lambda: of("triton"))
# A warning printed on stdout by an import must not be taken for the answer.
print("\n" + json.dumps(out))
)py";

void check_python(Checks* checks) {
  auto python = find_python_environment();
  if (!python.ok()) {
    checks->no("python", python.error().message, python.error().hint);
    checks->needed();
    return;
  }
  ProcessOptions options;
  options.argv = {python->executable, "-c", kPythonProbe};
  options.environment = python->variables();
  auto output = run_process(options, std::chrono::minutes(2));
  Result<Json> said = input_error("it does not answer");
  if (output.ok() && output->status.success()) {
    size_t end = output->out.find_last_not_of('\n');
    size_t start = end == std::string::npos ? end : output->out.rfind('\n', end);
    if (start != std::string::npos) said = Json::parse(output->out.substr(start + 1));
  }
  if (!said.ok()) {
    std::string why = !output.ok()          ? output.error().message
                      : output->timed_out   ? "did not answer within 2 minutes"
                      : output->err.empty() ? output->status.to_string()
                                            : last_line(output->err);
    checks->no("python", fmt::format("{} ({}): {}", python->executable, python->origin, why),
               "set GRAFT_PYTHON to a Python 3.10 or newer that has torch");
    checks->needed();
    return;
  }
  const Json& answer = *said;
  checks->yes("python", fmt::format("{} at {} ({})", answer["version"].as_string(), python->executable,
                                    python->origin));
  checks->needed();

  auto module = [&](const char* name, const char* label, const std::string& hint,
                    const std::string& more = {}) {
    if (const Json* version = answer.find(name)) {
      checks->yes(label, version->as_string() + more);
    } else {
      checks->no(label, answer[std::string(name) + "_error"].as_string(), hint);
    }
  };
  std::string pip = python->executable + " -m pip install ";
  bool versions_agree = !answer.find("graft") || answer["graft"].as_string() == kVersion;
  if (versions_agree) {
    module("graft", "package", "`make build` in a clone, or " + pip + "graft");
  } else {
    checks->no("package", fmt::format("{}, the program is {}", answer["graft"].as_string(), kVersion),
               "install program and package together");
  }
  checks->needed();
  std::string build = answer["cuda_build"].is_string()
                          ? ", built for CUDA " + answer["cuda_build"].as_string()
                          : ", CPU only";
  module("torch", "torch", pip + "torch==2.11.0", build);
  checks->needed();
  module("triton", "triton", pip + "triton==3.6.0; passes with Triton kernels need it");
  module("numpy", "numpy", pip + "numpy");
  if (answer.find("torch") == nullptr) return;
  if (const Json* devices = answer.find("cuda_devices"); devices != nullptr && devices->as_int() > 0) {
    checks->yes("torch_cuda",
                fmt::format("torch sees {} device{}", devices->as_int(), devices->as_int() == 1 ? "" : "s"));
  } else {
    std::string why = answer.find("cuda_devices_error") ? answer["cuda_devices_error"].as_string()
                                                        : "torch sees no CUDA device";
    checks->no("torch_cuda", why, "passes are evaluated on the CPU only");
  }
}

void check_gpu(Checks* checks) {
  auto system = nvidia_gpus();
  if (!system.ok()) {
    checks->no("gpu", system.error().message, system.error().hint);
    return;
  }
  std::string names;
  for (const Gpu& gpu : system->gpus)
    names += fmt::format("{}{} ({} MiB, compute capability {}.{})", names.empty() ? "" : ", ", gpu.name,
                         gpu.memory_bytes >> 20, gpu.capability_major, gpu.capability_minor);
  if (system->gpus.empty())
    checks->no("gpu", "the NVIDIA driver sees no GPU", "is one visible in this container or machine?");
  else
    checks->yes("gpu", names);
  checks->yes("driver", system->driver);
}

void check_compilers(Checks* checks) {
  auto toolchain = kernels::find_toolchain();
  if (toolchain.ok())
    checks->yes("cxx", toolchain->version);
  else
    checks->no("cxx", toolchain.error().message,
               toolchain.error().hint + "; passes with C++ kernels need it");
  std::string nvcc = find_on_path("nvcc");
  if (nvcc.empty() && access("/usr/local/cuda/bin/nvcc", X_OK) == 0) nvcc = "/usr/local/cuda/bin/nvcc";
  std::string version;
  if (!nvcc.empty()) {
    ProcessOptions options;
    options.argv = {nvcc, "--version"};
    auto output = run_process(options, std::chrono::seconds(10));
    if (output.ok() && output->status.success()) {
      size_t at = output->out.find("release ");
      version = at == std::string::npos ? first_line(output->out) : first_line(output->out.substr(at));
    }
  }
  if (version.empty())
    checks->no("nvcc", "not found", "only code that is compiled by nvcc needs it");
  else
    checks->yes("nvcc", version + " at " + nvcc);
}

void check_sandbox(Checks* checks) {
  SandboxSupport support = sandbox_support();
  if (support.user_namespaces)
    checks->yes("user_namespaces", "allowed");
  else
    checks->no("user_namespaces", support.user_namespaces_reason,
               "candidates run without namespaces of their own; see sysctl kernel.unprivileged_userns_clone, "
               "kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces");
  if (support.landlock_abi > 0)
    checks->yes("landlock", fmt::format("ABI {}", support.landlock_abi));
  else
    checks->no("landlock", "not in this kernel, or disabled", "files are not confined by Landlock");
  if (support.seccomp_filter)
    checks->yes("seccomp", "filters");
  else
    checks->no("seccomp", "no filters", "system calls of candidates are not confined");
  std::string bubblewrap = answer({"bwrap", "--version"});
  if (!bubblewrap.empty())
    checks->yes("bubblewrap", bubblewrap);
  else
    checks->no("bubblewrap", "not found", "the agent's local sandbox needs it: apt-get install bubblewrap");
}

void check_containers(Checks* checks) {
  for (const char* engine : {"docker", "podman"}) {
    if (find_on_path(engine).empty()) {
      checks->no(engine, "not found", "an agent that works in containers needs docker or podman");
      continue;
    }
    const char* format = std::strcmp(engine, "docker") == 0 ? "{{.Server.Version}}" : "{{.Client.Version}}";
    std::string version = answer({engine, "version", "--format", format}, std::chrono::seconds(10));
    if (!version.empty())
      checks->yes(engine, version);
    else
      checks->no(engine, "installed, but its engine does not answer",
                 "start it, or give this user the right to use it");
  }
}

void check_disk(Checks* checks) {
  auto folder = cache_directory("kernels");
  if (!folder.ok()) {
    checks->no("cache", folder.error().to_string(), "set GRAFT_CACHE to a folder that can be written");
    checks->needed();
    return;
  }
  std::string root = folder->substr(0, folder->rfind('/'));
  if (access(folder->c_str(), W_OK | X_OK) != 0) {
    checks->no("cache", fmt::format("{}: {}", *folder, std::strerror(errno)),
               "set GRAFT_CACHE to a folder that can be written");
    checks->needed();
    return;
  }
  auto free = free_disk(root);
  constexpr double kGibibyte = 1 << 30;
  double gibibytes = free.ok() ? static_cast<double>(*free) / kGibibyte : 0;
  std::string value = fmt::format("{} ({:.1f} GiB free)", root, gibibytes);
  if (gibibytes < 1)
    checks->no("cache", value, "make room, or set GRAFT_CACHE to another disk");
  else
    checks->yes("cache", value);
  checks->needed();
}

Result<int> run(const Context& context) {
  Checks checks;
  checks.yes("graft", kVersion);
  checks.yes("cpu", fmt::format("{}, {} usable threads", processor_name(), usable_processors()));
  check_python(&checks);
  check_gpu(&checks);
  check_compilers(&checks);
  check_sandbox(&checks);
  check_containers(&checks);
  check_disk(&checks);

  bool ready = true;
  for (const Check& check : checks.list()) ready = ready && (check.ok || !check.needed);
  if (context.json) {
    Json list = Json::array();
    for (const Check& check : checks.list())
      list.push_back(Json::object({{"name", check.name},
                                   {"ok", check.ok},
                                   {"needed", check.needed},
                                   {"value", check.value},
                                   {"hint", check.hint}}));
    print_json(Json::object({{"schema", "graft/doctor/v1"}, {"ready", ready}, {"checks", std::move(list)}}));
    return ready ? 0 : 3;
  }
  for (const Check& check : checks.list()) {
    const char* mark = check.ok ? "ok" : check.needed ? "MISSING" : "-";
    fmt::print("{:<8} {:<16} {}{}\n", mark, check.name, check.value,
               check.hint.empty() ? "" : "  [" + check.hint + "]");
  }
  fmt::print("{}\n", ready ? "ready: passes can be evaluated on this machine"
                           : "not ready: what is marked MISSING is needed to evaluate passes");
  return ready ? 0 : 3;
}

}  // namespace

Command doctor_command() {
  Command command;
  command.name = "doctor";
  command.summary = "what this machine can do";
  command.details =
      "One line each: Python, torch, Triton, GPU, driver, compilers, sandbox, container engines, cache. Exit "
      "code 0 when "
      "passes can be evaluated on the CPU, else 3.";
  command.run = run;
  return command;
}

}  // namespace graft::cli
