#include "trace/call_statistics.h"

#include <gtest/gtest.h>

#include "tests/trace/small_trace.h"

namespace ringside {
namespace {

FileBytes file_of(const std::vector<TraceEvent>& events) {
  FileBytes file = file_header();
  append_bytes(file, events_block(events));
  return file;
}

// Rank 1 enters 40 us late; 60 us later rank 0 leaves. 1000 B / 60 us, and the factor of 2 ranks is 1.
TEST(CallStatistics, BandwidthIsOfTheTimeWithAllRanks) {
  const FileBytes bytes = file_of(late_all_reduce());
  const auto file = TraceFile::parse(bytes, "small");
  ASSERT_TRUE(file);
  const std::vector<CallSummary> calls = calls_of(*file);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].skew(), Nanoseconds{40'000});
  EXPECT_EQ(calls[0].last_rank, 1);
  EXPECT_EQ(calls[0].algorithm, Algorithm::Ring) << "a trace with primitives has the choice";
  ASSERT_TRUE(calls[0].algbw());
  EXPECT_NEAR(calls[0].algbw()->value, 1000 / 60e-6, 1);
  const std::vector<SizeSummary> sizes = sizes_of(calls);
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].last_rank, 1);
  EXPECT_EQ(sizes[0].last_rank_count, 1U);
}

// Rank 1 recorded primitives of the next call, and no end; rank 0 went no further than the call before.
TEST(CallStatistics, ACallWithoutAnEndNeverEnded) {
  std::vector<TraceEvent> events = late_all_reduce();
  TraceEvent step;
  step.rank = 1;
  step.sequence = events.front().sequence + 1;
  step.begin_ns = 1'000'000;
  step.end_ns = 1'000'010;
  events.push_back(step);
  const FileBytes bytes = file_of(events);
  const auto file = TraceFile::parse(bytes, "small");
  ASSERT_TRUE(file);
  const std::vector<CallSummary> calls = calls_of(*file);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_FALSE(calls[0].is_endless);
  EXPECT_TRUE(calls[1].is_endless);
  EXPECT_EQ(calls[1].sequence, step.sequence);
  EXPECT_EQ(calls[1].recorded, 1);
  EXPECT_EQ(calls[1].nranks, 2);
  EXPECT_FALSE(calls[1].algbw());
}

// Rank 0 gave the second call up after one of its three primitives; rank 1 is whole.
TEST(CallStatistics, ACallThatWasGivenUpNeverEnded) {
  for (const bool is_given_up : {true, false}) {
    std::vector<TraceEvent> events = late_all_reduce();
    for (TraceEvent event : late_all_reduce()) {
      const bool is_lost =
          is_given_up && event.rank == 0 && event.kind == EventKind::Primitive && event.step > 0;
      event.sequence += 1;
      event.begin_ns += 1'000'000;
      event.end_ns += 1'000'000;
      if (!is_lost) events.push_back(event);
    }
    const FileBytes bytes = file_of(events);
    const auto file = TraceFile::parse(bytes, "small");
    ASSERT_TRUE(file);
    const std::vector<CallSummary> calls = calls_of(*file);
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_FALSE(calls[0].is_endless);
    EXPECT_EQ(calls[1].is_endless, is_given_up);
    EXPECT_EQ(calls[1].recorded, 2);
  }
}

TEST(CallStatistics, OneRankHasNoSkew) {
  std::vector<TraceEvent> events = late_all_reduce();
  std::erase_if(events, [](const TraceEvent& event) {
    return event.rank == 1 || event.kind != EventKind::Collective;
  });
  const FileBytes bytes = file_of(events);
  const auto file = TraceFile::parse(bytes, "small");
  const std::vector<CallSummary> calls = calls_of(*file);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_FALSE(calls[0].skew());
  EXPECT_FALSE(calls[0].busbw()) << "of one rank";
  EXPECT_FALSE(calls[0].algorithm) << "no primitive shows it";
  EXPECT_EQ(sizes_of(calls)[0].last_rank, -1);
}

}  // namespace
}  // namespace ringside
