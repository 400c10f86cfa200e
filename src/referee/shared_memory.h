// Memory two processes see: anonymous files of a size nobody can change any more.
//
// The size is sealed, because a file that shrinks under a mapping would end this process by SIGBUS. With
// kReaderOnly the kernel also refuses every writable mapping but the one made here (Linux 5.1; where it
// cannot, the buffer stays writable and callers must treat its content as the other side's).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace graft::referee {

class SharedBuffer {
 public:
  enum class Access { kReadWrite, kReaderOnly };

  // A zeroed buffer of `bytes` (at least one page), its memory reserved at once. kMissing when there is too
  // little.
  static Result<SharedBuffer> create(const std::string& name, size_t bytes, Access access);

  SharedBuffer() = default;
  SharedBuffer(SharedBuffer&& other) noexcept;
  SharedBuffer& operator=(SharedBuffer&& other) noexcept;
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;
  ~SharedBuffer();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace graft::referee
