#include "harness/hangs/dump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/json.h"
#include "harness/hangs/hang_case.h"
#include "harness/hangs/hang_logs.h"
#include "tests/hangs/programs.h"

namespace ringside::hangs {
namespace {

const Release& release(const char* format) {
  for (const Release& one : releases()) {
    if (std::string_view(one.format) == format) return one;
  }
  return releases().back();
}

/// Two calls of one rank of two: the first one completed, the second one without the other rank.
struct TwoCalls {
  TwoCalls() : small(2) {
    for (const int rank : {0, 1}) small.call(rank, Op::AllReduce, 0, 1'000'000);
    small.call(0, Op::AllGather, 0, 16).type = DataType::Bfloat16;
    play = small.play();
  }
  Json json(const Recorder& recorder, std::int64_t moment) {
    std::string text;
    append_json(flight_dump(small.program(),
                            take_snapshot(small.program(), play.ranks[0], 0, recorder, moment,
                                          1'000'000'000),
                            recorder),
                text);
    return Json::parse(text);
  }
  SmallProgram small;
  Play play;
};

constexpr std::int64_t kLater = 1'000'000'000;

TEST(Dump, ACallThatHasEndedIsCompletedAndRetiredAndOneThatWaitsIsNot) {
  TwoCalls calls;
  Recorder recorder;
  recorder.release = release("2.10");
  const Json dump = calls.json(recorder, kLater);
  const Json& entries = dump["entries"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["state"], "completed");
  EXPECT_EQ(entries[0]["retired"], true);
  EXPECT_GT(entries[0]["time_discovered_completed_ns"], entries[0]["time_created_ns"]);
  EXPECT_EQ(entries[1]["state"], "scheduled");
  EXPECT_EQ(entries[1]["retired"], false);
  EXPECT_EQ(entries[1]["profiling_name"], "nccl:_all_gather_base");
  // 2 members: 16 elements in, 32 out.
  EXPECT_EQ(entries[1]["output_sizes"], Json::parse("[[32]]"));
  EXPECT_EQ(entries[1]["input_dtypes"], Json::parse("[\"BFloat16\"]"));
  EXPECT_EQ(dump["pg_status"]["0"]["last_enqueued_collective"], "2");
  EXPECT_EQ(dump["pg_status"]["0"]["last_completed_collective"], "1");
  EXPECT_EQ(dump["pg_status"]["0"]["last_started_collective"], "-1");
}

TEST(Dump, StartsAreKnownOnlyWithTiming) {
  TwoCalls calls;
  Recorder recorder;
  recorder.release = release("2.10");
  recorder.has_timing = true;
  const Json dump = calls.json(recorder, kLater);
  EXPECT_EQ(dump["entries"][1]["state"], "started");
  EXPECT_GT(dump["entries"][1]["time_discovered_started_ns"], 0);
  // 20 us and 4 MB at 50 GB/s, and up to 3 us; rank 1 came up to 2 ms later.
  EXPECT_GE(dump["entries"][0]["duration_ms"], 0.1);
  EXPECT_LE(dump["entries"][0]["duration_ms"], 2.2);
  EXPECT_EQ(dump["pg_status"]["0"]["last_started_collective"], "2");
}

TEST(Dump, ADumpShowsTheStateAtItsTime) {
  TwoCalls calls;
  Recorder recorder;
  recorder.release = release("2.10");
  const Record& first = record(calls.play, 0, 0);
  EXPECT_EQ(calls.json(recorder, first.completed)["entries"][0]["state"], "completed");
  // Completed, but the watchdog has not polled yet.
  EXPECT_EQ(calls.json(recorder, first.completed)["entries"][0]["retired"], false);
  EXPECT_EQ(calls.json(recorder, first.completed - 1)["entries"][0]["state"], "scheduled");
  EXPECT_FALSE(calls.json(recorder, first.created - 1).contains("entries"));
}

TEST(Dump, TheRingKeepsTheLastAndTheStatusKnowsTheRest) {
  SmallProgram small(2);
  for (int i = 0; i < 10; ++i) {
    for (const int rank : {0, 1}) small.call(rank, Op::AllReduce, 0);
  }
  const Play play = small.play();
  Recorder recorder;
  recorder.release = release("2.10");
  recorder.capacity = 4;
  const Snapshot snapshot = take_snapshot(small.program(), play.ranks[0], 0, recorder, kLater, 0);
  ASSERT_EQ(snapshot.entries.size(), 4U);
  EXPECT_EQ(snapshot.entries[0].record_id, 6);
  EXPECT_EQ(snapshot.status[0].enqueued, 10);
}

TEST(Dump, GlooHasOnlyTheRetiredFlagAsState) {
  TwoCalls calls;
  Recorder recorder;
  recorder.release = release("2.10");
  recorder.is_gloo = true;
  const Json dump = calls.json(recorder, kLater);
  for (const Json& entry : dump["entries"]) EXPECT_EQ(entry["state"], "scheduled");
  EXPECT_EQ(dump["entries"][0]["retired"], true);
  EXPECT_EQ(dump["entries"][1]["retired"], false);
  EXPECT_EQ(dump["entries"][1]["output_sizes"], Json::parse("[[2,16]]"));
}

TEST(Dump, OlderFormatsHaveFewerKeys) {
  TwoCalls calls;
  struct Expected {
    const char* format;
    std::set<std::string> present, absent;
  };
  const Expected all[] = {
      {"2.1", {"process_group", "is_p2p"}, {"timeout_ms", "thread_id"}},
      {"2.3", {"pg_status", "timeout_ms"}, {"nccl_version", "thread_id"}},
      {"2.7", {"nccl_version"}, {"comm_lib_version", "thread_id"}},
      {"2.10", {"comm_lib_version", "thread_id"}, {"nccl_version"}},
      {"1.4", {"seq_id", "op_id", "pg_config"}, {"collective_seq_id", "process_group"}},
      {"", {"seq_id", "time_created_us"}, {"record_id", "pg_config", "version"}}};
  for (const Expected& expected : all) {
    Recorder recorder;
    recorder.release = release(expected.format);
    std::string pickle;
    append_pickle(flight_dump(calls.small.program(),
                              take_snapshot(calls.small.program(), calls.play.ranks[0], 0, recorder,
                                            kLater, 0),
                              recorder),
                  pickle);
    for (const std::string& key : expected.present) {
      EXPECT_NE(pickle.find(key), std::string::npos) << expected.format << " " << key;
    }
    for (const std::string& key : expected.absent) {
      EXPECT_EQ(pickle.find(key), std::string::npos) << expected.format << " " << key;
    }
  }
}

// Rank 0 of 2 waits in its 2nd call from about 1 ms on; the watchdog's patience is 600 s.
TEST(Watchdog, ReportsTheOldestCallAndHowFarTheGroupCame) {
  HangCase hang;
  SmallProgram small(2);
  small.call(0, Op::AllReduce, 0);
  small.call(1, Op::AllReduce, 0);
  small.call(0, Op::AllReduce, 0, 4096);
  small.call(0, Op::AllReduce, 0);
  hang.program = std::move(small.program());
  hang.play = play(hang.program, {}, 1);
  hang.recorder.release = release("2.5");
  hang.evidence.first_timeout = record(hang.play, 0, 1).created + 600'000'000'000;
  hang.evidence.dump_time = {hang.evidence.first_timeout, hang.evidence.first_timeout};
  hang.evidence.epoch = {0, 0};
  std::string text;
  for (const LogLine& line : watchdog_lines(hang, 0)) text += line.text;
  EXPECT_NE(text.find("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, "
                      "OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for "
                      "600001 milliseconds"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("work sequence id: 2 PG status: last enqueued work: 3, last completed work: "
                      "1"),
            std::string::npos);
  EXPECT_NE(text.find("from this local rank"), std::string::npos);
  // [rank0]:[E101 00:10:00.123456789 ProcessGroupNCCL.cpp:632]: 600 s after the epoch.
  EXPECT_EQ(text.substr(0, 24), "[rank0]:[E101 00:10:00.1");
  EXPECT_EQ(text.substr(32, 23), " ProcessGroupNCCL.cpp:6");
  std::string other;
  for (const LogLine& line : watchdog_lines(hang, 1)) other += line.text;
  EXPECT_EQ(other.find("Watchdog caught"), std::string::npos);
  EXPECT_NE(other.find("from  rank 0"), std::string::npos);
}

}  // namespace
}  // namespace ringside::hangs
