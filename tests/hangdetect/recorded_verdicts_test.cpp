#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "base/temporary.h"
#include "tests/hangdetect/nsys_export.h"
#include "tests/hangdetect/small_job.h"

/// One job in every format: 4 ranks, 3 all-reduces that end, and a fourth into which rank 2 does not come.
namespace ringside::hang {
namespace {

constexpr int kRanks = 4;
constexpr int kAbsent = 2;
constexpr int kEnded = 3;

using Write = std::function<std::string(int rank)>;

std::string kineto(int rank) {
  std::string events;
  const auto add = [&](const char* category, const char* name, int ts, int dur, int id) {
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "args": {{"Collective name": "allreduce",
        "dtype": "Float", "In msg nelems": 64, "Out msg nelems": 64, "Group size": 4, "Process Group Name": "0",
        "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3]", "Seq": {}, "External id": {}}}}})",
        events.empty() ? "" : ", ", category, name, ts, dur, id, id);
  };
  for (int call = 1; call <= kEnded + (rank == kAbsent ? 0 : 1); ++call) {
    add("cpu_op", "record_param_comms", call * 100, 5, call);
    if (call <= kEnded)
      add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", call * 100 + 20, 30, call);
  }
  return fmt::format(
      R"({{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": 4}}, "traceEvents": [{}],
      "baseTimeNanoseconds": 1700000000000000000}})",
      rank, events);
}

/// Builds of PyTorch without Kineto, over Gloo: the list of events alone, relative times, no groups.
std::string gloo(int rank) {
  std::string events;
  const auto add = [&](const char* name, int ts, int dur) {
    events += fmt::format(
        R"({}{{"name": "{}", "ph": "X", "ts": {}, "dur": {}, "tid": 1, "pid": "CPU functions", "args": {{}}}})",
        events.empty() ? "" : ", ", name, ts, dur);
  };
  for (int call = 1; call <= kEnded + (rank == kAbsent ? 0 : 1); ++call) {
    add("c10d::allreduce_", call * 100, 5);
    if (call <= kEnded) add("gloo:all_reduce", call * 100 + 2, 50);
  }
  return "[" + events + "]";
}

/// PyTorch 2 over Gloo: the call that three ranks wait in times out after 5 s, and is recorded as one that ended.
/// absent_until_us  when the profiler of the absent rank stopped
std::string gloo_timeout(int rank, int absent_until_us) {
  std::string events;
  const auto add = [&](const char* name, int ts, int dur) {
    events += fmt::format(
        R"({{"ph": "X", "cat": "user_annotation", "name": "{}", "ts": {}, "dur": {}, "args": {{}}}}, )",
        name, ts, dur);
  };
  for (int call = 1; call <= kEnded + (rank == kAbsent ? 0 : 1); ++call) {
    add("c10d::allreduce_", call * 100, 5);
    add("gloo:all_reduce", call * 100 + 2, call <= kEnded ? 50 : 5'000'000);
  }
  return fmt::format(
      R"({{"schemaVersion": 1, "distributedInfo": {{"backend": "gloo", "rank": {}, "world_size": 4, "pg_config":
      [{{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1, 2, 3]}}]}}, "traceEvents": [{}
      {{"ph": "i", "s": "g", "name": "Record Window End", "ts": {}}}], "baseTimeNanoseconds": 1700000000000000000}})",
      rank, events, rank == kAbsent ? absent_until_us : 5'001'000);
}

