#include "trace/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

using testing::ElementsAre;

/// Times identify the event: begin is the id, end the id + 1.
TraceEvent primitive(Primitive what, std::int32_t rank, std::int32_t from, std::int32_t to,
                     std::uint32_t sequence, std::int64_t id) {
  TraceEvent event;
  event.primitive = what;
  event.rank = rank;
  event.recv_peer = from;
  event.send_peer = to;
  event.sequence = sequence;
  event.begin_ns = id;
  event.end_ns = id + 1;
  return event;
}
TraceEvent send(std::uint32_t sequence, std::int64_t id) {
  return primitive(Primitive::Send, 0, -1, 1, sequence, id);
}
TraceEvent recv(std::uint32_t sequence, std::int64_t id) {
  return primitive(Primitive::Recv, 1, 0, -1, sequence, id);
}

using Ids = std::pair<std::int64_t, std::int64_t>;

struct Matched {
  std::vector<Ids> ids;
  std::uint64_t unmatched = 0;
};

Matched match(const std::vector<TraceEvent>& events) {
  Matched result;
  TransferMatcher matcher([&](const TraceTransfer& transfer) {
    result.ids.emplace_back(transfer.send_begin_ns, transfer.recv_begin_ns);
    EXPECT_EQ(transfer.send_end_ns, transfer.send_begin_ns + 1);
    EXPECT_EQ(transfer.recv_end_ns, transfer.recv_begin_ns + 1);
  });
  for (const TraceEvent& event : events) matcher.add(event);
  result.unmatched = matcher.unmatched();
  return result;
}

TEST(TransferMatcher, TheNthSendFeedsTheNthReceive) {
  const Matched found = match({send(0, 1), send(0, 2), recv(0, 11), recv(0, 12)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{1, 11}, Ids{2, 12}));
  EXPECT_EQ(found.unmatched, 0U);
}

// Rank 0 sends to 1 and 2 at once, rank 2 receives from 0 and 1 at once.
TEST(TransferMatcher, MatchesEachPeerOfAStepSeparately) {
  TraceEvent more_to = primitive(Primitive::Send, 0, -1, 2, 0, 1);
  more_to.kind = EventKind::Peer;
  TraceEvent more_from = primitive(Primitive::Recv, 2, 1, -1, 0, 12);
  more_from.kind = EventKind::Peer;
  const Matched found =
      match({send(0, 1), more_to, recv(0, 11), primitive(Primitive::Recv, 2, 0, -1, 0, 12),
             more_from, primitive(Primitive::Send, 1, -1, 2, 0, 3)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{1, 11}, Ids{1, 12}, Ids{3, 12}));
  EXPECT_EQ(found.unmatched, 0U);
}

TEST(TransferMatcher, LanesMayComeInAnyOrder) {
  const Matched found =
      match({recv(0, 11), recv(0, 12), recv(1, 13), send(0, 1), send(0, 2), send(1, 3)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{1, 11}, Ids{2, 12}, Ids{3, 13}));
}

// Rank 1 lost the block with its receives of collective 0: those of collective 1 are matched all the same.
TEST(TransferMatcher, ALossStaysWithinItsCollective) {
  const Matched found =
      match({send(0, 1), send(0, 2), send(1, 3), recv(1, 13), recv(2, 14), send(2, 4)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{3, 13}, Ids{4, 14}));
  EXPECT_EQ(found.unmatched, 2U);
}

TEST(TransferMatcher, SkipsMessagesBehindWaitingOnes) {
  const Matched found = match({send(3, 1), recv(1, 11), recv(3, 13)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{1, 13}));
  EXPECT_EQ(found.unmatched, 1U);
}

TEST(TransferMatcher, OnePrimitiveMayReceiveAndSend) {
  const Matched found = match({send(0, 1), primitive(Primitive::RecvReduceSend, 1, 0, 2, 0, 5),
                               primitive(Primitive::Recv, 2, 1, -1, 0, 9)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{1, 5}, Ids{5, 9}));
}

TEST(TransferMatcher, ChannelsAndCommunicatorsAreApart) {
  TraceEvent other_channel = recv(0, 11);
  other_channel.channel = 1;
  TraceEvent other_communicator = recv(0, 12);
  other_communicator.communicator = 1;
  const Matched found = match({send(0, 1), other_channel, other_communicator});
  EXPECT_TRUE(found.ids.empty());
  EXPECT_EQ(found.unmatched, 3U);
}

TEST(TransferMatcher, CopiesWholeCollectivesAndAbsentPeersHaveNoPart) {
  TraceEvent whole = send(0, 1);
  whole.kind = EventKind::Collective;
  const Matched found = match({whole, primitive(Primitive::Copy, 0, 1, 1, 0, 2),
                               primitive(Primitive::Send, 0, -1, -1, 0, 3)});
  EXPECT_EQ(found.unmatched, 0U);
}

/// Returns a step of an all-reduce by NVLS, on the part of the buffer at `offset`.
TraceEvent of_heads(Primitive what, std::int32_t rank, std::int32_t from, std::int32_t to,
                    std::uint64_t offset, std::int64_t id) {
  TraceEvent event = primitive(what, rank, from, to, 0, id);
  event.algorithm = Algorithm::Nvls;
  event.offset = offset;
  return event;
}

