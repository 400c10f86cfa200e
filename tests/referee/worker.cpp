// The host's side of a worker, with shell scripts in the worker's place: descriptor 3 is the channel.
#include "referee/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <thread>

#include "base/file.h"

namespace graft::referee {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Deadline in(int ms) {
  return std::chrono::steady_clock::now() + milliseconds(ms);
}

std::unique_ptr<Worker> start(const std::string& script) {
  WorkerOptions options;
  options.python = {"/bin/sh", "-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  auto worker = Worker::start(options);
  EXPECT_TRUE(worker.ok()) << worker.error().to_string();
  return std::move(*worker);
}

const std::string kHello = "echo '{\"id\":0,\"result\":{\"torch\":\"x\"}}' >&3; ";

TEST(WorkerTest, SaysHelloAndAnswers) {
  auto worker = start(kHello + "read line <&3; echo '{\"id\":1,\"result\":{\"n\":5}}' >&3; read line <&3");
  Reply hello = worker->ready(in(5000));
  ASSERT_TRUE(hello.ok()) << hello.failure->to_string();
  EXPECT_EQ(hello.result["torch"].as_string(), "x");
  Reply reply = worker->call("load", Json::object(), in(5000));
  ASSERT_TRUE(reply.ok()) << reply.failure->to_string();
  EXPECT_EQ(reply.result["n"].as_int(), 5);
}

TEST(WorkerTest, RequestsCarryIdMethodDeadlineAndParameters) {
  auto worker = start(kHello + "read -r line <&3; echo \"$line\"; echo '{\"id\":1,\"result\":{}}' >&3");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  ASSERT_TRUE(worker->call("load", Json::object({{"file", "a \"b\".py"}}), in(5000)).ok());
  auto request = Json::parse(worker->finish());
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  EXPECT_EQ((*request)["id"].as_int(), 1);
  EXPECT_EQ((*request)["method"].as_string(), "load");
  EXPECT_GT((*request)["deadline_ms"].as_int(), 4000);
  EXPECT_EQ((*request)["params"]["file"].as_string(), "a \"b\".py");
}

TEST(WorkerTest, AnErrorReplyLeavesTheWorkerAlive) {
  auto worker =
      start(kHello +
            "read l <&3; echo "
            "'{\"id\":1,\"error\":{\"class\":\"ValueError\",\"message\":\"no\",\"traceback\":\"t\"}}' >&3;"
            "read l <&3; echo '{\"id\":2,\"result\":{}}' >&3");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  Reply reply = worker->call("load", Json::object(), in(5000));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.failure->kind, WorkerFailure::Kind::kRaised);
  EXPECT_EQ(reply.failure->to_string(), "ValueError: no");
  EXPECT_TRUE(worker->call("load", Json::object(), in(5000)).ok());
}

TEST(WorkerTest, AnythingButAnAnswerIsAProtocolFailure) {
  for (std::string line :
       {"garbage", "[]", "{}", "{\"id\":1}", "{\"id\":9,\"result\":{}}", "{\"id\":\"1\",\"result\":{}}",
        "{\"id\":1,\"error\":3}", "{\"id\":1.0,\"result\":{}}"}) {
    auto worker = start(kHello + "read l <&3; echo '" + line + "' >&3; sleep 60");
    ASSERT_TRUE(worker->ready(in(5000)).ok());
    Reply reply = worker->call("load", Json::object(), in(5000));
    ASSERT_FALSE(reply.ok()) << line;
    EXPECT_EQ(reply.failure->kind, WorkerFailure::Kind::kProtocol) << line;
    EXPECT_FALSE(worker->alive()) << line;
  }
}

TEST(WorkerTest, HowAWorkerEndedIsSaid) {
  auto exits = start(kHello + "read l <&3; exit 3");
  ASSERT_TRUE(exits->ready(in(5000)).ok());
  Reply reply = exits->call("load", Json::object(), in(5000));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.failure->kind, WorkerFailure::Kind::kDied);
  EXPECT_THAT(reply.failure->message, HasSubstr("exit code 3"));

