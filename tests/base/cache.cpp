#include "base/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/file.h"

namespace graft {
namespace {

// Sets a variable for the length of a test; nullptr unsets it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, was_set_ = true;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { was_set_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool was_set_ = false;
};

TEST(Cache, TheFirstSetVariableDecides) {
  Variable home("HOME", "/home/someone");
  Variable xdg("XDG_CACHE_HOME", "/var/cache/someone");
  Variable own("GRAFT_CACHE", "/elsewhere");
  EXPECT_EQ(*cache_directory(), "/elsewhere");
  Variable no_own("GRAFT_CACHE", "");
  EXPECT_EQ(*cache_directory(), "/var/cache/someone/graft");
  Variable no_xdg("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(*cache_directory(), "/home/someone/.cache/graft");
  Variable no_home("HOME", nullptr);
  auto none = cache_directory();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kMissing);
}

TEST(Cache, ANamedFolderIsMadeForThisUserOnly) {
  auto folder = TemporaryDirectory::create("graft-test");
  ASSERT_TRUE(folder.ok());
  Variable own("GRAFT_CACHE", join_path(folder->path(), "new/cache").c_str());
  auto made = cache_directory("kernels");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  struct stat info {};
  ASSERT_EQ(stat(made->c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  EXPECT_TRUE(cache_directory("kernels").ok()) << "a second time it is there";
}

}  // namespace
}  // namespace graft
