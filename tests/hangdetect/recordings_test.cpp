#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "diag/hangdetect/recordings/formats.h"
#include "diag/hangdetect/recordings/recording.h"
#include "tests/hangdetect/nsys_export.h"

namespace ringside::recordings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Recording one(Format format, const std::string& text) {
  auto made = parse(format, text, "f");
  EXPECT_TRUE(made) << made.error().message;
  return made && !made->empty() ? std::move(made->front()) : Recording{};
}

std::vector<std::int64_t> times(const Call& call) {
  return {call.issued_ns, call.begin_ns, call.end_ns};
}

// ---- names of kernels --------------------------------------------------------------------------

struct NamedKernel {
  const char* name;
  const char* op;
  const char* type;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
};

TEST(KernelName, EveryGenerationIsRead) {
  for (const NamedKernel& known : {
           NamedKernel{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                       "AllReduce", "Float", Algorithm::Ring, Protocol::LL},
           NamedKernel{"ncclDevKernel_AllReduce_Sum_bf16_TREE_LL128", "AllReduce", "BFloat16",
                       Algorithm::Tree, Protocol::LL128},
           NamedKernel{"ncclDevKernel_AllReduce_Sum_f16_NVLS_TREE_SIMPLE", "AllReduce", "Half",
                       Algorithm::NvlsTree, Protocol::Simple},
           NamedKernel{"ncclDevKernel_AllReduce_Sum_f16_COLLNET_DIRECT_SIMPLE", "AllReduce", "Half",
                       Algorithm::CollNetDirect, Protocol::Simple},
           NamedKernel{"ncclDevKernel_AllGather_RING_LL", "AllGather", "", Algorithm::Ring,
                       Protocol::LL},
           NamedKernel{
               "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv", "", {}, {}},
           NamedKernel{"ncclKernel_ReduceScatter_RING_SIMPLE_Sum_half(ncclDevComm*, unsigned long)",
                       "ReduceScatter", "Half", Algorithm::Ring, Protocol::Simple},
           NamedKernel{"ncclAllReduceRingLLKernel_sum_f32", "AllReduce", "Float", Algorithm::Ring,
                       Protocol::LL},
           NamedKernel{"void ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)",
                       "AllGather",
                       "",
                       {},
                       Protocol::LL},
       }) {
    const auto read = parse_kernel(known.name);
    ASSERT_TRUE(read) << known.name;
    EXPECT_EQ(read->op, known.op);
    EXPECT_EQ(read->type, known.type) << known.name;
    EXPECT_EQ(read->algorithm, known.algorithm) << known.name;
    EXPECT_EQ(read->protocol, known.protocol) << known.name;
  }
  EXPECT_FALSE(parse_kernel("ampere_bf16_gemm"));
  EXPECT_FALSE(parse_kernel("ncclGroupEnd"));
}

// ---- the Inspector ----------------------------------------------------------------------------

std::string inspected(const std::string& perf, const char* rest = "") {
  return fmt::format(
      R"({{"header": {{"id": "0x1", "rank": 1, "n_ranks": 4, "nnodes": 1}}, "metadata": {{"inspector_output_format_version":
 "v4.0", "dump_timestamp_us": 5000000, "hostname": "n01", "pid": 7}}, {}}}{})",
      perf, rest);
}

std::string on_one_line(std::string text) {
  std::erase(text, '\n');
  return text + "\n";
}

