#include "study/interchange/recorded_profiles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/hangs/program.h"
#include "study/interchange/import.h"

namespace ringside::study {
namespace {

using hangs::OutlineStep;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Kind = OutlineStep::Kind;

struct GivenFile {
  std::string name;
  std::string bytes;
};

Result<RecordedJob> import_profiler_traces(const std::vector<GivenFile>& files) {
  recordings::Loaded loaded;
  for (const GivenFile& file : files) {
    RINGSIDE_TRY(auto made, recordings::parse(recordings::Format::Kineto, file.bytes, file.name));
    for (recordings::Recording& one : made) loaded.recordings.push_back(std::move(one));
  }
  recordings::complete(loaded);
  return import_recordings(std::move(loaded));
}

std::string kernel(const char* name, double ts, double dur) {
  return fmt::format(
      R"({{"ph": "X", "cat": "kernel", "name": "{}", "ts": {}, "dur": {}, "args": {{"stream": 7}}}})",
      name, ts, dur);
}

std::string collective(const char* name, double ts, double dur, const std::string& more,
                       const char* group = "0", const char* ranks = "[0, 1]") {
  return fmt::format(
      R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_x", "ts": {}, "dur": {}, "args":
      {{"Collective name": "{}", "dtype": "BFloat16", "Group size": 2, "Process Group Name": "{}",
       "Process Group Ranks": "{}", {}}}}})",
      ts, dur, name, group, ranks, more);
}

std::string trace(int rank, const std::vector<std::string>& events) {
  return fmt::format(R"({{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", "rank": {},
      "world_size": 2, "pg_config": [{{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]}}]}},
      "traceEvents": [{}]}})",
                     rank, fmt::join(events, ",\n"));
}

/// 100 us of compute, an all-reduce that the next 200 us wait for, and 50 us of them during a reduce-scatter whose end
/// the last kernel waits for.
std::string job_of(int rank) {
  return trace(
      rank, {kernel("gemm", 1000, 100),
             collective("allreduce", 1100, 40, R"("In msg nelems": 4096, "Out msg nelems": 4096)"),
             kernel("gemm", 1140, 150),
             collective("_reduce_scatter_base", 1290, 80,
                        R"("In msg nelems": 800, "Out msg nelems": 400)"),
             kernel("gemm", 1290, 50), kernel("gemm", 1372, 28),
             R"({"ph": "i", "cat": "x", "name": "not an event", "ts": 3})"});
}

std::vector<std::string> words(const hangs::Outline& outline) {
  std::vector<std::string> all;
  for (const OutlineStep& step : outline.steps) {
    switch (step.kind) {
      case Kind::Call:
        all.push_back(fmt::format("{} {} {}{}", hangs::to_string(step.op), step.count,
                                  to_string(step.type), step.async ? " async" : ""));
        break;
      case Kind::Kernel:
        all.push_back(fmt::format("kernel {}", step.time.count() / 1000));
        break;
      case Kind::Join:
        all.emplace_back("join");
        break;
      case Kind::Synchronize:
        all.emplace_back("synchronize");
        break;
      default:
        all.emplace_back("other");
    }
  }
  return all;
}

TEST(RecordedProfiles, CallsAndWhatTheGpuDidBetweenThem) {
  auto job = import_profiler_traces({{"a", job_of(0)}, {"b", job_of(1)}});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(job->unknown.empty());
  const auto scenario = scenario_of(*std::move(job));
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->outline.ranks, 2);
  // From 1290 on 50 us during the call, 30 in which it runs alone, 2 idle and 28 busy after it.
  EXPECT_THAT(words(scenario->outline),
              testing::ElementsAre("kernel 100", "all_reduce 4096 bfloat16", "kernel 150",
                                   "reduce_scatter 400 bfloat16 async", "kernel 50", "join",
                                   "kernel 30", "synchronize"));
}

// One rank's trace is a job in which the others do the same.
TEST(RecordedProfiles, RanksWithoutATraceGoAlong) {
  auto job = import_profiler_traces({{"a", job_of(1)}});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(job->unknown, Contains(HasSubstr("1 of 2 ranks left no recording")));
  const auto scenario = scenario_of(*std::move(job));
  ASSERT_TRUE(scenario);
  EXPECT_EQ(words(scenario->outline).size(), 8U);
  const hangs::Program program = hangs::make_program(scenario->outline);
  EXPECT_EQ(program.programs[0].body.size(), program.programs[1].body.size());
}

