#include "referee/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

namespace graft::referee {
namespace {

TEST(SharedMemoryTest, SizeIsSealed) {
  auto buffer = SharedBuffer::create("test", 10'000, SharedBuffer::Access::kReadWrite);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->size(), 12'288U);
  EXPECT_EQ(ftruncate(buffer->fd(), 0), -1);
  EXPECT_EQ(ftruncate(buffer->fd(), 1 << 20), -1);
  for (std::byte byte : buffer->bytes()) ASSERT_EQ(byte, std::byte{0});
}

TEST(SharedMemoryTest, ReadersCannotMapForWriting) {
  auto buffer = SharedBuffer::create("test", 4096, SharedBuffer::Access::kReaderOnly);
  ASSERT_TRUE(buffer.ok());
  void* writable = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd(), 0);
  if (writable != MAP_FAILED) {
    munmap(writable, 4096);
    GTEST_SKIP() << "this kernel has no F_SEAL_FUTURE_WRITE";
  }
  EXPECT_EQ(pwrite(buffer->fd(), "x", 1, 0), -1);
  void* readable = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, buffer->fd(), 0);
  ASSERT_NE(readable, MAP_FAILED);
  buffer->data()[100] = std::byte{42};
  EXPECT_EQ(static_cast<std::byte*>(readable)[100], std::byte{42});
  munmap(readable, 4096);
}

TEST(SharedMemoryTest, ImpossibleSizesAreAnError) {
  auto buffer = SharedBuffer::create("test", size_t{1} << 60, SharedBuffer::Access::kReadWrite);
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.error().kind, ErrorKind::kMissing);
}

}  // namespace
}  // namespace graft::referee