TEST(Inspector, TheKernelsOfAVerboseLineGiveItsTimes) {
  const Recording made = one(
      Format::Inspector, on_one_line(inspected(R"("coll_perf": {"coll": "AllReduce", "coll_sn": 3,
    "coll_msg_size_bytes": 4096, "coll_exec_time_us": 30, "coll_algobw_gbs": 0.137, "event_trace_ts": {"coll_start_ts": 100,
    "coll_stop_ts": 103, "kernel_events": [{"channel_id": 0, "kernel_start_ts": 110, "kernel_stop_ts": 138},
    {"channel_id": 1, "kernel_start_ts": 108, "kernel_stop_ts": 137}]}})")));
  EXPECT_EQ(made.host, "n01");
  EXPECT_EQ(made.rank, 1);
  EXPECT_EQ(made.world, 4);
  EXPECT_TRUE(made.is_completed_only);
  ASSERT_EQ(made.calls.size(), 1U);
  EXPECT_THAT(times(made.calls[0]), ElementsAre(100'000, 108'000, 138'000));
  EXPECT_EQ(made.calls[0].sequence, 3);
}

// 1024 bytes of each of 4 ranks in 2 us: as nccl-tests counts, 4096 bytes and 2.048 GB/s.
TEST(Inspector, TheBandwidthShowsWhichSizeIsMeant) {
  const char* const line =
      R"("coll_perf": {{"coll": "AllGather", "coll_sn": 1, "coll_msg_size_bytes": 1024,
    "coll_exec_time_us": 2, "coll_algobw_gbs": {}}})";
  EXPECT_EQ(one(Format::Inspector, on_one_line(inspected(fmt::format(fmt::runtime(line), 2.048))))
                .calls[0]
                .bytes,
            4096U);
  EXPECT_EQ(one(Format::Inspector, on_one_line(inspected(fmt::format(fmt::runtime(line), 0.512))))
                .calls[0]
                .bytes,
            1024U);
}

// Version 4.2 and later: the header once, and other records between the calls.
TEST(Inspector, AHeaderHoldsForTheLinesBehindIt) {
  const Recording made =
      one(Format::Inspector,
          R"({"dump_stats": {"header": {"id": "0x2", "comm_name": "dp", "rank": 0, "n_ranks": 2},)"
          R"( "metadata": {"inspector_output_format_version": "v4.3", "dump_timestamp_us": 9}}})"
          "\n"
          R"({"proxy_op": {"steps": 3}})"
          "\n"
          R"({"p2p_perf": {"p2p": "Send", "p2p_peer": 1, "p2p_sn": 2, "p2p_msg_size_bytes": 64,)"
          R"( "p2p_exec_time_us": 4}})"
          "\n{ cut");
  ASSERT_EQ(made.calls.size(), 1U);
  EXPECT_EQ(made.groups[0].name, "dp");
  EXPECT_EQ(made.calls[0].peer, 1);
  EXPECT_EQ(made.calls[0].duration_ns, 4000);
  EXPECT_TRUE(made.calls[0].is_transfer());
}

// ---- clog -------------------------------------------------------------------------------------

TEST(Clog, EventsGiveTheTimesOfACall) {
  const Recording made =
      one(Format::Clog,
          "V|1|base_timestamp=10.000\nnew_comm|comm=w|rank=1|world_size=2\n"
          "C0|sig|all_gather_single|in_count=8|out_count=16|dtype=bf16|red_op=|root=|peer=|async_"
          "op=t|comm=w\n"
          "C0|Q|work_id=0|+0.500\nC0|S|+0.501\nC0|E|+0.504\nC0|Q|work_id=1|+0.600\nC0|S|+0.601\n");
  ASSERT_EQ(made.calls.size(), 2U);
  EXPECT_THAT(times(made.calls[0]), ElementsAre(10'500'000'000, 10'501'000'000, 10'504'000'000));
  EXPECT_EQ(made.calls[0].bytes, 32U);
  EXPECT_FALSE(made.calls[1].has_ended());
  EXPECT_GE(made.calls[1].begin_ns, 0);
}

// ---- Kineto -----------------------------------------------------------------------------------

std::string event(const char* category, const char* name, double ts, double dur,
                  const std::string& args) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "args": {{{}}}}})", category,
      name, ts, dur, args);
}
std::string all_reduce_args(int id, const std::string& more = "") {
  return fmt::format(
      R"("Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 512, "Out msg nelems": 512,
    "Group size": 2, "Process Group Name": "0", "Process Group Description": "default_pg",
    "Process Group Ranks": "[0, 1]", "External id": {}{})",
      id, more);
}
constexpr const char* kRing =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

