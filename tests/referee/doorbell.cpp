#include "base/doorbell.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <new>
#include <thread>

#include "base/unique_fd.h"
#include "referee/shared_memory.h"

namespace graft {
namespace {

using referee::SharedBuffer;

constexpr int64_t kSecond = 1'000'000'000;

class DoorbellTest : public testing::Test {
 protected:
  void SetUp() override {
    auto page = SharedBuffer::create("doorbell", kDoorbellBytes, SharedBuffer::Access::kReadWrite);
    ASSERT_TRUE(page.ok()) << page.error().to_string();
    page_ = std::move(*page);
    shared_ = new (page_.data()) DoorbellPage;
    host_ = HostBell(shared_);
  }
  void TearDown() override {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  // Runs `serve` in a forked child with the worker's side of the bell.
  void fork_worker(const std::function<void(WorkerBell&)>& serve) {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ > 0) return;
    WorkerBell bell(shared_);
    serve(bell);
    _exit(0);
  }

  SharedBuffer page_;
  DoorbellPage* shared_ = nullptr;
  HostBell host_;
  pid_t child_ = -1;
};

TEST_F(DoorbellTest, CarriesCommandsArgumentsAndOutcomes) {
  fork_worker([](WorkerBell& bell) {
    for (;;) {
      auto request = bell.wait(0, kSecond);
      if (!request) continue;
      bell.answer(request->command == BellCommand::kRun && request->argument == 7 ? BellOutcome::kDone
                                                                                  : BellOutcome::kFailed);
    }
  });
  host_.ring(BellCommand::kRun, 7);
  ASSERT_TRUE(host_.wait(0, kSecond));
  EXPECT_EQ(host_.outcome(), BellOutcome::kDone);
  host_.ring(BellCommand::kExport, 7);
  ASSERT_TRUE(host_.wait(0, kSecond));
  EXPECT_EQ(host_.outcome(), BellOutcome::kFailed);
}

TEST_F(DoorbellTest, ThousandsOfRingsWithEveryMixOfSpinningAndSleeping) {
  fork_worker([](WorkerBell& bell) {
    for (int64_t i = 0;; ++i) {
      while (!bell.wait(i % 3 == 0 ? 0 : 20'000, kSecond)) {
      }
      if (i % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      bell.answer(BellOutcome::kDone);
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    int64_t start = host_.ring(BellCommand::kRun);
    auto stop = host_.wait(i % 2 == 0 ? 0 : 20'000, 5 * kSecond);
    ASSERT_TRUE(stop) << "lost wake-up at ring " << i;
    ASSERT_GE(*stop, start);
    if (i % 97 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(300));  // lets the worker fall asleep
  }
}

TEST_F(DoorbellTest, ElapsedTimeIsTheWorkersAction) {
  fork_worker([](WorkerBell& bell) {
    while (!bell.wait(0, kSecond)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    bell.answer(BellOutcome::kDone);
  });
  int64_t start = host_.ring(BellCommand::kRun);
  auto stop = host_.wait(50'000, 5 * kSecond);
  ASSERT_TRUE(stop);
  EXPECT_GE(*stop - start, 30'000'000);
}

TEST_F(DoorbellTest, WaitingEndsAtItsTime) {
  host_.ring(BellCommand::kRun);
  auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(host_.wait(1000, 20'000'000));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(19));
}

TEST_F(DoorbellTest, GarbageInThePageIsNoAnswer) {
  fork_worker([this](WorkerBell&) {
    for (uint32_t i = 0;; ++i) {
      shared_->reply.store(0xDEAD0000U + (i & 0xFFU));
      shared_->outcome.store(i);
      shared_->request.store(i);
      shared_->host_sleeps.store(i);
    }
  });
  host_.ring(BellCommand::kRun);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(host_.wait(1000, 1'000'000));
}

TEST_F(DoorbellTest, UnknownOutcomeWordsCountAsFailed) {
  shared_->outcome.store(77);
  EXPECT_EQ(host_.outcome(), BellOutcome::kFailed);
}

}  // namespace
}  // namespace graft
