#include "kernels/toolchain.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/core.h>

#include "base/process.h"

namespace graft::kernels {
namespace {

constexpr auto kAnswerTime = std::chrono::seconds(20);

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (true) {
    size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return result;
    text.remove_prefix(first);
    size_t end = std::min(text.find_first_of(" \t"), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Output of both streams, or an empty text when the command failed.
std::string answer(std::vector<std::string> command, const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.argv = std::move(command);
  options.environment = {{"LC_ALL", "C"}};
  auto output = run_process(options, kAnswerTime);
  if (!output.ok() || !output->status.success()) return {};
  return output->out + output->err;
}

// The arguments the driver hands to the compiler proper under -march=native: the name of the processor, its
// instruction sets and cache sizes. Both GCC and Clang print them quoted, on a line of their own.
std::string native_target(const std::vector<std::string>& command) {
  std::string text = answer(command, {"-march=native", "-E", "-x", "c++", "-###", "/dev/null"});
  std::string target;
  size_t start = 0;
  while (start < text.size()) {
    size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = std::string_view(text).substr(start, end - start);
    if (line.find("cc1") != std::string_view::npos) target += std::string(line) + "\n";
    start = end + 1;
  }
  return target;
}

Result<Toolchain> probe() {
  std::vector<std::vector<std::string>> candidates = {{"g++"}, {"c++"}, {"clang++"}};
  std::vector<std::string> chosen = words(variable("CXX"));
  if (!chosen.empty()) candidates = {chosen};
  for (const auto& command : candidates) {
    std::string version = answer(command, {"--version"});
    if (version.empty()) continue;
    Toolchain toolchain;
    toolchain.command = command;
    toolchain.version = version.substr(0, version.find('\n'));
    toolchain.is_clang = version.find("clang") != std::string::npos;
    toolchain.target = native_target(command);
    if (toolchain.target.empty()) continue;
    return toolchain;
  }
  if (!chosen.empty())
    return missing_error(fmt::format("the compiler CXX='{}' does not work", variable("CXX")),
                         "correct or unset CXX");
  return missing_error("no C++ compiler found (looked for g++, c++, clang++)",
                       "install one (Debian, Ubuntu: apt-get install g++) or set CXX");
}

}  // namespace

std::string Toolchain::identity() const {
  std::string text;
  for (const std::string& word : command) text += word + " ";
  return text + "\n" + version + "\n" + target;
}

Result<Toolchain> find_toolchain() {
  static std::mutex mutex;
  static std::map<std::string, Toolchain> known;
  std::string key = variable("CXX") + "\n" + variable("PATH");
  std::lock_guard lock(mutex);
  if (auto found = known.find(key); found != known.end()) return found->second;
  GRAFT_ASSIGN_OR_RETURN(Toolchain toolchain, probe());
  known.emplace(key, toolchain);
  return toolchain;
}

const std::vector<std::string>& standard_flags() {
  static const std::vector<std::string> flags = {"-std=c++20",
                                                 "-O3",
                                                 "-march=native",
                                                 "-fPIC",
                                                 "-shared",
                                                 "-fopenmp",
                                                 "-fno-math-errno",
                                                 "-fno-trapping-math",
                                                 "-fvisibility=hidden"};
  return flags;
}

}  // namespace graft::kernels
