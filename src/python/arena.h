// A bump allocator: objects live until the arena dies, nothing is freed one by one, no destructor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace graft::python {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept
      : chunks_(std::move(other.chunks_)),
        next_(std::exchange(other.next_, nullptr)),
        limit_(std::exchange(other.limit_, nullptr)),
        reserved_(std::exchange(other.reserved_, 0)) {
    other.chunks_.clear();
  }
  Arena& operator=(Arena&& other) noexcept {
    chunks_ = std::move(other.chunks_);
    other.chunks_.clear();
    next_ = std::exchange(other.next_, nullptr);
    limit_ = std::exchange(other.limit_, nullptr);
    reserved_ = std::exchange(other.reserved_, 0);
    return *this;
  }

  // `size` bytes aligned to 8.
  [[gnu::always_inline]] void* allocate(size_t size) {
    size = (size + 7) & ~size_t{7};
    if (static_cast<size_t>(limit_ - next_) < size) [[unlikely]]
      grow(size);
    char* result = next_;
    next_ += size;
    return result;
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);
    return new (allocate(sizeof(T))) T(std::forward<Args>(args)...);
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {"", 0};
    char* data = static_cast<char*>(allocate(text.size()));
    std::memcpy(data, text.data(), text.size());
    return {data, text.size()};
  }

  // Bytes taken from the system so far.
  size_t reserved() const { return reserved_; }

 private:
  [[gnu::noinline]] void grow(size_t size) {
    size_t chunk = reserved_ < (size_t{1} << 16) ? size_t{1} << 14 : size_t{1} << 18;
    if (chunk < size) chunk = size;
    chunks_.emplace_back(new char[chunk]);
    next_ = chunks_.back().get();
    limit_ = next_ + chunk;
    reserved_ += chunk;
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  char* limit_ = nullptr;
  size_t reserved_ = 0;
};

}  // namespace graft::python
