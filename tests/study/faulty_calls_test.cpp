#include "study/scenario/faulty_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/faults/fault_text.h"

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SimPlan plan_of(const std::string& collective, const std::string& sizes) {
  SimQuestion question{.job = {.on = "dgx-h100", .nodes = 2},
                       .calls = {.collective = collective, .sizes = sizes},
                       .fidelity = "event"};
  if (collective != "all_to_all") question.algorithm = "ring";
  return plan_simulation(question).value();
}

std::vector<SimRow> rows_of(const SimPlan& plan) {
  std::vector<SimRow> rows;
  for (const Bytes size : plan.calls.sizes) {
    rows.push_back(simulate_call(plan, tune_call(plan, size).value()).value());
  }
  return rows;
}

FaultQuestion question_of(const std::string& fault) {
  return {.plan = {.seed = 1, .faults = {parse_fault(fault).value()}}, .iterations = 5};
}

class FaultyCallsTest : public testing::Test {
 protected:
  FaultyJob play(const std::string& fault) {
    auto job = play_faults(plan_, rows_, question_of(fault));
    EXPECT_TRUE(job) << fault << ": " << job.error().message;
    return job ? *std::move(job) : FaultyJob{};
  }
  static double us(Seconds time) { return in_us(time); }

  const SimPlan plan_ = plan_of("all_reduce", "1M:64M:64");
  const std::vector<SimRow> rows_ = rows_of(plan_);
};

TEST_F(FaultyCallsTest, AFaultThatNeverFiresChangesNoTime) {
  const FaultyJob job = play("skip:rank=1,call=99");
  EXPECT_FALSE(job.verdict);
  EXPECT_EQ(job.notes.size(), 1U);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EXPECT_EQ(job.sizes[i].completed, 5);
    EXPECT_NEAR(us(job.sizes[i].median), us(rows_[i].result.time), 0.01);
    EXPECT_NEAR(us(job.sizes[i].slowest), us(rows_[i].result.time), 0.01);
  }
}

// Calls count over all sizes: 7 is the third one of 64 MiB.
TEST_F(FaultyCallsTest, OneLateCallTakesSoMuchLonger) {
  const FaultyJob job = play("late:rank=3,call=7,by=5ms");
  EXPECT_FALSE(job.verdict);
  EXPECT_EQ(job.sizes[1].slowest_call, 7);
  EXPECT_NEAR(us(job.sizes[1].slowest), us(rows_[1].result.time) + 5000, 0.01);
  EXPECT_NEAR(us(job.sizes[1].median), us(rows_[1].result.time), 0.01);
}

// 64 MiB x 30 / 16 leave each rank, evenly over all its channels: each connection carries its part at 1 GB/s.
TEST_F(FaultyCallsTest, ASlowConnectionTakesTheTimeOfItsBytes) {
  const FaultyJob job = play("slow_link:from=0,rate=1GB/s");
  const double part = 67108864.0 * 30 / 16 / rows_[1].call.tuned.choice.nchannels;
  EXPECT_NEAR(us(job.sizes[1].median), part / 1e3, 0.01 * part / 1e3);
}

TEST_F(FaultyCallsTest, AConnectionThatTheRingHasNotIsTold) {
  const FaultyJob job = play("slow_link:from=0,to=5,rate=1GB/s");
  ASSERT_EQ(job.notes.size(), 1U);
  EXPECT_THAT(job.notes.front(), HasSubstr("rank 0 sends to 1"));
  const auto refused = play_faults(plan_, rows_, question_of("cut_link:from=0,to=5"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().help, HasSubstr("rank 0 sends to 1"));
}

TEST_F(FaultyCallsTest, AHangHasItsVerdictAndTheCallsBeforeIt) {
  const FaultyJob job = play("kill:rank=11,call=6");
  ASSERT_TRUE(job.verdict);
  EXPECT_EQ(job.verdict->kind, HangClass::DeadRank);
  EXPECT_THAT(job.verdict->culprits, ElementsAre(11));
  EXPECT_EQ(job.sizes[0].completed, 5);
  EXPECT_EQ(job.sizes[1].completed, 1);
}

// With 10 calls, the drawn call is in [10 / 4, 10). With more calls it is one of those among which real ranks draw.
TEST_F(FaultyCallsTest, DrawsOpenValuesAmongTheRanksCalls) {
  const FaultyJob job = play("late:by=1ms");
  const Fault& drawn = job.drawn.faults.front();
  ASSERT_TRUE(drawn.call);
  EXPECT_GE(*drawn.call, 2);
  EXPECT_LT(*drawn.call, 10);
  EXPECT_EQ(job.sizes[static_cast<std::size_t>(*drawn.call / 5)].slowest_call, *drawn.call);
  FaultQuestion longer = question_of("late:by=1ms");
  longer.iterations = 50;
  const auto many = play_faults(plan_, rows_, longer);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->drawn, longer.plan.drawn_for(16).value());
}

TEST(FaultyCalls, RefusesUnplayableFaultsBeforeSimulating) {
  const SimPlan exchange = plan_of("all_to_all", "1M");
  EXPECT_TRUE(prepare_faults(exchange, question_of("skip:rank=1")));
  const auto rank = prepare_faults(exchange, question_of("skip:rank=16"));
  ASSERT_FALSE(rank);
  EXPECT_THAT(rank.error().message, HasSubstr("rank 16 in a job of 16 ranks"));
  FaultQuestion many = question_of("skip:rank=1");
  many.iterations = 1'000'000;
  const auto calls = prepare_faults(exchange, many);
  ASSERT_FALSE(calls);
  EXPECT_THAT(calls.error().help, HasSubstr("--iters"));
  SimQuestion pairs{.job = {.on = "dgx-h100"}, .calls = {.collective = "send_recv", .sizes = "1M"}};
  const auto word = prepare_faults(plan_simulation(pairs).value(), question_of("skip:rank=1"));
  ASSERT_FALSE(word);
  EXPECT_THAT(word.error().message, HasSubstr("faults in send_recv"));
  EXPECT_THAT(word.error().help, HasSubstr("ringside bench"));
}

}  // namespace
}  // namespace ringside::study