TEST(RecordedProfiles, EndsOfATransferMeet) {
  const auto sender =
      trace(0, {collective("send", 10, 5, R"("In msg nelems": 64, "Dst Rank": 1)")});
  const auto receiver = trace(
      1, {kernel("gemm", 0, 8), collective("recv", 8, 7, R"("In msg nelems": 64, "Src Rank": 0)")});
  auto job = import_profiler_traces({{"a", sender}, {"b", receiver}});
  ASSERT_TRUE(job) << job.error().message;
  const auto scenario = scenario_of(*std::move(job));
  ASSERT_TRUE(scenario);
  const auto transfer =
      std::ranges::find(scenario->outline.steps, Kind::Transfer, &OutlineStep::kind);
  ASSERT_NE(transfer, scenario->outline.steps.end());
  EXPECT_FALSE(transfer->at) << "both ends made it: it is one step";
  EXPECT_EQ(transfer->count, 64);
  // Compute of one rank alone belongs to that rank.
  const auto own = std::ranges::find(scenario->outline.steps, Kind::Kernel, &OutlineStep::kind);
  ASSERT_NE(own, scenario->outline.steps.end());
  ASSERT_TRUE(own->at);
  EXPECT_EQ(own->at->rank, 1);
}

// Peers are numbers within the group as it was recorded, here with rank 1 first.
TEST(RecordedProfiles, PeersOfAGroupInAnotherOrderAreTheRanksThatItLists) {
  const auto sender =
      trace(0, {collective("send", 10, 5, R"("In msg nelems": 64, "Dst Rank": 0)", "7", "[1, 0]")});
  const auto receiver =
      trace(1, {collective("recv", 8, 7, R"("In msg nelems": 64, "Src Rank": 1)", "7", "[1, 0]")});
  const auto job = import_profiler_traces({{"a", sender}, {"b", receiver}});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(job->unknown, Not(Contains(HasSubstr("without their peers"))));
  ASSERT_EQ(job->groups.size(), 1U);
  EXPECT_THAT(job->groups[0].members, testing::ElementsAre(0, 1));
  for (const RecordedRank& own : job->ranks) {
    ASSERT_EQ(own.calls.size(), 1U);
    EXPECT_EQ(own.calls[0].step.from, 0);
    EXPECT_EQ(own.calls[0].step.to, 1);
  }
}

// Its members are sorted here: the first one that was recorded is rank 1.
TEST(RecordedProfiles, ARootOfAGroupInAnotherOrderIsTheRankThatItLists) {
  recordings::Recording recording;
  recording.rank = 0;
  recording.world = 2;
  recording.groups = {{.name = "7", .description = {}, .size = 2, .members = {1, 0}}};
  recordings::Call call;
  call.op = hang::Op::Broadcast;
  call.name = "broadcast";
  call.root = 0;
  call.sequence = 1;
  call.in_count = 8;
  call.type = "Float";
  recording.calls = {call};
  recordings::Loaded loaded;
  loaded.recordings = {recording};
  auto job = import_recordings(loaded);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->ranks[0].calls.size(), 1U);
  EXPECT_EQ(job->ranks[0].calls[0].step.from, 1);
  loaded.recordings[0].calls[0].root = 5;
  job = import_recordings(loaded);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->ranks[0].calls[0].step.from, 0);
  EXPECT_THAT(job->unknown, Contains(HasSubstr("roots that their groups do not have")));
}

// Older traces have the host's events alone.
TEST(RecordedProfiles, HostEventsDoWhereThereAreNoKernels) {
  const auto host = trace(
      0, {R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 5, "dur": 1, "args":
         {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 3, "Group size": 2,
          "Process Group Name": "0"}})"});
  auto job = import_profiler_traces({{"a", host}});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(job->unknown, Contains(HasSubstr("when calls ran on the GPU")));
  EXPECT_EQ(job->ranks[0].calls.size(), 1U);
}

TEST(RecordedProfiles, WhatCannotBeMeantIsRefused) {
  const auto refusal = [](const std::vector<GivenFile>& files) {
    const auto job = import_profiler_traces(files);
    return job ? std::string("accepted") : job.error().message;
  };
  EXPECT_THAT(refusal({{"a", "{\"ph\""}}), HasSubstr("a: no JSON"));
  EXPECT_THAT(refusal({{"a", trace(0, {kernel("gemm", 1, 2)})}}), HasSubstr("a: no collectives"));
  EXPECT_THAT(refusal({{"a", job_of(0)}, {"b", job_of(0)}}),
              HasSubstr("second recording of rank 0"));
  // A group of ranks that nothing names.
  auto job = import_profiler_traces(
      {{"a", trace(0, {collective("allreduce", 1, 1, R"("In msg nelems": 1)", "7", "[0, ...")})}});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->ranks[0].calls.size(), 1U) << "as large as the job: all of it";
}

}  // namespace
}  // namespace ringside::study
