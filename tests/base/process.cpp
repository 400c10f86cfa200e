#include "base/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

namespace graft {
namespace {

using namespace std::chrono_literals;

ProcessOptions shell(const std::string& text) {
  ProcessOptions options;
  options.argv = {"sh", "-c", text};
  return options;
}

TEST(Process, CollectsOutputAndExitCode) {
  auto result = run_process(shell("cat; echo problem >&2; exit 3"), 10s, "hello");
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->out, "hello");
  EXPECT_EQ(result->err, "problem\n");
  EXPECT_EQ(result->status.exited, 3);
  EXPECT_FALSE(result->timed_out);
}

TEST(Process, DeadlineKillsTheGroupAndKeepsTheOutput) {
  auto result = run_process(shell("echo first; sleep 60 & sleep 60"), 300ms);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->out, "first\n");
  EXPECT_LT(result->seconds, 10);
}

TEST(Process, ADescendantHoldingThePipeDoesNotBlock) {
  auto result = run_process(shell("setsid sleep 5 & echo done"), 4s);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->timed_out);
  EXPECT_EQ(result->out, "done\n");
}

TEST(Process, OutputIsBounded) {
  auto result = run_process(shell("yes | head -c 1000000"), 10s, {}, 1000);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->truncated);
  EXPECT_EQ(result->out.size(), 1000U);
}

TEST(Process, MissingProgramIsSaidBeforeAnythingRuns) {
  ProcessOptions options;
  options.argv = {"no-such-program-here"};
  auto result = run_process(options, 1s);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kMissing);
  options.argv = {"/etc/passwd"};
  EXPECT_FALSE(run_process(options, 1s).ok());
}

TEST(Process, LongLivedChildIsKilledWithItsGroup) {
  ProcessOptions options = shell("sleep 60 & wait");
  auto child = Process::start(options);
  ASSERT_TRUE(child.ok());
  EXPECT_TRUE(child->running());
  pid_t pid = child->pid();
  EXPECT_EQ(child->kill_group().signaled, SIGKILL);
  for (int i = 0; i < 200 && kill(-pid, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_NE(kill(-pid, 0), 0);
}

TEST(Process, DescriptorsArriveUnderTheirNumbersAndOthersDoNot) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ProcessOptions options = shell("echo through >&5; ls /proc/self/fd | wc -l");
  options.descriptors = {{ends[1], 5}};
  auto result = run_process(options, 10s);
  close(ends[1]);
  ASSERT_TRUE(result.ok());
  char buffer[32];
  ssize_t count = read(ends[0], buffer, sizeof buffer);
  close(ends[0]);
  EXPECT_EQ(std::string(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0))), "through\n");
  EXPECT_LE(std::stoi(result->out), 5);  // 0, 1, 2, 5 and the folder ls reads
}

}  // namespace
}  // namespace graft
