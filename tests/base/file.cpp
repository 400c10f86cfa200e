#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/hash.h"

namespace graft {
namespace {

TEST(File, AtomicWriteReplacesAndLeavesNothingElse) {
  auto folder = TemporaryDirectory::create("graft-test");
  ASSERT_TRUE(folder.ok());
  std::string path = join_path(folder->path(), "a.txt");
  ASSERT_TRUE(write_file_atomic(path, "one").ok());
  ASSERT_TRUE(write_file_atomic(path, "two").ok());
  EXPECT_EQ(*read_file(path), "two");
  EXPECT_EQ(list_directory(folder->path())->size(), 1U);
  EXPECT_FALSE(write_file_atomic(join_path(folder->path(), "missing/a.txt"), "x").ok());
}

TEST(File, ReadSaysWhatIsWrong) {
  EXPECT_FALSE(read_file("/no/such/file").ok());
  EXPECT_FALSE(read_file("/tmp").ok());
  EXPECT_FALSE(read_file("/dev/zero").ok());
  auto folder = TemporaryDirectory::create("graft-test");
  std::string pipe_path = join_path(folder->path(), "pipe");
  ASSERT_EQ(mkfifo(pipe_path.c_str(), 0600), 0);
  EXPECT_FALSE(read_file(pipe_path).ok());
  std::string path = join_path(folder->path(), "big");
  ASSERT_TRUE(write_file_atomic(path, "12345").ok());
  EXPECT_FALSE(read_file(path, 4).ok());
  EXPECT_TRUE(read_file(path, 5).ok());
}

TEST(Hash, Sha256OfKnownTexts) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace graft
