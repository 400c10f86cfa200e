// Files: whole reads, atomic writes, folders of temporary files, locks between processes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graft {

// Reads a regular file whole. A folder, a device or a file over `max_bytes` is an error.
Result<std::string> read_file(const std::string& path, size_t max_bytes = size_t{1} << 30);

// Writes a temporary file beside `path`, syncs it and renames it over `path`, so that a reader sees the old
// content or the new, never a part. The temporary file is removed on failure. A symbolic link stays one: the
// file behind it is replaced. A device or pipe (/dev/stdout, /dev/null) is written to, not replaced.
Status write_file_atomic(const std::string& path, std::string_view content);

// mkdir -p. An existing folder is fine.
Status make_directories(const std::string& path);

bool is_directory(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_executable(const std::string& path);  // a regular file this user may execute

// Joins with one '/'; an absolute `tail` replaces `head`.
std::string join_path(std::string_view head, std::string_view tail);

// The names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> list_directory(const std::string& path);

// A folder of its own below $TMPDIR (or /tmp), removed with everything in it at the end of the object's life.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> create(std::string_view prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// An exclusive advisory lock (flock) on a file, created when absent; waits until it is free. Released with
// the object.
class FileLock {
 public:
  static Result<FileLock> acquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace graft