// Ranks 0 and 1 are heads of the parts at 0 and at 100. Rank 0 sends its share of part 100 to rank 1, and the sum of its own
// part 0 as well; rank 1 takes the sum before it comes to the share of the second loop.
TEST(TransferMatcher, SharesAndResultsOfHeadsAreDistinguishedByTheirPlace) {
  std::vector<std::uint32_t> numbers;
  std::vector<Ids> ids;
  TransferMatcher matcher([&](const TraceTransfer& transfer) {
    ids.emplace_back(transfer.send_begin_ns, transfer.recv_begin_ns);
    numbers.push_back(transfer.connection_number);
  });
  for (const TraceEvent& event :
       {of_heads(Primitive::Send, 0, -1, 1, 100, 1), of_heads(Primitive::Send, 0, -1, 1, 300, 2),
        of_heads(Primitive::RecvSend, 0, -1, 1, 0, 3),
        of_heads(Primitive::RecvSend, 0, -1, 1, 200, 4),
        of_heads(Primitive::RecvSend, 1, 0, -1, 100, 11),
        of_heads(Primitive::Recv, 1, 0, -1, 0, 12),
        of_heads(Primitive::RecvSend, 1, 0, -1, 300, 13),
        of_heads(Primitive::Recv, 1, 0, -1, 200, 14)}) {
    matcher.add(event);
  }
  EXPECT_THAT(ids, ElementsAre(Ids{1, 11}, Ids{3, 12}, Ids{2, 13}, Ids{4, 14}));
  EXPECT_EQ(matcher.unmatched(), 0U);
  // Among transfers with one connection number the ids of both ends ascend, for readers that store transfers as runs.
  EXPECT_EQ(*std::ranges::max_element(numbers), 1U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t later = i + 1; later < ids.size(); ++later) {
      if (numbers[i] != numbers[later]) continue;
      EXPECT_LT(ids[i].first, ids[later].first) << i << " and " << later;
      EXPECT_LT(ids[i].second, ids[later].second) << i << " and " << later;
    }
  }
}

// A head sends its own share to itself before its own sum, and both are at one place.
TEST(TransferMatcher, AHeadsOwnShareComesBeforeItsOwnResult) {
  const Matched found = match({of_heads(Primitive::Send, 0, -1, 0, 0, 1),
                               of_heads(Primitive::RecvSend, 0, 0, 0, 0, 3),
                               of_heads(Primitive::Recv, 0, 0, -1, 0, 5)});
  EXPECT_THAT(found.ids, ElementsAre(Ids{1, 3}, Ids{3, 5}));
  EXPECT_EQ(found.unmatched, 0U);
}

TEST(TransferMatcher, MatchesSwitchMessagesByTheirEnds) {
  const auto goes = [](Collective collective, Primitive sent, Primitive received) {
    TraceEvent from = of_heads(sent, 0, -1, 1, 0, 1);
    TraceEvent to = of_heads(received, 1, 0, -1, 0, 2);
    from.collective = to.collective = collective;
    return goes_by_switch(from, to);
  };
  EXPECT_TRUE(goes(Collective::AllReduce, Primitive::Send, Primitive::RecvSend));
  EXPECT_TRUE(goes(Collective::AllReduce, Primitive::RecvSend, Primitive::Recv));
  EXPECT_FALSE(goes(Collective::AllReduce, Primitive::RecvSend, Primitive::RecvSend))
      << "heads of two nodes";
  EXPECT_TRUE(goes(Collective::AllGather, Primitive::Send, Primitive::Recv));
  EXPECT_FALSE(goes(Collective::AllGather, Primitive::Send, Primitive::RecvSend));
  EXPECT_TRUE(goes(Collective::ReduceScatter, Primitive::Send, Primitive::RecvSend));
  EXPECT_FALSE(goes(Collective::ReduceScatter, Primitive::RecvSend, Primitive::Recv));
  TraceEvent copied = of_heads(Primitive::Send, 0, -1, 1, 0, 1);
  copied.is_modelled = true;
  EXPECT_FALSE(goes_by_switch(copied, of_heads(Primitive::RecvSend, 1, 0, -1, 0, 2)));
  EXPECT_FALSE(goes_by_switch(send(0, 1), recv(0, 2))) << "a ring";
}

TEST(TransferMatcher, StoresAtMostItsLimit) {
  int transfers = 0;
  TransferMatcher matcher([&](const TraceTransfer&) { ++transfers; });
  for (std::size_t i = 0; i < TransferMatcher::kMostWaiting; ++i) matcher.add(send(0, 1));
  const auto on_channel_1 = [](TraceEvent event) {
    event.channel = 1;
    return event;
  };
  matcher.add(on_channel_1(send(0, 2)));
  matcher.add(on_channel_1(recv(0, 12)));
  EXPECT_EQ(transfers, 0);
  EXPECT_EQ(matcher.unmatched(), TransferMatcher::kMostWaiting + 2);
  matcher.add(recv(0, 11));  // waiting ones are matched as usual
  EXPECT_EQ(transfers, 1);
}

}  // namespace
}  // namespace ringside
