#include "base/machine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace graft {
namespace {

TEST(Machine, ProcessorsAndDisk) {
  EXPECT_GE(usable_processors(), 1);
  EXPECT_FALSE(processor_name().empty());
  auto here = free_disk("/tmp");
  ASSERT_TRUE(here.ok());
  auto below = free_disk("/tmp/graft-no-such-folder/deeper");
  ASSERT_TRUE(below.ok()) << "a path that is not there yet counts by the folder above it";
  EXPECT_FALSE(free_disk("no/such/relative").ok() && free_disk("").ok());
}

TEST(Machine, UserNamespacesAgreeWithTheShell) {
  int code = std::system("unshare --user true >/dev/null 2>&1");
  if (WEXITSTATUS(code) == 127) GTEST_SKIP() << "skipped: no unshare program";
  SandboxSupport support = sandbox_support();
  EXPECT_EQ(support.user_namespaces, code == 0);
  EXPECT_EQ(support.user_namespaces_reason.empty(), support.user_namespaces);
}

TEST(Machine, GpusAreListedOrTheLackIsExplained) {
  auto gpus = nvidia_gpus();
  if (gpus.ok()) {
    EXPECT_FALSE(gpus->driver.empty());
    for (const Gpu& gpu : gpus->gpus) EXPECT_GT(gpu.memory_bytes, 0U) << gpu.name;
  } else {
    EXPECT_EQ(gpus.error().kind, ErrorKind::kMissing);
    EXPECT_FALSE(gpus.error().hint.empty());
  }
}

}  // namespace
}  // namespace graft
