#include "sim/event/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// Returns when each flow ends, in that order.
std::vector<std::pair<double, std::uint32_t>> ends_of(FairShare& share) {
  std::vector<std::pair<double, std::uint32_t>> ends;
  for (double time = share.next(); time < 1e9; time = share.next()) {
    share.advance(time, [&](std::uint32_t tag) { ends.emplace_back(time, tag); });
  }
  return ends;
}

std::vector<BytesPerSecond> rates(std::vector<double> values) {
  std::vector<BytesPerSecond> all;
  for (const double value : values) all.push_back({value});
  return all;
}

// 10 bytes alone at 10 B/s.
TEST(FairShare, AFlowAloneHasTheNarrowestLink) {
  FairShare share(rates({20, 10}), std::vector<std::vector<LinkUse>>{{{0}, {1}}});
  share.start(0, 10, 7);
  EXPECT_THAT(ends_of(share), ElementsAre(Pair(1.0, 7U)));
}

// 10 and 20 bytes over 10 B/s: 5 B/s each for 2 s, then the longer one's last 10 bytes at 10 B/s.
TEST(FairShare, RemainingFlowsGetTheFreedRate) {
  FairShare share(rates({10}), std::vector<std::vector<LinkUse>>{{{0}}});
  share.start(0, 10, 1);
  share.start(0, 20, 2);
  EXPECT_THAT(ends_of(share), ElementsAre(Pair(2.0, 1U), Pair(3.0, 2U)));
}

// Link 0 (10 B/s) carries A and B, link 1 (100 B/s) B and C: A and B have 5 each, C the 95 that are left.
TEST(FairShare, ANarrowLinkLeavesTheWideOneToOthers) {
  FairShare share(rates({10, 100}), std::vector<std::vector<LinkUse>>{{{0}}, {{0}, {1}}, {{1}}});
  share.start(0, 10, 1);
  share.start(1, 10, 2);
  share.start(2, 95, 3);
  EXPECT_THAT(ends_of(share), ElementsAre(Pair(1.0, 3U), Pair(2.0, 1U), Pair(2.0, 2U)));
}

// One begins 1 s later: 10 of the first one's 15 bytes have gone, the rest at half the rate.
TEST(FairShare, AFlowThatBeginsLaterSharesFromThenOn) {
  FairShare share(rates({10}), std::vector<std::vector<LinkUse>>{{{0}}});
  share.start(0, 15, 1);
  EXPECT_EQ(share.next(), 1.5);
  share.advance(1, [](std::uint32_t) { FAIL() << "nothing is through"; });
  share.start(0, 15, 2);
  EXPECT_THAT(ends_of(share), ElementsAre(Pair(2.0, 1U), Pair(3.0, 2U)));
}

// A flow that ends at some moment leaves its rate to a flow that begins then.
TEST(FairShare, AFlowMayBeginWhereAnotherEnds) {
  FairShare share(rates({10}), std::vector<std::vector<LinkUse>>{{{0}}});
  share.start(0, 10, 1);
  std::vector<std::pair<double, std::uint32_t>> ends;
  for (int i = 0; i < 3; ++i) {
    const double time = share.next();
    share.advance(time, [&](std::uint32_t tag) {
      ends.emplace_back(time, tag);
      if (tag < 3) share.start(0, 10, tag + 1);
    });
  }
  EXPECT_THAT(ends, ElementsAre(Pair(1.0, 1U), Pair(2.0, 2U), Pair(3.0, 3U)));
}

}  // namespace
}  // namespace ringside