std::string nsys(int rank) {
  recordings::NsysExport database;
  const std::int64_t thread = database.thread(40 + rank, 9);
  database.range(
      1, 2, thread, "ncclCommInitRank",
      fmt::format(R"({{"NCCL communicator ID": 7, "No. of ranks": 4, "Rank": {}}})", rank));
  for (int call = 1; call <= kEnded + (rank == kAbsent ? 0 : 1); ++call) {
    database.range(call * 1000, call * 1000 + 50, thread, "ncclAllReduce",
                   R"({"NCCL communicator ID": 7, "Message size [bytes]": 256})");
    database.launch(call * 1000 + 20, thread, call);
    if (call <= kEnded)
      database.kernel(call * 1000 + 100, call * 1000 + 200, 40 + rank, call,
                      "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  }
  return database.bytes();
}

std::string clog(int rank) {
  std::string text = fmt::format(
      "V|1|base_timestamp=1700000000.0\nnew_comm|comm=world|rank={}|world_size=4\n"
      "C0|sig|all_reduce|in_count=64|out_count=64|dtype=f32|red_op=sum|root=|peer=|async_op=f|comm="
      "world\n",
      rank);
  for (int call = 1; call <= kEnded + (rank == kAbsent ? 0 : 1); ++call) {
    text += fmt::format("C0|Q|work_id={0}|+{0}.1\n", call);
    if (call <= kEnded) text += fmt::format("C0|S|+{0}.2\nC0|E|+{0}.3\n", call);
  }
  return text;
}

std::string inspector(int rank) {
  std::string text;
  for (int call = 1; call <= kEnded; ++call) {
    text += fmt::format(
        R"({{"header": {{"id": "0x7", "rank": {}, "n_ranks": 4, "nnodes": 1}}, "metadata": {{"dump_timestamp_us": 1700000000000000}}, "coll_perf": {{"coll": "AllReduce", "coll_sn": {}, "coll_msg_size_bytes": 256, "coll_exec_time_us": 30}}}})",
        rank, call);
    text += '\n';
  }
  return text;
}

Verdict verdict_of(const Write& write) {
  const auto folder = TemporaryFolder::make("recorded");
  EXPECT_TRUE(folder);
  for (int rank = 0; rank < kRanks; ++rank) {
    std::ofstream(fmt::format("{}/trace_{}.json", folder->path(), rank), std::ios::binary)
        << write(rank);
  }
  auto all = examine({folder->path()});
  EXPECT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->bad.empty());
  return all->verdict;
}

TEST(RecordedVerdicts, EveryFormatOfPendingCallsGivesTheVerdictOfOurDumps) {
  SmallJob own(kRanks);
  const int world = own.add_group("0", {0, 1, 2, 3});
  own.all_call(world, "nccl:all_reduce", 64, kEnded);
  for (const int rank : {0, 1, 3}) own.call(rank, world, "nccl:all_reduce", 64);
  const Explanation expected = own.verdict().best;
  ASSERT_EQ(expected.kind, Kind::MissingRank);
  for (const auto& [name, write] : {std::pair<const char*, Write>{"kineto", kineto},
                                    {"gloo", gloo},
                                    {"nsys", nsys},
                                    {"clog", clog}}) {
    const Explanation best = verdict_of(write).best;
    EXPECT_EQ(best.kind, expected.kind) << name;
    EXPECT_EQ(best.culprits, expected.culprits) << name;
  }
}

TEST(RecordedVerdicts, ACallThatTimedOutIsOneThatRanksWaitIn) {
  const Explanation best = verdict_of([](int rank) { return gloo_timeout(rank, 6'000'000); }).best;
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_EQ(best.culprits, std::vector<int>{kAbsent});
}

// The profiler of the rank stopped before the call: the rank may have entered it.
TEST(RecordedVerdicts, ARecordingThatEndsEarlierIsNoEvidence) {
  const Explanation best = verdict_of([](int rank) { return gloo_timeout(rank, 360); }).best;
  EXPECT_NE(best.culprits, std::vector<int>{kAbsent}) << to_string(best.kind);
}

// Completed calls alone do not show in which one the ranks are.
TEST(RecordedVerdicts, TheInspectorLeavesItOpen) {
  EXPECT_EQ(verdict_of(inspector).best.kind, Kind::Unknown);
}

// A profile may be older than the hang that the logs describe.
TEST(RecordedVerdicts, LogsCountMoreThanProfiles) {
  const auto folder = TemporaryFolder::make("recorded");
  ASSERT_TRUE(folder);
  for (int rank = 0; rank < kRanks; ++rank)
    std::ofstream(fmt::format("{}/trace_{}.json", folder->path(), rank)) << kineto(rank);
  std::ofstream(folder->path() + "/job.log") << "step 1 of 100\nstep 2 of 100\n";
  const auto all = examine({folder->path()});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->dumps.empty());
}

}  // namespace
}  // namespace ringside::hang
