#include "kernels/compile.h"

#include <unistd.h>

#include <cctype>
#include <optional>

#include <fmt/core.h>

#include "base/cache.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "kernels/preamble.h"

namespace graft::kernels {
namespace {

// Raised when the meaning of a cache entry changes.
constexpr std::string_view kCacheVersion = "graft kernel 1";
constexpr size_t kMaxOutput = size_t{256} << 10;

CompileResult failed(Error error, std::string output = {}) {
  CompileResult result;
  result.failure = CompileFailure{std::move(error), std::move(output)};
  return result;
}

std::string key_of(const std::string& unit, const std::vector<std::string>& flags,
                   const Toolchain& toolchain) {
  // Each part with its length, so that no two lists of parts give one text.
  Sha256 hash;
  auto add = [&](std::string_view part) {
    hash.update(fmt::format("{}:", part.size()));
    hash.update(part);
  };
  add(kCacheVersion);
  add(toolchain.identity());
  for (const std::string& flag : flags) add(flag);
  add(unit);
  return hash.hex();
}

// True when the object is there and is the one its record speaks of.
bool is_intact(const std::string& object, const std::string& record) {
  auto text = read_file(record, 1 << 16);
  if (!text.ok()) return false;
  auto json = Json::parse(*text);
  if (!json.ok()) return false;
  auto bytes = read_file(object, size_t{1} << 28);
  return bytes.ok() && sha256_hex(*bytes) == (*json)["sha256"].as_string();
}

// The place of the first error the compiler reports.
Place first_error(const std::string& output) {
  size_t mark = output.find(": error: ");
  if (mark == std::string::npos) mark = output.find(": fatal error: ");
  if (mark == std::string::npos) return {};
  size_t start = output.rfind('\n', mark);
  start = start == std::string::npos ? 0 : start + 1;
  std::string place = output.substr(start, mark - start);
  Place result;
  size_t second = place.rfind(':');
  size_t first = second == std::string::npos ? second : place.rfind(':', second - 1);
  if (first == std::string::npos) return {};
  result.file = place.substr(0, first);
  result.line = std::atoi(place.c_str() + first + 1);
  result.column = std::atoi(place.c_str() + second + 1);
  return result;
}

}  // namespace

std::string CompileFailure::to_string() const {
  return output.empty() ? error.to_string() : error.to_string() + "\n" + output;
}

std::string translate_places(std::string_view output, const Origin& origin) {
  if (origin.file.empty()) return std::string(output);
  std::string result;
  while (true) {
    size_t at = output.find(kSourceName);
    if (at == std::string_view::npos) break;
    result += output.substr(0, at);
    output.remove_prefix(at + kSourceName.size());
    size_t digits = 0;
    int line = 0;
    if (output.starts_with(':'))
      while (1 + digits < output.size() && digits < 8 &&
             std::isdigit(static_cast<unsigned char>(output[1 + digits])) != 0)
        line = line * 10 + (output[1 + digits++] - '0');
    result += origin.file;
    if (digits > 0) {
      result += fmt::format(":{}", line + origin.line - 1);
      output.remove_prefix(1 + digits);
    }
  }
  result += output;
  return result;
}

CompileResult compile(const std::string& unit, const std::string& source, const CompileOptions& options) {
  auto toolchain = find_toolchain();
  if (!toolchain.ok()) return failed(toolchain.error());
  auto folder = cache_directory("kernels");
  if (!folder.ok()) return failed(folder.error());

  std::vector<std::string> flags = standard_flags();
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  CompileResult result;
  result.object.key = key_of(unit, flags, *toolchain);
  const std::string& key = result.object.key;
  result.object.path = join_path(*folder, key + ".so");
  std::string record = join_path(*folder, key + ".json");
  if (is_intact(result.object.path, record)) {
    result.object.cached = true;
    return result;
  }

  // One lock file for the keys of a shard: files of locks cannot be removed without a race, so they are few.
  auto lock = FileLock::acquire(join_path(*folder, "lock-" + key.substr(0, 2)));
  if (!lock.ok()) return failed(lock.error());
  if (is_intact(result.object.path, record)) {
    result.object.cached = true;
    return result;
  }
  auto work = TemporaryDirectory::create("graft-kernel");
  if (!work.ok()) return failed(work.error());
  for (const auto& [name, text] :
       {std::pair<std::string, const std::string&>{"unit.cpp", unit}, {std::string(kSourceName), source}})
    if (Status written = write_file_atomic(join_path(work->path(), name), text); !written.ok())
      return failed(written.error());

  ProcessOptions process;
  process.argv = toolchain->command;
  process.argv.insert(process.argv.end(), flags.begin(), flags.end());
  process.argv.insert(process.argv.end(), {"-fdiagnostics-color=never", "-o", "kernel.so", "unit.cpp"});
  process.directory = work->path();
  process.environment = {{"LC_ALL", "C"}, {"TMPDIR", work->path()}};
  auto output = run_process(process, options.timeout, {}, kMaxOutput);
  if (!output.ok()) return failed(output.error());
  std::string said = translate_places(output->err + output->out, options.origin);
  if (output->timed_out) {
    double seconds = std::chrono::duration<double>(options.timeout).count();
    return failed(input_error(fmt::format("compiling the kernel took longer than {:.0f} s", seconds)),
                  std::move(said));
  }
  if (!output->status.success()) {
    std::string message = output->status.exited ? std::string("the compiler rejected the kernel")
                                                : "the compiler ended with " + output->status.to_string();
    Error error = input_error(std::move(message), first_error(said));
    return failed(std::move(error), std::move(said));
  }

  auto bytes = read_file(join_path(work->path(), "kernel.so"), size_t{1} << 28);
  if (!bytes.ok()) return failed(bytes.error());
  // The object first: a record without its object, or with another one, is no entry.
  if (Status written = write_file_atomic(result.object.path, *bytes); !written.ok())
    return failed(written.error());
  Json entry;
  entry.set("sha256", sha256_hex(*bytes)).set("compiler", toolchain->version).set("seconds", output->seconds);
  if (Status written = write_file_atomic(record, entry.dump(2) + "\n"); !written.ok())
    return failed(written.error());
  result.object.seconds = output->seconds;
  return result;
}

}  // namespace graft::kernels
