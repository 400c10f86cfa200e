#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/hash.h"
#include "base/unique_fd.h"

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

TEST(File, WriteLeavesLinksAndDevicesWhatTheyAre) {
  auto folder = TemporaryDirectory::create("graft-test");
  ASSERT_TRUE(folder.ok());
  std::string file = join_path(folder->path(), "file");
  std::string link = join_path(folder->path(), "link");
  ASSERT_TRUE(write_file_atomic(file, "one").ok());
  ASSERT_EQ(symlink("file", link.c_str()), 0);
  ASSERT_TRUE(write_file_atomic(link, "two").ok());
  EXPECT_EQ(*read_file(file), "two");
  struct stat info {};
  ASSERT_EQ(lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));

  std::string pipe_path = join_path(folder->path(), "pipe");
  ASSERT_EQ(mkfifo(pipe_path.c_str(), 0600), 0);
  UniqueFd reader(open(pipe_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write_file_atomic(pipe_path, "three").ok());
  char text[8] = "";
  EXPECT_EQ(read(reader.get(), text, sizeof text), 5);
  EXPECT_STREQ(text, "three");
  ASSERT_EQ(lstat(pipe_path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));

  EXPECT_FALSE(write_file_atomic(folder->path(), "four").ok());
  EXPECT_EQ(list_directory(folder->path())->size(), 3U);
}

TEST(File, WritesOfManyThreadsToOnePathDoNotMix) {
  auto folder = TemporaryDirectory::create("graft-test");
  ASSERT_TRUE(folder.ok());
  std::string path = join_path(folder->path(), "shared");
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (char letter = 'a'; letter < 'e'; ++letter)
    threads.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i)
        if (!write_file_atomic(path, std::string(100'000, letter)).ok()) ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  std::string content = *read_file(path);
  EXPECT_EQ(content, std::string(100'000, content[0]));
  EXPECT_EQ(list_directory(folder->path())->size(), 1U);
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