std::string trace(const std::vector<std::string>& events,
                  const char* info = R"("rank": 1, "world_size": 2)") {
  return fmt::format(
      R"({{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", {}, "pg_config": [{{"pg_name": "0", "pg_desc": "default_pg",
      "pg_size": 2, "ranks": [0, 1]}}]}}, "traceEvents": [{}], "traceName": "t", "baseTimeNanoseconds": 1700000000000000000}})",
      info, fmt::join(events, ",\n"));
}

TEST(Kineto, KernelsAreCallsWithTheirChoiceAndOthersAreCompute) {
  const Recording made = one(
      Format::Kineto, trace({event("kernel", kRing, 20, 10, all_reduce_args(1, R"(, "Seq": 7)")),
                             event("kernel", "gemm", 0, 15, R"("stream": 7)"),
                             event("cpu_op", "record_param_comms", 5, 1, all_reduce_args(1))}));
  EXPECT_EQ(made.rank, 1);
  ASSERT_EQ(made.calls.size(), 1U);
  const Call& call = made.calls[0];
  EXPECT_EQ(call.sequence, 7);
  EXPECT_EQ(call.bytes, 1024U);
  EXPECT_EQ(call.algorithm, Algorithm::Ring);
  EXPECT_EQ(call.protocol, Protocol::LL);
  // 20 us behind the base of all times, which follows the events.
  EXPECT_EQ(call.begin_ns, 1'700'000'000'000'020'000);
  ASSERT_EQ(made.compute.size(), 1U);
  EXPECT_EQ(made.compute[0].end_ns - made.compute[0].begin_ns, 15'000);
  EXPECT_THAT(made.groups[0].members, ElementsAre(0, 1));
}

// Each level of the list is a call of the function that writes it: so many exhaust the stack.
TEST(Kineto, ListsOfRanksThatAreNestedDeeplyAreIgnored) {
  constexpr std::size_t kLevels = 1'000'000;
  const std::string text =
      R"({"schemaVersion": 1, "distributedInfo": {"rank": 1, "world_size": 2, "pg_config": [{"pg_name": "0", "ranks": )" +
      std::string(kLevels, '[') + std::string(kLevels, ']') + R"(}]}, "traceEvents": [)" +
      event("kernel", kRing, 20, 10, all_reduce_args(1)) + "]}";
  const Recording made = one(Format::Kineto, text);
  EXPECT_EQ(made.calls.size(), 1U);
  EXPECT_THAT(made.groups[0].members, ElementsAre(0, 1));
}

TEST(Kineto, ACallWithoutAKernelIsPendingIfNoLaterOneHasAKernel) {
  const auto host = [](int id, double ts) {
    return event("cpu_op", "record_param_comms", ts, 1, all_reduce_args(id));
  };
  const Recording made =
      one(Format::Kineto, trace({host(1, 0), host(2, 10), host(3, 20),
                                 event("kernel", kRing, 30, 5, all_reduce_args(2))}));
  EXPECT_FALSE(made.is_completed_only);
  ASSERT_EQ(made.calls.size(), 2U) << "the kernel of the first one ran before the profiler began";
  EXPECT_TRUE(made.calls[0].has_ended());
  EXPECT_FALSE(made.calls[1].has_ended());
}

TEST(Kineto, ACutTraceKeepsTheCallsBeforeTheCut) {
  const std::string whole = trace({event("kernel", kRing, 20, 10, all_reduce_args(1)),
                                   event("kernel", kRing, 40, 10, all_reduce_args(2))});
  const Recording made = one(Format::Kineto, whole.substr(0, whole.rfind("Collective name")));
  EXPECT_TRUE(made.is_cut);
  EXPECT_EQ(made.calls.size(), 1U);
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("ends within")));
}

TEST(Kineto, AnAbbreviatedListOfRanksIsTakenFromTheGroups) {
  std::string text = trace({event("kernel", kRing, 20, 10, all_reduce_args(1))});
  text.replace(text.rfind("[0, 1]\""), 6, "[0, ..., 1]");
  EXPECT_THAT(one(Format::Kineto, text).groups[0].members, ElementsAre(0, 1));
}

