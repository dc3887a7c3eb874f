#include "harness/local_ranks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

namespace ringside {
namespace {

using std::chrono::milliseconds;

TEST(LocalRanks, EachRankRunsOnceAndTheLargestStatusIsTheAnswer) {
  const auto status = run_local_ranks(4, [](const LocalRank& me) -> Result<int> {
    return me.rank() == 2 ? me.nranks() - 3 : 0;  // 4 - 3 = 1
  });
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 1);
}

TEST(LocalRanks, RankZeroSendsTheOthersALine) {
  const auto status = run_local_ranks(3, [](const LocalRank& me) -> Result<int> {
    if (me.rank() == 0) {
      RINGSIDE_TRY(me.publish("ringside:127.0.0.1:1:00"));
      return 0;
    }
    RINGSIDE_TRY(const std::string line, me.wait_for_line(Seconds{20}));
    return std::string_view(line) == "ringside:127.0.0.1:1:00" ? 0 : 1;
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 0);
}

// If rank 0 stops before it has reported where the ranks meet, the others must not wait for it without end.
TEST(LocalRanks, ARankZeroThatHangsIsNotWaitedForForEver) {
  const auto status = run_local_ranks(
      3,
      [](const LocalRank& me) -> Result<int> {
        if (me.rank() == 0) ::raise(SIGSTOP);
        RINGSIDE_TRY(const std::string line, me.wait_for_line(Seconds{0.1}));
        return 0;
      },
      Seconds{0.2});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Timeout);
  EXPECT_NE(status.error().message.find("rank 0 did not send rank"), std::string::npos);
}

TEST(LocalRanks, AKilledRankIsNamedAndTheOthersAreEnded) {
  const auto begin = std::chrono::steady_clock::now();
  const auto status = run_local_ranks(
      3,
      [](const LocalRank& me) -> Result<int> {
        if (me.rank() == 1) ::kill(::getpid(), SIGKILL);
        std::this_thread::sleep_for(std::chrono::seconds(60));
        return 0;
      },
      Seconds{0.2});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::PeerGone);
  EXPECT_NE(status.error().message.find("rank 1 (pid "), std::string::npos);
  EXPECT_NE(status.error().message.find("signal 9"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

// Ranks 0 and 2 only report that they lost rank 1; rank 1 reports the reason.
TEST(LocalRanks, TheErrorThatExplainsTheOthersIsTheOneReported) {
  const auto status = run_local_ranks(3, [](const LocalRank& me) -> Result<int> {
    if (me.rank() == 1) {
      std::this_thread::sleep_for(milliseconds(100));
      return Error{ErrorCode::Timeout, "rank 1 waited\nfor ever", "give more time"};
    }
    return Error{ErrorCode::PeerGone, "lost rank 1"};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Timeout);
  EXPECT_EQ(status.error().message, "rank 1 waited for ever");
  EXPECT_EQ(status.error().help, "give more time");
}

TEST(LocalRanks, RanksDieWithTheProcessThatStartedThem) {
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const pid_t launcher = ::fork();
  ASSERT_GE(launcher, 0);
  if (launcher == 0) {
    const auto status = run_local_ranks(2, [&](const LocalRank&) -> Result<int> {
      const pid_t pid = ::getpid();
      if (::write(report[1], &pid, sizeof pid) < 0) return 3;
      std::this_thread::sleep_for(std::chrono::seconds(60));
      return 0;
    });
    ::_exit(status ? *status : 3);
  }
  pid_t ranks[2];
  for (pid_t& rank : ranks) ASSERT_EQ(::read(report[0], &rank, sizeof rank), 4);
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  // The write end closes when the last of the processes has ended.
  ::close(report[1]);
  char nothing = 0;
  EXPECT_EQ(::read(report[0], &nothing, 1), 0);
  ::close(report[0]);
}

}  // namespace
}  // namespace ringside
