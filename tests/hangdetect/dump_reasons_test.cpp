#include "diag/hangdetect/readers/dump_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/verdict/connections.h"
#include "engine/flight/dump.h"

namespace ringside::hang {
namespace {

using What = LogStatement::What;

FlightDump dump_of(const std::string& reason) {
  FlightDump dump;
  dump.groups = {{0, "0", "default_pg", {0, 1, 2, 3}}, {1, "part", "", {1, 3}}};
  dump.reason = reason;
  return dump;
}

/// The recorder's dump as the reader reads it, from pickle or JSON.
RankDump read_back(const FlightDump& dump, int rank, Names& names, bool is_json = false) {
  std::string text;
  if (is_json) {
    append_json(dump, text);
  } else {
    append_pickle(dump, text);
  }
  auto read = parse_dump(text, names);
  EXPECT_TRUE(read) << read.error().message;
  read->rank = rank;
  return *std::move(read);
}

TEST(DumpReasons, ADeathNamesTheGlobalRank) {
  for (const bool is_json : {false, true}) {
    Names names;
    FlightDump dump = dump_of("rank 1 is gone: its process or host ended without a goodbye");
    dump.reason_group = "part";
    const std::vector<RankDump> dumps{read_back(dump, 0, names, is_json)};
    const auto said = reasons_of(dumps, names);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].what, What::EngineGone);
    EXPECT_THAT(said[0].ranks, testing::ElementsAre(3));
  }
}

TEST(DumpReasons, ABrokenConnectionDiffersFromAWrongOrMissingMessage) {
  const auto reason_of = [](const std::string& how) {
    Names names;
    const std::vector<RankDump> dumps{
        read_back(dump_of("rank 0 lost rank 1 on channel 0: " + how), 0, names)};
    const auto said = reasons_of(dumps, names);
    return said.size() == 1 ? std::optional(said[0].what) : std::nullopt;
  };
  EXPECT_EQ(reason_of("the peer closed the connection"), What::EngineCut);
  EXPECT_EQ(reason_of("it sent 36 bytes where this rank expects 1600"), What::EngineDiffers);
  EXPECT_EQ(reason_of("waited 2 s for a chunk of step 3"), std::nullopt);
}

TEST(DumpReasons, EveryDeathInTheReasonIsReported) {
  Names names;
  const auto ranks_in = [&](const std::string& rest) {
    const std::vector<RankDump> dumps{read_back(
        dump_of("rank 0 is gone: its process or host ended without a goodbye" + rest), 3, names)};
    const auto said = reasons_of(dumps, names);
    return said.size() == 1 ? said[0].ranks : std::vector<int>{};
  };
  EXPECT_THAT(ranks_in(", and so did rank 2"), testing::ElementsAre(0, 2));
  EXPECT_THAT(ranks_in(", and so did ranks 1-3,7"), testing::ElementsAre(0, 1, 2, 3, 7));
  EXPECT_THAT(ranks_in(", and so did rank"), testing::ElementsAre(0));
}

TEST(DumpReasons, ARankWithoutAnAnswerIsReported) {
  const std::string why = " (rank 1 lost rank 2 on channel 0: waited 2 s for a chunk of step 7)";
  const auto ranks_in = [](const std::string& reason) {
    Names names;
    const std::vector<RankDump> dumps{read_back(dump_of(reason), 0, names)};
    const auto said = reasons_of(dumps, names);
    const bool is_stopped = said.size() == 1 && said[0].what == What::EngineStopped;
    return is_stopped ? said[0].ranks : std::vector<int>{};
  };
  EXPECT_THAT(ranks_in("rank 2 does not answer: it is stopped, or cannot be reached" + why),
              testing::ElementsAre(2));
  EXPECT_THAT(ranks_in("ranks 0,3 do not answer: they are stopped, or cannot be reached; the "
                       "state of ranks 1-2 between them is unknown" +
                       why),
              testing::ElementsAre(0, 3));
}

TEST(DumpReasons, ARankThatLeftWithoutReceivingAMessageIsTheOneThatLeft) {
  Names names;
  FlightDump dump =
      dump_of("rank 1 has left the communicator without receiving a message of rank 0");
  dump.reason_group = "part";
  const std::vector<RankDump> dumps{read_back(dump, 0, names)};
  const auto said = reasons_of(dumps, names);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].what, What::LeftGroup);
  EXPECT_THAT(said[0].ranks, testing::ElementsAre(3));
}

TEST(DumpReasons, ABrokenConnectionGivesNoCulpritAndATimeoutNoStatement) {
  Names names;
  const std::vector<RankDump> cut{
      read_back(dump_of("rank 1 lost rank 2 on channel 0: the connection was cut"), 1, names)};
  const auto said = reasons_of(cut, names);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].what, What::EngineCut);
  EXPECT_TRUE(said[0].ranks.empty());
  EXPECT_THAT(said[0].dump_ranks, testing::ElementsAre(1));
  const std::vector<RankDump> timeout{read_back(
      dump_of("rank 1 lost rank 2 on channel 0: waited 2 s for a chunk of step 7"), 1, names)};
  EXPECT_TRUE(reasons_of(timeout, names).empty());
}

