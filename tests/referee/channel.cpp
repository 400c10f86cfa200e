#include "referee/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace graft::referee {
namespace {

using std::chrono::milliseconds;

Deadline in(int ms) {
  return std::chrono::steady_clock::now() + milliseconds(ms);
}

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = Channel::create();
    ASSERT_TRUE(ends.ok());
    channel_ = std::move(ends->first);
    other_ = std::move(ends->second);
  }
  void say(std::string_view text) {
    ASSERT_EQ(write(other_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  Channel channel_;
  UniqueFd other_;
};

TEST_F(ChannelTest, ReadsLinesHoweverTheyAreCut) {
  say("{\"id\":1}\n{\"i");
  Received first = channel_.receive(in(1000));
  ASSERT_EQ(first.kind, Received::Kind::kLine);
  EXPECT_EQ(first.message["id"].as_int(), 1);
  EXPECT_EQ(channel_.receive(in(10)).kind, Received::Kind::kTimedOut);
  say("d\":2}\n");
  Received second = channel_.receive(in(1000));
  ASSERT_EQ(second.kind, Received::Kind::kLine);
  EXPECT_EQ(second.message["id"].as_int(), 2);
}

TEST_F(ChannelTest, WhatIsNoObjectIsMalformed) {
  const std::vector<std::string> lines = {
      "", "[]", "nonsense", "{\"a\":}", "{\"a\":1,\"a\":2}", "\x01\xff", std::string(5000, '[')};
  for (const std::string& line : lines) {
    say(line + "\n");
    EXPECT_EQ(channel_.receive(in(1000)).kind, Received::Kind::kMalformed) << line;
  }
}

TEST_F(ChannelTest, EndlessLinesAreCutOff) {
  std::thread writer([fd = other_.get()] {
    std::string block(1 << 16, ' ');
    for (size_t i = 0; i < 2 * Channel::kMaxLine; i += block.size())
      if (::send(fd, block.data(), block.size(), MSG_NOSIGNAL) < 0) return;
  });
  EXPECT_EQ(channel_.receive(in(10'000)).kind, Received::Kind::kMalformed);
  channel_ = Channel();
  writer.join();
}

TEST_F(ChannelTest, NoticesTheOtherSidesEnd) {
  EXPECT_FALSE(channel_.closed());
  say("{}\n");
  other_.reset();
  EXPECT_FALSE(channel_.closed());
  EXPECT_EQ(channel_.receive(in(1000)).kind, Received::Kind::kLine);
  EXPECT_TRUE(channel_.closed());
  EXPECT_EQ(channel_.receive(in(1000)).kind, Received::Kind::kClosed);
  EXPECT_FALSE(channel_.send(Json::object(), {}, in(1000)));
}

TEST_F(ChannelTest, SendingStopsAtTheDeadlineWhenNobodyReads) {
  Json big = Json::object({{"text", std::string(8 << 20, 'x')}});
  EXPECT_FALSE(channel_.send(big, {}, in(50)));
}

TEST_F(ChannelTest, DescriptorsTravelWithTheLine) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  UniqueFd read_end(pipe_ends[0]), write_end(pipe_ends[1]);
  int fd = write_end.get();
  ASSERT_TRUE(channel_.send(Json::object({{"id", 1}}), {&fd, 1}, in(1000)));

  char text[64] = {};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec piece{text, sizeof text};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ASSERT_GT(recvmsg(other_.get(), &header, 0), 0);
  EXPECT_STREQ(text, "{\"id\":1}\n");
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  ASSERT_NE(rights, nullptr);
  int received = -1;
  std::memcpy(&received, CMSG_DATA(rights), sizeof received);
  UniqueFd owner(received);
  write_end.reset();
  ASSERT_EQ(write(received, "ok", 2), 2);
  char back[3] = {};
  ASSERT_EQ(read(read_end.get(), back, 2), 2);
  EXPECT_STREQ(back, "ok");
}

}  // namespace
}  // namespace graft::referee