  auto crashes = start(kHello + "read l <&3; kill -SEGV $$");
  ASSERT_TRUE(crashes->ready(in(5000)).ok());
  reply = crashes->call("load", Json::object(), in(5000));
  ASSERT_FALSE(reply.ok());
  EXPECT_THAT(reply.failure->message, HasSubstr("signal 11"));
  // Later calls fail too, with the same reason.
  EXPECT_THAT(crashes->call("load", Json::object(), in(5000)).failure->message, HasSubstr("signal 11"));
}

TEST(WorkerTest, DeathIsNoticedThoughADescendantHoldsTheChannel) {
  auto worker = start(kHello + "sleep 30 & read l <&3; kill -KILL $$");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  auto begin = std::chrono::steady_clock::now();
  Reply reply = worker->call("load", Json::object(), in(20'000));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.failure->kind, WorkerFailure::Kind::kDied);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000));
}

TEST(WorkerTest, AClosedChannelIsADeath) {
  auto worker = start(kHello + "read l <&3; exec 3>&-; sleep 60");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  Reply reply = worker->call("load", Json::object(), in(20'000));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.failure->kind, WorkerFailure::Kind::kDied);
  EXPECT_THAT(reply.failure->message, HasSubstr("closed its channel"));
}

TEST(WorkerTest, TheDeadlineEndsTheWholeGroup) {
  // The background process prints its id; after the deadline it must be gone.
  auto worker = start(kHello + "read l <&3; sleep 300 & echo $!; wait");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  Reply reply = worker->call("load", Json::object(), in(300));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.failure->kind, WorkerFailure::Kind::kTimedOut);
  pid_t grandchild = std::atoi(worker->finish().c_str());
  ASSERT_GT(grandchild, 0);
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    auto state = read_file("/proc/" + std::to_string(grandchild) + "/stat");
    gone = !state.ok() || state->find(") Z") != std::string::npos;
    if (!gone) std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(gone);
}

TEST(WorkerTest, AnUnansweredRingTimesOut) {
  auto worker = start(kHello + "sleep 60");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  BellAnswer answer = worker->ring(BellCommand::kRun, 0, in(100));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure->kind, WorkerFailure::Kind::kTimedOut);
  EXPECT_FALSE(worker->alive());
}

TEST(WorkerTest, DeathWhileARingIsPendingIsNoticedSoon) {
  auto worker = start(kHello + "sleep 0.1; kill -BUS $$");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  auto begin = std::chrono::steady_clock::now();
  BellAnswer answer = worker->ring(BellCommand::kRun, 0, in(20'000));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure->kind, WorkerFailure::Kind::kDied);
  EXPECT_THAT(answer.failure->message, HasSubstr("signal 7"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000));
}

TEST(WorkerTest, FloodsOfOutputAreKeptWithinBounds) {
  auto worker = start(kHello + "read l <&3; head -c 50000000 /dev/zero; echo '{\"id\":1,\"result\":{}}' >&3");
  ASSERT_TRUE(worker->ready(in(5000)).ok());
  ASSERT_TRUE(worker->call("load", Json::object(), in(20'000)).ok());
  std::string output = worker->finish();
  EXPECT_LT(output.size(), size_t{2} << 20);
  EXPECT_THAT(output.substr(output.size() - 60), HasSubstr("more bytes were dropped"));
}

TEST(WorkerTest, StartingNothingIsMissing) {
  WorkerOptions options;
  options.python = {"/nonexistent/python"};
  auto worker = Worker::start(options);
  ASSERT_FALSE(worker.ok());
  EXPECT_EQ(worker.error().kind, ErrorKind::kMissing);
}

TEST(WorkerTest, OnlyWhatWorkersReadPassesIntoTheirEnvironment) {
  setenv("SERVICE_API_KEY", "secret", 1);
  setenv("TRITON_INTERPRET", "1", 1);
  EXPECT_THAT(worker_environment(), AllOf(Contains(Pair("TRITON_INTERPRET", "1")),
                                          Not(Contains(Pair("SERVICE_API_KEY", "secret")))));
  unsetenv("SERVICE_API_KEY");
  unsetenv("TRITON_INTERPRET");
}

}  // namespace
}  // namespace graft::referee
