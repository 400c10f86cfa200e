#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "base/unique_fd.h"

namespace graft {

namespace fs = std::filesystem;

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return os_error("open", path, errno);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return os_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) return os_error("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) return input_error("not a regular file", {path, 0, 0});
  std::string content;
  content.reserve(std::min(static_cast<size_t>(info.st_size), max_bytes) + 1);
  // The size is only a hint: files under /proc say 0, others may grow meanwhile.
  char buffer[1 << 16];
  while (true) {
    ssize_t count = read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os_error("read", path, errno);
    if (count == 0) return content;
    if (content.size() + static_cast<size_t>(count) > max_bytes)
      return input_error(fmt::format("larger than {} bytes", max_bytes), {path, 0, 0});
    content.append(buffer, static_cast<size_t>(count));
  }
}

namespace {

// 0, or the errno value of the write that failed.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    ssize_t count = write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    content.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace

Status write_file_atomic(const std::string& path, std::string_view content) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return os_error("write", path, EISDIR);
    UniqueFd device(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!device) return os_error("write", path, errno);
    if (int code = write_all(device.get(), content); code != 0) return os_error("write", path, code);
    return {};
  }
  std::string target = path;
  if (lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
    std::error_code code;
    target = fs::canonical(path, code).string();
    if (code) return os_error("write", path, code.value());
  }
  // A name of its own for every write of this process; another may have left one behind when it crashed.
  static std::atomic<unsigned> number{0};
  std::string temporary;
  UniqueFd fd;
  while (!fd) {
    temporary = fmt::format("{}.{}-{}.tmp", target, getpid(), number++);
    fd.reset(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd && errno != EEXIST) return os_error("write", path, errno);
  }
  int code = write_all(fd.get(), content);
  if (code == 0 && fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) code = errno;
  if (code == 0 && rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return {};
  unlink(temporary.c_str());
  return os_error("write", path, code);
}

Status make_directories(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return os_error("create folder", path, code.value());
  if (!is_directory(path)) return os_error("create folder", path, ENOTDIR);
  return {};
}

bool is_directory(const std::string& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

bool is_regular_file(const std::string& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

bool is_executable(const std::string& path) {
  return is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

std::string join_path(std::string_view head, std::string_view tail) {
  if (head.empty() || tail.starts_with('/')) return std::string(tail);
  std::string path(head);
  if (!path.ends_with('/')) path += '/';
  path += tail;
  return path;
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  std::error_code code;
  fs::directory_iterator it(path, code);
  if (code) return os_error("list folder", path, code.value());
  std::vector<std::string> names;
  while (it != fs::directory_iterator()) {
    names.push_back(it->path().filename().string());
    it.increment(code);
    if (code) return os_error("list folder", path, code.value());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<TemporaryDirectory> TemporaryDirectory::create(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string pattern =
      join_path(base != nullptr && *base != '\0' ? base : "/tmp", fmt::format("{}-XXXXXX", prefix));
  if (mkdtemp(pattern.data()) == nullptr) return os_error("create a temporary folder", pattern, errno);
  return TemporaryDirectory(std::move(pattern));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return os_error("lock", path, errno);
  while (flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR) return os_error("lock", path, errno);
  return FileLock(fd.release());
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace graft