TEST(Kineto, WhatIsNoTraceIsRefused) {
  EXPECT_EQ(parse(Format::Kineto, "{\"ph\"", "a").error().code, ErrorCode::Corrupt);
  const auto none = parse(Format::Kineto, trace({event("kernel", "gemm", 1, 2, "")}), "a");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
  EXPECT_THAT(none.error().message, HasSubstr("a: no collectives"));
}

// ---- Nsight Systems ---------------------------------------------------------------------------

TEST(Nsys, RangesAndTheirKernelsAreCalls) {
  NsysExport database;
  const std::int64_t thread = database.thread(42, 9);
  database.range(
      10, 20, thread, "ncclCommInitRank",
      R"({"NCCL communicator ID": 255, "No. of ranks": 4, "Rank": 2, "CUDA device": 0})");
  database.range(100, 110, thread, "ncclAllGather",
                 R"({"NCCL communicator ID": 255, "Message size [bytes]": 1000})");
  database.launch(105, thread, 1);
  database.kernel(200, 260, 42, 1,
                  "ncclDevKernel_AllGather_RING_SIMPLE(ncclDevKernelArgsStorage<4096ul>)");
  database.launch(112, thread, 2);
  database.kernel(150, 190, 42, 2, "gemm");
  auto made = parse(Format::Nsys, database.bytes(), "job.sqlite");
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->size(), 1U);
  const Recording& own = made->front();
  EXPECT_EQ(own.rank, 2);
  EXPECT_EQ(own.groups[0].name, "0xff");
  ASSERT_EQ(own.calls.size(), 1U);
  EXPECT_EQ(own.calls[0].bytes, 4000U) << "NCCL states one rank's part";
  EXPECT_THAT(times(own.calls[0]), ElementsAre(NsysExport::kStart + 100, NsysExport::kStart + 200,
                                               NsysExport::kStart + 260));
  EXPECT_EQ(own.calls[0].algorithm, Algorithm::Ring);
  EXPECT_EQ(own.compute.size(), 1U);
  EXPECT_EQ(own.host, "n07");
}

TEST(Nsys, TheEndOfAGroupLaunchesForItsCallsAndAnUnfinishedKernelHasNoRow) {
  NsysExport database;
  const std::int64_t thread = database.thread(42, 9);
  const std::int64_t other = database.thread(42, 10);
  const char* const payload =
      R"({"NCCL communicator ID": 1, "Message size [bytes]": 8, "Peer rank": 1})";
  database.range(10, 11, thread, "ncclGroupStart", "");
  database.range(12, 13, thread, "ncclSend", payload);
  database.range(14, 15, thread, "ncclRecv", payload);
  database.range(16, 30, thread, "ncclGroupEnd", "");
  database.launch(20, thread, 1);
  database.kernel(40, 50, 42, 1, "ncclDevKernel_SendRecv");
  database.range(60, 70, other, "ncclAllReduce", payload);
  database.launch(65, other, 2);
  const auto made = parse(Format::Nsys, database.bytes(), "job.sqlite");
  ASSERT_TRUE(made) << made.error().message;
  const std::vector<Call>& calls = made->front().calls;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].end_ns, NsysExport::kStart + 50);
  EXPECT_EQ(calls[1].end_ns, NsysExport::kStart + 50);
  EXPECT_EQ(calls[1].peer, 1);
  EXPECT_FALSE(calls[2].has_ended());
  EXPECT_FALSE(made->front().is_completed_only);
}

TEST(Nsys, KernelsAloneAreCallsByTheirNames) {
  NsysExport database;
  database.kernel(40, 50, 42, 1, "ncclDevKernel_AllReduce_Sum_f32_TREE_LL128");
  const auto made = parse(Format::Nsys, database.bytes(), "job.sqlite");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->front().calls[0].op, hang::Op::AllReduce);
  EXPECT_TRUE(made->front().is_completed_only);
  EXPECT_THAT(made->front().notes, testing::Contains(HasSubstr("NVTX was not traced")));
}

