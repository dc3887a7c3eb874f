#include "study/interchange/recorded_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "diag/hangdetect/readers/trace_files.h"
#include "ringside/trace_reader.h"
#include "trace/call_statistics.h"

namespace ringside::study {
namespace {

using recordings::Call;
using recordings::Recording;
using testing::Contains;
using testing::HasSubstr;

Recording recording(int rank) {
  Recording made;
  made.rank = rank;
  made.host = "n01";
  made.group_of("0", {0, 1}, 2);
  return made;
}

Call all_reduce(std::int64_t sequence, std::int64_t begin_us, std::int64_t end_us) {
  Call call;
  call.op = hang::Op::AllReduce;
  call.sequence = sequence;
  call.bytes = 3'000'000;
  call.begin_ns = begin_us * 1000;
  call.end_ns = end_us < 0 ? -1 : end_us * 1000;
  return call;
}

std::vector<CallSummary> calls_in(const RecordedTrace& trace) {
  const auto file = TraceFile::parse(trace.bytes, "t");
  EXPECT_TRUE(file);
  return calls_of(*file);
}

// 3 MB of 2 ranks: rank 1 enters 40 us late, and 30 us later all is done. algbw = 3 MB / 30 us.
TEST(RecordedTrace, ArrivalAndTransferAreApart) {
  std::vector<Recording> all{recording(0), recording(1)};
  all[0].calls.push_back(all_reduce(1, 1000, 1070));
  all[0].calls[0].algorithm = Algorithm::Ring;
  all[0].calls[0].protocol = Protocol::LL128;
  all[0].compute = {{0, 500'000}, {500'500, 900'000}};
  all[1].calls.push_back(all_reduce(1, 1040, 1069));
  // Times since 1970 are of one clock, so that ends which differ a little stay apart.
  constexpr std::int64_t kDate = 1'790'000'000'000'000'000;
  for (Recording& one : all) {
    one.calls[0].begin_ns += kDate;
    one.calls[0].end_ns += kDate;
    for (recordings::Span& span : one.compute) span = {span.begin_ns + kDate, span.end_ns + kDate};
  }
  const auto made = trace_of(all);
  ASSERT_TRUE(made) << made.error().message;
  const auto calls = calls_in(*made);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].skew(), Nanoseconds{40'000});
  EXPECT_EQ(calls[0].last_rank, 1);
  ASSERT_TRUE(calls[0].busbw());
  EXPECT_DOUBLE_EQ(calls[0].busbw()->value, 100e9);  // the factor of 2 ranks is 1
  EXPECT_EQ(calls[0].algorithm, Algorithm::Ring);
  EXPECT_EQ(calls[0].protocol, Protocol::LL128);
  const auto file = TraceFile::parse(made->bytes, "t");
  int compute = 0;
  file->for_each_event(
      [&](const TraceEvent& event) { compute += event.kind == EventKind::Compute ? 1 : 0; });
  EXPECT_EQ(compute, 1) << "kernels without a pause are one busy time";
}

// A call that never ended has no bandwidth, and ends behind all others.
TEST(RecordedTrace, PendingCallsNeverEnd) {
  std::vector<Recording> all{recording(0), recording(1)};
  all[0].calls = {all_reduce(1, 10, 20), all_reduce(2, 30, -1)};
  all[1].calls = {all_reduce(1, 10, 20)};
  const auto made = trace_of(all);
  ASSERT_TRUE(made);
  const auto calls = calls_in(*made);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_TRUE(calls[1].is_endless);
  EXPECT_EQ(calls[1].nranks, 2);
  EXPECT_EQ(calls[1].recorded, 1);
  EXPECT_FALSE(calls[1].algbw());
  EXPECT_GT(calls[1].end_ns, 30'000);
}

// The Inspector states durations alone: the shorter one is of the rank that came last.
TEST(RecordedTrace, DurationsAreLaidOutSoThatTheyEndTogether) {
  std::vector<Recording> all{recording(0), recording(1)};
  for (int rank : {0, 1}) {
    for (std::int64_t sequence : {4, 5}) {
      Call call = all_reduce(sequence, -1, -1);
      call.begin_ns = -1;
      call.issued_ns = 1'000'000;
      call.duration_ns = rank == 0 ? 50'000 : 20'000;
      all[static_cast<std::size_t>(rank)].calls.push_back(call);
    }
  }
  const auto made = trace_of(all);
  ASSERT_TRUE(made);
  EXPECT_THAT(made->notes, Contains(HasSubstr("durations")));
  const auto calls = calls_in(*made);
  ASSERT_EQ(calls.size(), 2U);
  for (const CallSummary& call : calls) {
    EXPECT_EQ(call.skew(), Nanoseconds{30'000});
    EXPECT_EQ(call.last_rank, 1);
  }
  EXPECT_GE(calls[1].begin_ns, calls[0].end_ns);
}

// Such a trace shows no rank that waits, as the recording does not.
TEST(RecordedTrace, SaysWhetherCallsThatHaveNotEndedAreMissing) {
  for (const bool is_completed_only : {true, false}) {
    std::vector<Recording> all{recording(0), recording(1)};
    for (Recording& one : all) {
      one.is_completed_only = is_completed_only;
      one.calls.push_back(all_reduce(1, 10, 20));
    }
    const auto made = trace_of(all);
    ASSERT_TRUE(made);
    const std::string path = testing::TempDir() + "/completed_only_" + std::to_string(getpid());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(made->bytes.data()),
               static_cast<std::streamsize>(made->bytes.size()));
    hang::InputFile file;
    file.path = path;
    file.kind = hang::FileKind::Trace;
    hang::Names names;
    const hang::Traces traces = hang::load_traces({file}, names);
    std::remove(path.c_str());
    ASSERT_EQ(traces.dumps.size(), 2U);
    EXPECT_EQ(traces.dumps[0].is_completed_only, is_completed_only);
  }
}

// Groups with one name and other members are other communicators.
TEST(RecordedTrace, GroupsAreDistinguishedByTheirMembers) {
  std::vector<Recording> all{recording(0), recording(1)};
  all[1].groups[0].members = {1, 2, 3};
  all[0].calls.push_back(all_reduce(1, 10, 20));
  all[1].calls.push_back(all_reduce(1, 10, 20));
  const auto calls = calls_in(*trace_of(all));
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_NE(calls[0].communicator, calls[1].communicator);
  EXPECT_EQ(calls[0].nranks + calls[1].nranks, 5);
}

// Real traces of PyTorch 1.13 over Gloo: 4 ranks, each on a clock of its own; rank 1 slept 20 ms before each all-reduce.
TEST(RecordedTrace, RealTracesNameTheRankThatComesLast) {
  const auto made = trace_of_recordings({RINGSIDE_PROFILES "/gloo"});
  ASSERT_TRUE(made) << made.error().message;
  const auto sizes = sizes_of(calls_in(*made));
  const auto found = std::ranges::find(sizes, Collective::AllReduce, &SizeSummary::collective);
  ASSERT_NE(found, sizes.end());
  EXPECT_EQ(found->count, 3U);
  EXPECT_EQ(found->nranks, 4);
  EXPECT_EQ(found->last_rank, 1);
  EXPECT_EQ(found->last_rank_count, 3U);
  EXPECT_GT(found->skew, Nanoseconds{15'000'000});
}

// There ranks 0 and 1 make calls in a group of two, and the traces name no groups.
TEST(RecordedTrace, CallsOfUnnamedGroupsAreNotMatched) {
  const auto made = trace_of_recordings({RINGSIDE_PROFILES "/gloo-groups"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->notes, Contains(HasSubstr("does not name groups")));
  for (const CallSummary& call : calls_in(*made)) EXPECT_EQ(call.recorded, 1);
}

// The last all-reduce of three ranks has not ended.
TEST(RecordedTrace, RealPendingCallsAreShown) {
  const auto made = trace_of_recordings({RINGSIDE_PROFILES "/gloo-one-rank-absent"});
  ASSERT_TRUE(made) << made.error().message;
  const auto calls = calls_in(*made);
  ASSERT_FALSE(calls.empty());
  EXPECT_TRUE(calls.back().is_endless);
  EXPECT_EQ(calls.back().recorded, 3);
}

TEST(RecordedTrace, FilesWithoutCallsAreRefused) {
  EXPECT_EQ(trace_of_recordings({RINGSIDE_PROFILES "/none"}).error().code, ErrorCode::NotFound);
  const auto made = trace_of_recordings({RINGSIDE_SCENARIOS});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().help, HasSubstr(".rtrace"));
}

}  // namespace
}  // namespace ringside::study
