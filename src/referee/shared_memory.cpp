#include "referee/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace graft::referee {
namespace {

// The number behind `key` in a text file of the kernel; nothing where there is none ("max" included).
std::optional<size_t> kernel_number(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    size_t value = 0;
    size_t begin = line.find_first_not_of(" :", key.size());
    if (begin == std::string::npos) return std::nullopt;
    auto [end, code] = std::from_chars(line.data() + begin, line.data() + line.size(), value);
    (void)end;
    return code == std::errc() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

// Bytes that can be taken without the kernel ending a process for them, as far as it tells.
size_t available_memory() {
  size_t available = SIZE_MAX;
  if (auto kib = kernel_number("/proc/meminfo", "MemAvailable")) available = *kib * 1024;
  auto limit = kernel_number("/sys/fs/cgroup/memory.max", "");
  auto used = kernel_number("/sys/fs/cgroup/memory.current", "");
  if (limit && used) available = std::min(available, *limit - std::min(*limit, *used));
  return available;
}

}  // namespace

Result<SharedBuffer> SharedBuffer::create(const std::string& name, size_t bytes, Access access) {
  constexpr size_t kPage = 4096;
  size_t size = std::max(kPage, bytes / kPage * kPage + (bytes % kPage == 0 ? 0 : kPage));
  SharedBuffer buffer;
  buffer.fd_.reset(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!buffer.fd_) return os_error("create shared memory", name, errno);
  auto too_little = [&](int code) {
    return missing_error(
        fmt::format("no {} bytes of shared memory for {}: {}", size, name, std::strerror(code)),
        "free memory or evaluate a smaller sample");
  };
  // Asked first: reserving more than there is ends in the kernel killing processes, not in an error.
  if (size > available_memory() / 10 * 9) return too_little(ENOMEM);
  if (ftruncate(buffer.fd_.get(), static_cast<off_t>(size)) != 0) return too_little(errno);
  // Reserved now: running out of memory later would be a SIGBUS at the first touch.
  if (int code = posix_fallocate(buffer.fd_.get(), 0, static_cast<off_t>(size)); code != 0)
    return too_little(code);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.fd_.get(), 0);
  if (data == MAP_FAILED) return too_little(errno);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = size;
  if (access == Access::kReaderOnly) fcntl(buffer.fd_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  if (fcntl(buffer.fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return os_error("seal shared memory", name, errno);
  return buffer;
}

SharedBuffer::SharedBuffer(SharedBuffer&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedBuffer& SharedBuffer::operator=(SharedBuffer&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) munmap(data_, size_);
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

SharedBuffer::~SharedBuffer() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace graft::referee
