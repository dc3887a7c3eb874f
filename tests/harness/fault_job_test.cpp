// Tests planned faults on real ranks: each ends the job as its kind must, or not at all.

#include <gtest/gtest.h>

#include <chrono>

#include "engine/faults/fault_text.h"
#include "harness/bench.h"
#include "harness/job.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

JobOptions faulty_job(const char* fault, const Transport* transport = nullptr) {
  JobOptions job;
  job.local_ranks = 4;
  job.communicator.host.transport = transport;
  job.communicator.op_timeout = Seconds{0.4};
  job.grace = Seconds{0.3};
  job.faults.faults.push_back(*parse_fault(fault));
  return job;
}

/// Makes 12 calls on each rank with ordinary memory, and checks the data after the last one.
Result<int> reduce_a_while(JobRank& rank) {
  BenchOptions bench;
  bench.sizes = {4_KiB, 200_KiB};
  bench.warmup = 1;
  bench.iterations = 4;
  bench.in_place = false;
  bench.shares_memory = false;
  RINGSIDE_TRY(const std::vector<BenchRow> rows,
               run_bench(rank.communicator, bench, [](const BenchRow&) {}));
  std::int64_t wrong = 0;
  for (const BenchRow& row : rows) wrong += row.out_of_place.wrong;
  return wrong == 0 ? 0 : 1;
}

class FaultyJob : public testing::TestWithParam<const Transport*> {
 protected:
  static Result<int> run(const char* fault) {
    return run_job(faulty_job(fault, GetParam()), reduce_a_while);
  }
  static void expect_error(const char* fault, ErrorCode code, const char* what) {
    const auto status = run(fault);
    ASSERT_FALSE(status) << fault;
    EXPECT_EQ(status.error().code, code) << fault << ": " << status.error().message;
    EXPECT_NE(status.error().message.find(what), std::string::npos) << status.error().message;
  }
};

TEST_P(FaultyJob, DelaysAndSlowLinksDoNotChangeTheData) {
  for (const char* fault :
       {"late:rank=2,call=3,by=50ms", "stall:rank=1,call=5,by=50ms", "slow_link:from=0,rate=50MB/s",
        "slow_link:from=1,by=100us", "stall_link:from=3,by=50ms"}) {
    const auto status = run(fault);
    ASSERT_TRUE(status) << fault << ": " << status.error().message;
    EXPECT_EQ(*status, 0) << fault;
  }
}

TEST_P(FaultyJob, AChangedCallIsNamedWithBothSides) {
  expect_error("wrong_count:rank=2,call=3,count=7", ErrorCode::InvalidArgument, "of 7 float sum");
  expect_error("wrong_type:rank=2,call=3,type=int32", ErrorCode::InvalidArgument, "int32");
  expect_error("wrong_op:rank=2,call=3,op=max", ErrorCode::InvalidArgument, "float max");
  expect_error("wrong_collective:rank=2,call=3,collective=all_gather", ErrorCode::InvalidArgument,
               "rank 2 called all_gather");
}

TEST_P(FaultyJob, ARankThatSkipsStallsOrIsStoppedLetsTheOthersRunIntoTheTimeout) {
  for (const char* fault : {"stall:rank=2,call=3", "stop:rank=2,call=3"}) {
    expect_error(fault, ErrorCode::Timeout, "lost rank");
  }
  // At the last call of all, the others wait in it, and the rank that skipped it waits for them elsewhere.
  expect_error("skip:rank=2,call=11", ErrorCode::Timeout, "rank");
}

TEST_P(FaultyJob, ARankThatDiesIsNamed) {
  expect_error("kill:rank=2,call=3", ErrorCode::PeerGone, "rank 2 (pid");
  expect_error("exit:rank=2,call=3", ErrorCode::PeerGone, "rank 2 is gone");
  expect_error("throw:rank=2,call=3", ErrorCode::System, "rank 2: an exception");
}

TEST_P(FaultyJob, AConnectionThatLosesOrHoldsDataIsFoundByTheRankThatWaits) {
  expect_error("blackhole:from=1,after=64K", ErrorCode::Timeout, "lost rank 1");
  expect_error("stall_link:from=1,after=64K", ErrorCode::Timeout, "lost rank");
  expect_error("cut_link:from=1,after=64K", ErrorCode::PeerGone, "rank 1 lost rank");
}

TEST_P(FaultyJob, TheSamePlanGivesTheSameEnd) {
  const auto once = run("wrong_count");
  const auto again = run("wrong_count");
  ASSERT_FALSE(once);
  ASSERT_FALSE(again);
  EXPECT_EQ(once.error().message, again.error().message);
}

INSTANTIATE_TEST_SUITE_P(Table, FaultyJob, testing::ValuesIn(joining_transports()),
                         [](const auto& test) { return name_of(test); });

TEST(FaultyPlan, ARankThatTheJobHasNotIsBadInputBeforeAnythingStarts) {
  const auto status = run_job(faulty_job("skip:rank=4"), reduce_a_while);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(status.error().message.find("rank 4 in a job of 4 ranks"), std::string::npos);
}

}  // namespace
}  // namespace ringside