TEST(Nsys, OtherDatabasesAreRefused) {
  NsysExport database;
  EXPECT_EQ(parse(Format::Nsys, database.bytes(), "a").error().code, ErrorCode::NotFound);
  EXPECT_EQ(parse(Format::Nsys, database.bytes().substr(0, 3000), "a").error().code,
            ErrorCode::Corrupt);
  NsysExport hostile;
  hostile.run("DROP TABLE NVTX_EVENTS");
  hostile.run(
      "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE r(start) AS (SELECT 1 UNION ALL SELECT start + 1 "
      "FROM r) SELECT start, 2 AS \"end\", 3 AS globalTid, 59 AS eventType, 'ncclAllReduce' AS "
      "text FROM r");
  EXPECT_EQ(parse(Format::Nsys, hostile.bytes(), "a").error().code, ErrorCode::NotFound);
}

// ---- all of them ------------------------------------------------------------------------------

constexpr std::int64_t kDated = 1'700'000'000'000'000'000;

Recording rank_of(int rank, std::int64_t shift, std::vector<std::int64_t> ends) {
  Recording made;
  made.rank = rank;
  made.group_of("0", {0, 1}, 2);
  std::int64_t sequence = 0;
  for (const std::int64_t end : ends) {
    Call call;
    call.op = hang::Op::AllReduce;
    call.sequence = ++sequence;
    call.begin_ns = kDated + end - 1'000'000 + shift;
    call.end_ns = kDated + end + shift;
    made.calls.push_back(call);
  }
  return made;
}

// Ends differ by up to 20 us on one clock; the second host's clock is 7 ms behind.
TEST(Clocks, HostsAreAlignedByTheEndsOfCollectives) {
  std::vector<Recording> all{rank_of(0, 0, {20'000'000, 30'000'000, 40'000'000}),
                             rank_of(1, -7'000'000, {20'020'000, 30'000'000, 40'010'000})};
  const auto moved = align_clocks(all);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].first, 1);
  EXPECT_NEAR(static_cast<double>(moved[0].second), 7e6, 21e3);
  EXPECT_NEAR(static_cast<double>(all[1].calls[1].end_ns - all[0].calls[1].end_ns), 0, 21e3);
}

TEST(Clocks, OneClockIsKept) {
  std::vector<Recording> all{rank_of(0, 0, {20'000'000, 30'000'000}),
                             rank_of(1, 50'000, {20'000'000, 30'000'000})};
  EXPECT_TRUE(align_clocks(all).empty());
  EXPECT_EQ(all[1].calls[0].end_ns, kDated + 20'050'000);
}

// Each counts from its own start: even a small difference is one of the clocks.
TEST(Clocks, TimesSinceTheStartAreAlwaysAligned) {
  std::vector<Recording> all{rank_of(0, -kDated, {20'000'000, 30'000'000}),
                             rank_of(1, 50'000 - kDated, {20'000'000, 30'000'000})};
  EXPECT_EQ(align_clocks(all).size(), 1U);
  EXPECT_EQ(all[1].calls[0].end_ns, 20'000'000);
}

TEST(Loaded, RanksComeFromContentThenNamesThenOrder) {
  const auto unnamed = [](const char* path, int rank) {
    Recording made = rank_of(rank, 0, {20'000'000});
    made.path = path;
    return made;
  };
  Loaded named{.recordings = {unnamed("rank5.json.gz", -1), unnamed("rank2.json.gz", -1)},
               .bad = {}};
  complete(named);
  EXPECT_EQ(named.recordings[0].rank, 2);
  EXPECT_EQ(named.recordings[0].path, "rank2.json.gz");
  Loaded twice{.recordings = {unnamed("a.json", 1), unnamed("b.json", 1)}, .bad = {}};
  complete(twice);
  EXPECT_EQ(twice.recordings.size(), 1U);
  ASSERT_EQ(twice.bad.size(), 1U);
  EXPECT_THAT(twice.bad[0].error.message, HasSubstr("b.json: a second recording of rank 1"));
}

}  // namespace
}  // namespace ringside::recordings