TEST(DumpReasons, AFailedConnectIsReportedAsABrokenConnection) {
  Names names;
  const std::vector<RankDump> dumps{
      read_back(dump_of("rank 0 cannot reach rank 1 on channel 0: Call to ibv_modify_qp failed "
                        "with 22 Invalid argument, on dev rx1:1, curr state INIT, next state RTR"),
                0, names)};
  const auto said = reasons_of(dumps, names);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].what, What::EngineCut);
  EXPECT_TRUE(said[0].ranks.empty());
  const std::vector<RankDump> late{read_back(dump_of("rank 0 cannot reach rank 1 on channel 0: no "
                                                     "connection to 10.0.0.1:4000 arrived in time"),
                                             0, names)};
  EXPECT_TRUE(reasons_of(late, names).empty());
}

/// Two ranks and one connection from rank 0 to rank 1.
std::vector<ConnectionProgress> between(FlightDump::Progress sender,
                                        FlightDump::Progress receiver) {
  Names names;
  FlightDump first = dump_of("");
  sender.is_send = true;
  sender.peer = 1;
  first.progress = {sender};
  FlightDump second = dump_of("");
  receiver.peer = 0;
  second.progress = {receiver};
  const std::vector<RankDump> dumps{read_back(first, 0, names), read_back(second, 1, names, true)};
  return connections_of(dumps);
}

TEST(DumpConnections, AChunkThatAWaitingReceiverLacksIsLost) {
  const auto lost = between({.messages = 9}, {.messages = 7, .is_waiting = true});
  ASSERT_EQ(stalled_connections(lost).size(), 1U);
  EXPECT_EQ(stalled_connections(lost)[0].sender, 0);
  EXPECT_EQ(stalled_connections(lost)[0].receiver, 1);
}

TEST(DumpConnections, AChunkForAReceiverThatDoesNotWaitIsNotLost) {
  EXPECT_TRUE(stalled_connections(between({.messages = 9}, {.messages = 7})).empty());
}

TEST(DumpConnections, ARankThatWaitsForDataNeverSentIsNotHeldByTheConnection) {
  const auto lacking = between({.messages = 7}, {.messages = 7, .is_waiting = true});
  EXPECT_TRUE(stalled_connections(lacking).empty());
  ASSERT_EQ(lacking.size(), 1U);
  EXPECT_TRUE(lacking[0].is_lacking());
}

TEST(DumpConnections, ASenderBlockedAfterAllWasReceivedIsBlockedByTheConnection) {
  const auto blocked = between({.messages = 7, .is_waiting = true}, {.messages = 7});
  ASSERT_EQ(stalled_connections(blocked).size(), 1U);
  EXPECT_TRUE(stalled_connections(blocked)[0].is_blocked);
}

// A chain that forwards: rank 1 keeps what it received until rank 2 has room.
TEST(DumpConnections, ASenderWaitsForAReceiverThatCannotForward) {
  const ConnectionProgress first{.sender = 0,
                                 .receiver = 1,
                                 .sent = 7,
                                 .received = 7,
                                 .is_blocked = true,
                                 .sender_waits = true};
  const ConnectionProgress next{
      .sender = 1, .receiver = 2, .sent = 6, .received = 4, .sender_waits = true};
  const std::vector<ConnectionProgress> chain{first, next};
  for (const ConnectionProgress& one : stalled_connections(chain)) EXPECT_EQ(one.sender, 1);
  const std::vector<ConnectionProgress> alone{first};
  EXPECT_EQ(stalled_connections(alone).size(), 1U);
}

// The receiver waits on another connection of the same channel: nothing is lost.
TEST(DumpConnections, ConnectionsOfOneChannelAreKeptApart) {
  const auto apart = between({.protocol = Protocol::Simple, .messages = 9},
                             {.protocol = Protocol::LL, .messages = 1, .is_waiting = true});
  EXPECT_TRUE(stalled_connections(apart).empty());
}

TEST(DumpRoots, TheRootOfACallIsRead) {
  Names names;
  FlightDump dump = dump_of("");
  FlightDump::Call& call = dump.calls.emplace_back();
  call.profiling_name = "nccl:broadcast";
  call.input = call.output = {4};
  call.type = "Float";
  call.root = 2;
  dump.entries.emplace_back().call = &call;
  for (const bool is_json : {false, true}) {
    const RankDump read = read_back(dump, 0, names, is_json);
    ASSERT_EQ(read.calls.size(), 1U);
    EXPECT_EQ(names.signature(read.calls[0].signature).root, 2);
  }
}

}  // namespace
}  // namespace ringside::hang
