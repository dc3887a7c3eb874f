#include "diag/job/watchdog_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/logparse/message.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::job {
namespace {

WatchdogWaits waits_in(const std::string& text) {
  class Sink : public logs::RecordSink {
   public:
    void take(std::span<const logs::Record> records, const logs::SpeakerTable&) override {
      for (const logs::Record& record : records) {
        if (record.kind == logs::RecordKind::Message)
          waits.take(record, logs::torch_prefix(record).global_rank);
      }
    }
    WatchdogWaits waits;
  } sink;
  logs::parse_text(text, sink);
  sink.waits.complete();
  return sink.waits;
}

std::string timeout_of(int rank, const std::string& work) {
  const std::string r = std::to_string(rank);
  return "[rank" + r + "]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(" + work +
         ", Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n";
}

std::string status_of(int rank, int at, int enqueued, int completed) {
  const std::string r = std::to_string(rank);
  return "[rank" + r +
         "]:[E612 08:15:40.355 ProcessGroupNCCL.cpp:1834] [PG ID 0 PG GUID 0(default_pg) Rank " +
         r + "] failure detected by watchdog at work sequence id: " + std::to_string(at) +
         " PG status: last enqueued work: " + std::to_string(enqueued) +
         ", last completed work: " + std::to_string(completed) + "\n";
}

// A process that was stopped for 41 s: its watchdog has looked at no call when it reports the oldest one.
TEST(WatchdogWaits, AStoppedProcessWaitsAfterItsEnqueuedCalls) {
  std::string late = timeout_of(1, "SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1");
  late.replace(late.find("600010"), 6, "1800020");
  const WatchdogWaits waits = waits_in(late + status_of(1, 1, 4, -1));
  ASSERT_EQ(waits.by_rank().at(1).size(), 1U);
  EXPECT_EQ(waits.by_rank().at(1).front().sequence, 4);
  EXPECT_TRUE(waits.by_rank().at(1).front().is_idle());
}

TEST(WatchdogWaits, ACallThatTimesOutInTimeIsTheOneThatHangs) {
  const WatchdogWaits waits = waits_in(
      timeout_of(1, "SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1") + status_of(1, 1, 4, -1));
  EXPECT_EQ(waits.by_rank().at(1).front().sequence, 1);
  EXPECT_FALSE(waits.by_rank().at(1).front().is_idle());
}

TEST(WatchdogWaits, AStatusBelongsToTheTimeoutBeforeIt) {
  const WatchdogWaits waits =
      waits_in(timeout_of(3, "SeqNum=41, OpType=ALLREDUCE, NumelIn=64, NumelOut=64") +
               status_of(3, 41, 44, 40));
  ASSERT_EQ(waits.by_rank().count(3), 1U);
  ASSERT_EQ(waits.by_rank().at(3).size(), 1U);
  const Wait& wait = waits.by_rank().at(3).front();
  EXPECT_EQ(wait.sequence, 41);
  EXPECT_EQ(wait.operation, "ALLREDUCE");
  EXPECT_EQ(wait.enqueued, 44);
  EXPECT_EQ(wait.completed, 40);
  EXPECT_EQ(wait.group, "0");
  EXPECT_TRUE(wait.has_timed_out);
  EXPECT_FALSE(wait.is_idle());
  EXPECT_EQ(waits.timeouts(), 1);
}

TEST(WatchdogWaits, ARankThatCompletedAllCallsIsIdleUnlessALineReportsATimeout) {
  EXPECT_TRUE(waits_in(status_of(2, 40, 40, 40)).by_rank().at(2).front().is_idle());
  EXPECT_FALSE(waits_in(status_of(2, 40, 40, 39)).by_rank().at(2).front().is_idle());
  EXPECT_FALSE(waits_in(timeout_of(2, "SeqNum=40, OpType=ALLREDUCE, NumelIn=1, NumelOut=1") +
                        status_of(2, 40, 40, 40))
                   .by_rank()
                   .at(2)
                   .front()
                   .is_idle());
}

TEST(WatchdogWaits, TheSizesOfAnAllGatherTellHowManyTakePart) {
  EXPECT_EQ(waits_in(timeout_of(0, "SeqNum=9, OpType=_ALLGATHER_BASE, NumelIn=128, NumelOut=1024"))
                .world(),
            8);
  EXPECT_EQ(
      waits_in(timeout_of(0, "SeqNum=9, OpType=ALLREDUCE, NumelIn=128, NumelOut=128")).world(), 0);
}

TEST(WatchdogWaits, AStatusWithoutItsWorkTakesThatOfTheOthers) {
  const WatchdogWaits waits =
      waits_in(timeout_of(0, "SeqNum=9, OpType=ALLREDUCE, NumelIn=128, NumelOut=128") +
               status_of(0, 9, 9, 8) + status_of(1, 9, 9, 8));
  EXPECT_EQ(waits.by_rank().at(1).front().operation, "ALLREDUCE");
  EXPECT_FALSE(waits.by_rank().at(1).front().has_timed_out);
}

/// Like timeout_of(), for a release that names the group in the line of the time-out.
std::string timeout_in(const std::string& group, int rank, int sequence) {
  return "[rank" + std::to_string(rank) + "]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [" +
         group + "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" +
         std::to_string(sequence) +
         ", OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600010 "
         "milliseconds before timing out.\n";
}

TEST(WatchdogWaits, TheGroupMayBeInTheTimeoutsLine) {
  const WatchdogWaits waits = waits_in(timeout_in("PG ID 2 PG GUID 17(tp) Rank 1", 5, 30) +
                                       timeout_in("PG ID 4 PG GUID 9(dp) Rank 2", 5, 30));
  ASSERT_EQ(waits.by_rank().at(5).size(), 2U) << "two groups wait at one number";
  EXPECT_EQ(waits.by_rank().at(5)[0].group, "17");
  EXPECT_EQ(waits.by_rank().at(5)[0].group_rank, 1);
  EXPECT_EQ(waits.by_rank().at(5)[1].description, "dp");
}

TEST(WatchdogWaits, AnExceptionRepeatsTheWorkAndNamesTheGroup) {
  const WatchdogWaits waits = waits_in(
      timeout_of(3, "SeqNum=41, OpType=ALLREDUCE, NumelIn=64, NumelOut=64") +
      "[rank3]:   what():  [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread "
      "terminated with exception: [Rank 3] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for "
      "600010 milliseconds before timing out.\n");
  ASSERT_EQ(waits.by_rank().size(), 1U);
  ASSERT_EQ(waits.by_rank().at(3).size(), 1U);
  EXPECT_EQ(waits.by_rank().at(3).front().group, "0");
}

std::string exception_of(int place, const std::string& group) {
  const std::string r = std::to_string(place);
  return "  what():  [PG ID 3 PG GUID " + group + " Rank " + r +
         "] Process group watchdog thread terminated with exception: [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
         "OpType=_ALLGATHER_BASE, NumelIn=4, NumelOut=8, Timeout(ms)=600000) ran for 600088 "
         "milliseconds before timing out.\n";
}

// Ranks of a sub-group are numbered from 0, so its rank 1 may be any rank of the job.
TEST(WatchdogWaits, ARankInASubGroupIsNotAGlobalRank) {
  const WatchdogWaits waits = waits_in(exception_of(1, "17(tp)"));
  EXPECT_THAT(waits.by_rank(), testing::IsEmpty());
  EXPECT_EQ(waits.world(), 0) << "nor is its size that of the job";
  ASSERT_EQ(waits.of_places().size(), 1U);
  EXPECT_EQ(waits.of_places().front().group_rank, 1);
  EXPECT_EQ(waits.of_places().front().description, "tp");
  const WatchdogWaits own = waits_in(exception_of(1, "0(default_pg)"));
  EXPECT_EQ(own.by_rank().count(1), 1U) << "of the default group it is one";
}

// Another line has both, so that the place is known.
TEST(WatchdogWaits, APlaceIsOfTheRankThatAnotherLinePutsThere) {
  const WatchdogWaits waits = waits_in(
      exception_of(1, "17(tp)") +
      "[rank9]:[E612 08:15:40.355 ProcessGroupNCCL.cpp:1834] [PG ID 3 PG GUID 17(tp) Rank 1] "
      "failure detected by watchdog at work sequence id: 7 PG status: last enqueued work: 9, last "
      "completed work: 6\n");
  EXPECT_THAT(waits.of_places(), testing::IsEmpty());
  ASSERT_EQ(waits.by_rank().count(9), 1U);
  EXPECT_EQ(waits.by_rank().at(9).back().operation, "_ALLGATHER_BASE");
}

}  // namespace
}  // namespace ringside::job
