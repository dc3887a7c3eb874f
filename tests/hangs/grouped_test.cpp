#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "harness/hangs/dump.h"
#include "harness/hangs/hang_case.h"
#include "harness/hangs/outline.h"
#include "harness/hangs/player.h"
#include "harness/hangs/recorder.h"
#include "harness/hangs/truth.h"
#include "tests/hangs/programs.h"

namespace ringside::hangs {
namespace {

Program program_of(const std::string& steps, int ranks = 4) {
  const auto outline =
      parse_outline("ringside: hang-program/1\nranks: " + std::to_string(ranks) +
                        "\niterations: 2\ngroups: {left: [0-" + std::to_string(ranks - 1) +
                        "], right: [0-" + std::to_string(ranks - 1) + "]}\nsteps:\n" + steps,
                    "p.yaml");
  EXPECT_TRUE(outline) << outline.error().message << outline.error().help;
  return make_program(*outline);
}

/// Every call takes a microsecond per element.
Play played(const Program& program) {
  const PlayTimes times{
      .call = [](const Step& step, const Group&) { return Nanoseconds{1000 * step.count}; },
      .is_even = true};
  return play(program, {}, 1, times);
}

Nanoseconds length_of(const Record& record) {
  return Nanoseconds{record.completed - record.moving};
}

// Sends before receives, one by one, wait for each other around the ring; begun together they do not.
TEST(Grouped, ARingOfSendsAndReceivesComesThroughTogetherAndNotOneByOne) {
  EXPECT_FALSE(played(program_of("- send_recv: {on: world, count: 50}\n")).is_hung());
  const std::string one_by_one =
      "- transfer: {on: world, from: 0, to: 1, count: 5, only: {on: world, at: 0}}\n"
      "- transfer: {on: world, from: 1, to: 0, count: 5, only: {on: world, at: 1}}\n"
      "- transfer: {on: world, from: 0, to: 1, count: 5, only: {on: world, at: 1}}\n"
      "- transfer: {on: world, from: 1, to: 0, count: 5, only: {on: world, at: 0}}\n";
  EXPECT_TRUE(played(program_of(one_by_one, 2)).is_hung());
  EXPECT_FALSE(played(program_of("- grouped: {calls: [transfer: {on: world, from: 0, to: 1, count: "
                                 "5}, transfer: {on: world, from: 1, to: 0, count: 5}]}\n",
                                 2))
                   .is_hung());
}

// Each of two iterations makes a send, a receive, and the entry that ends the set.
TEST(Grouped, TheEntryThatEndsASetTakesRoomInTheRing) {
  const Program program = program_of("- send_recv: {on: world, count: 50}\n");
  const Play all = played(program);
  EXPECT_EQ(entries_until(all.ranks.front(), INT64_MAX), 6U);
  EXPECT_EQ(entries_until(all.ranks.front(), 0), 3U) << "the second iteration begins later";
  const auto has_wrapped = [&](int capacity) {
    Program again = program_of("- send_recv: {on: world, count: 50}\n");
    Play own = played(again);
    HangCase hang = kept_case("ring", std::move(again), std::move(own));
    hang.recorder.capacity = capacity;
    return truth_json(hang, Truth{}, "ring")["recorder"]["wrapped"].get<bool>();
  };
  EXPECT_TRUE(has_wrapped(5)) << "four calls, and two ends of sets";
  EXPECT_FALSE(has_wrapped(6));
}

TEST(Grouped, EachRankSendsSoManyPlacesOnRoundTheGroup) {
  for (const int by : {1, 2, -1}) {
    const Program program =
        program_of("- send_recv: {on: world, count: 5, by: " + std::to_string(by) + "}\n");
    for (int rank = 0; rank < 4; ++rank) {
      const auto& body = program.programs[static_cast<std::size_t>(rank)].body;
      ASSERT_EQ(body.size(), 2U);
      EXPECT_EQ(body[0].op, Op::Send);
      EXPECT_EQ(body[0].peer, (rank + by + 4) % 4) << rank;
      EXPECT_EQ(body[1].op, Op::Recv);
      EXPECT_EQ(body[1].peer, (rank - by + 4) % 4) << rank;
    }
  }
}

// Rank 0 sends 30 and 50 elements at once: each takes as long as 80. Only rank 3 receives 50, and waits for all that
// rank 0 sends.
TEST(Grouped, SendsOfOneRankShareItsWayOut) {
  const Play play = played(
      program_of("- grouped: {calls: [transfer: {on: world, from: 0, to: 2, count: 30}, transfer: "
                 "{on: world, from: 0, to: 3, count: 50}]}\n"));
  ASSERT_FALSE(play.is_hung());
  for (const int rank : {0, 2, 3}) {
    EXPECT_EQ(length_of(record(play, rank, 0)).count(), 80'000 * 4) << rank;
  }
}

TEST(Grouped, ReceivesShareTheWayInAndTheOtherWayIsFree) {
  const Play play = played(
      program_of("- grouped: {calls: [transfer: {on: world, from: 0, to: 3, count: 30}, transfer: "
                 "{on: world, from: 1, to: 3, count: 50}, transfer: {on: world, from: 3, to: 2, "
                 "count: 60}]}\n"));
  // Bytes, as types may differ: of float 4 an element.
  EXPECT_EQ(length_of(record(play, 0, 0)).count(), 80'000 * 4);
  EXPECT_EQ(length_of(record(play, 2, 0)).count(), 60'000);
  for (const int index : {0, 1, 2}) {
    EXPECT_EQ(record(play, 3, index).completed, record(play, 3, 0).completed);
  }
}

// The collectives share links, so they take as long as if one followed the other.
TEST(Grouped, CollectivesFollowEachOther) {
  Program program = program_of(
      "- grouped: {calls: [all_reduce: {on: world, count: 30}, all_gather: {on: world, count: "
      "50}]}\n");
  Play play = played(program);
  ASSERT_FALSE(play.is_hung());
  EXPECT_EQ(record(play, 2, 1).moving, record(play, 2, 0).completed);
  EXPECT_EQ(record(play, 2, 1).collective_seq, 2);
  program.programs[1].body[1].count = 51;
  play = played(program);
  EXPECT_TRUE(is_done(play, 0, 0));
  EXPECT_FALSE(is_done(play, 0, 1));
}

// Both halves of the transfer are pending, and so are the transfers that begin with them.
TEST(Grouped, ATransferThatTheNetworkLosesNeverEnds) {
  const Program program = program_of("- send_recv: {on: world, count: 5}\n");
  const PlayTimes times{.is_even = true};
  const NetworkFault lost{.group = 0, .seq = 2, .sender = 1, .receiver = 2};
  const Play play = hangs::play(program, lost, 1, times);
  EXPECT_TRUE(is_done(play, 1, 1));
  for (const int index : {2, 3}) {
    EXPECT_FALSE(is_done(play, 1, index));
    EXPECT_FALSE(is_done(play, 2, index));
    EXPECT_TRUE(is_done(play, 0, index));
  }
  NetworkFault late = lost;
  late.by = std::chrono::milliseconds(3);
  const Play slower = hangs::play(program, late, 1, times);
  ASSERT_FALSE(slower.is_hung());
  EXPECT_GE(record(slower, 2, 3).completed - record(slower, 2, 3).moving, 3'000'000);
}

TEST(Grouped, LoopsAndIterationsBeginAnew) {
  const Program program =
      program_of("- repeat: {times: 3, steps: [send_recv: {on: world, count: 5}]}\n");
  const auto& body = program.programs[0].body;
  ASSERT_EQ(body.size(), 6U);
  for (std::size_t i = 0; i < body.size(); i += 2) EXPECT_EQ(bundle_length(body, i), 2U) << i;
  EXPECT_EQ(record(played(program), 0, 11).p2p_seq, 6);
}

// In PyTorch's recorder, the calls of batch_isend_irecv have one number, and an entry after them ends the set.
TEST(Grouped, TheRecorderKeepsACoalescedSet) {
  const Program program =
      program_of("- send_recv: {on: world, count: 5}\n- all_reduce: {on: world, count: 7}\n");
  const Play play = played(program);
  Recorder recorder;
  recorder.release = releases().back();
  for (const int capacity : {2000, 5}) {
    recorder.capacity = capacity;
    std::string text;
    append_json(
        flight_dump(program, take_snapshot(program, play.ranks[1], 1, recorder, 1'000'000'000, 1),
                    recorder),
        text);
    std::vector<std::string> names;
    std::vector<int> ids, transfers;
    const Json dump = Json::parse(text);
    for (const Json& entry : dump["entries"]) {
      names.push_back(entry["profiling_name"]);
      ids.push_back(entry["record_id"]);
      transfers.push_back(entry["p2p_seq_id"]);
    }
    const std::vector<std::string> all{"nccl:send 1->2",  "nccl:recv 1<-0", "nccl:coalesced",
                                       "nccl:all_reduce", "nccl:send 1->2", "nccl:recv 1<-0",
                                       "nccl:coalesced",  "nccl:all_reduce"};
    const auto kept = std::min<std::ptrdiff_t>(capacity, 8);
    EXPECT_EQ(names, std::vector<std::string>(all.end() - kept, all.end()));
    EXPECT_EQ(ids.back(), 7);
    EXPECT_EQ(transfers.back(), 2);
    EXPECT_EQ(transfers[transfers.size() - 4], 2);
  }
}

// On separate streams the second group's call does not wait for the first one's.
TEST(Streams, WorkOnOneStreamRunsInOrder) {
  const auto crossed = [](const std::string& stream) {
    const std::string left = "- all_reduce: {on: left, count: 5, async: yes" + stream;
    const std::string right = "- all_reduce: {on: right, count: 5, async: yes" + stream;
    Program program = program_of(left + "}\n" + right + "}\n", 2);
    std::swap(program.programs[1].body[0], program.programs[1].body[1]);
    return played(program).is_hung();
  };
  EXPECT_FALSE(crossed(""));
  EXPECT_TRUE(crossed(", stream: side"));
}

TEST(Streams, CallsOfOneCommunicatorRunInTheirOrderOnWhicheverStreams) {
  const Play play =
      played(program_of("- all_reduce: {on: world, count: 50, async: yes, stream: a}\n"
                        "- all_reduce: {on: world, count: 5, async: yes, stream: b}\n"
                        "- all_reduce: {on: left, count: 5, async: yes, stream: c}\n"));
  EXPECT_GE(record(play, 0, 1).started, record(play, 0, 0).completed);
  EXPECT_LT(record(play, 0, 2).started, record(play, 0, 0).completed);
}

TEST(Streams, AJoinWaitsForOneStreamAlone) {
  const auto started = [](const std::string& join) {
    const Play play =
        played(program_of("- all_reduce: {on: left, count: 500, async: yes, stream: slow}\n"
                          "- all_reduce: {on: right, count: 5, async: yes, stream: quick}\n" +
                          join + "- all_reduce: {on: world, count: 5}\n"));
    return record(play, 0, 2).started - record(play, 0, 0).completed;
  };
  EXPECT_LT(started(""), 0);
  EXPECT_LT(started("- join: {stream: quick}\n"), 0);
  EXPECT_LT(started("- join: {on: right}\n"), 0);
  EXPECT_GE(started("- join: {stream: slow}\n"), 0);
  EXPECT_GE(started("- join: {on: left}\n"), 0);
}

TEST(Streams, KernelsOnAnotherStreamRunConcurrently) {
  const auto end = [](const std::string& keys) {
    const Play play = played(program_of("- kernel: {time: 2ms" + keys + "}\n- kernel: 2ms\n"));
    std::int64_t last = 0;
    for (const Kernel& kernel : play.ranks[0].kernels) last = std::max(last, kernel.completed);
    return last;
  };
  EXPECT_GT(end(""), 8'000'000);
  EXPECT_LT(end(", async: yes, stream: side"), 5'000'000);
}

}  // namespace
}  // namespace ringside::hangs
