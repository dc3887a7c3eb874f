#include "engine/runtime/watch/failure_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WatchMessage report(int origin, ErrorCode code, const std::string& text, Rank dead = kNoRank) {
  return {WatchMessage::Kind::Abort, Rank{origin}, dead, Error{code, text}};
}

TEST(FailureReports, TheOrderOfArrivalDoesNotChangeTheCause) {
  const std::vector<WatchMessage> received{
      report(3, ErrorCode::PeerGone, "lost a peer"),
      report(2, ErrorCode::Aborted, "asked to end"),
      report(5, ErrorCode::Corrupt, "wrong bytes"),
      report(4, ErrorCode::Corrupt, "wrong length"),
  };
  FailureReports forwards(Rank{0}, 8);
  FailureReports backwards(Rank{7}, 8);
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_TRUE(forwards.add(received[i]));
    EXPECT_TRUE(backwards.add(received[received.size() - 1 - i]));
  }
  EXPECT_EQ(forwards.cause().message, "wrong length");
  EXPECT_EQ(backwards.cause().message, "wrong length");
  EXPECT_FALSE(forwards.cause().is_reported_elsewhere);
  EXPECT_TRUE(backwards.cause().is_reported_elsewhere);
}

TEST(FailureReports, ADeathComesFirstUnlessTheRankDeniesIt) {
  FailureReports reports(Rank{0}, 4);
  EXPECT_TRUE(reports.add(report(1, ErrorCode::Corrupt, "wrong bytes")));
  EXPECT_TRUE(reports.add(report(1, ErrorCode::PeerGone, "rank 2 is gone", Rank{2})));
  EXPECT_FALSE(reports.add(report(1, ErrorCode::PeerGone, "rank 2 is gone", Rank{2})));
  EXPECT_EQ(reports.cause().message, "rank 2 is gone");
  EXPECT_TRUE(reports.add(report(2, ErrorCode::Unreachable, "rank 2 lost rank 1")));
  EXPECT_EQ(reports.cause().message, "wrong bytes");
}

TEST(FailureReports, SeveralDeathsAreOneCause) {
  FailureReports reports(Rank{0}, 8);
  for (const int dead : {5, 2, 6}) {
    reports.add(report(dead - 1, ErrorCode::PeerGone, "", Rank{dead}));
  }
  EXPECT_THAT(reports.cause().message, HasSubstr("rank 2 is gone"));
  EXPECT_THAT(reports.cause().message, HasSubstr("and so did ranks 5-6"));
}

TEST(FailureReports, OnlyATimeoutAsksWhichRanksAreAlive) {
  FailureReports reports(Rank{0}, 6);
  for (const int rank : {0, 1, 5}) reports.add_present(Rank{rank});
  reports.add(report(0, ErrorCode::PeerGone, "lost a peer"));
  EXPECT_THAT(reports.absent(), ElementsAre());
  reports.add(report(0, ErrorCode::Timeout, "waited 5 s"));
  EXPECT_THAT(reports.absent(), ElementsAre(2, 3, 4));
  EXPECT_EQ(reports.cause().message,
            "ranks 2,4 do not answer: they are stopped, or cannot be reached; the state of rank 3 "
            "between them is "
            "unknown (waited 5 s)");
}

}  // namespace
}  // namespace ringside
