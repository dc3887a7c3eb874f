#include "engine/faults/fault.h"

#include <gtest/gtest.h>

#include "engine/faults/fault_text.h"
#include "ringside/vocabulary.h"

namespace ringside {
namespace {

FaultPlan open_plan(std::uint64_t seed) {
  FaultPlan plan;
  plan.seed = seed;
  for (const char* text : {"skip", "kill:rank=2", "wrong_count:call=5", "blackhole", "drop:to=1"}) {
    plan.faults.push_back(*parse_fault(text));
  }
  return plan;
}

TEST(FaultPlan, TheSameSeedDrawsTheSameAndAnotherDrawsOther) {
  const auto once = open_plan(7).drawn_for(8, 40);
  ASSERT_TRUE(once);
  EXPECT_EQ(*once, *open_plan(7).drawn_for(8, 40));
  int different = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto other = open_plan(seed).drawn_for(8, 40);
    different += other->faults[0].rank != once->faults[0].rank ||
                         other->faults[0].call != once->faults[0].call
                     ? 1
                     : 0;
  }
  EXPECT_GE(different, 15);
}

TEST(FaultPlan, KeepsGivenValuesAndDrawsOpenOnesInRange) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto plan = open_plan(seed).drawn_for(5, 40);
    ASSERT_TRUE(plan);
    const std::vector<Fault>& faults = plan->faults;
    EXPECT_GE(*faults[0].rank, 0);
    EXPECT_LT(*faults[0].rank, 5);
    // The call is drawn from the last three quarters of the calls.
    EXPECT_GE(*faults[0].call, 10);
    EXPECT_LT(*faults[0].call, 40);
    EXPECT_EQ(faults[1].rank, 2);
    EXPECT_EQ(faults[2].call, 5);
    EXPECT_TRUE(faults[3].from);
    EXPECT_FALSE(faults[3].to);
    EXPECT_EQ(faults[4].to, 1);
    EXPECT_FALSE(faults[4].rank);
  }
}

// The random values of one fault do not change when the fault before it is given in full.
TEST(FaultPlan, FaultsDrawIndependently) {
  FaultPlan plan = open_plan(3);
  const auto before = plan.drawn_for(8);
  plan.faults[0] = *parse_fault("skip:rank=1,call=1");
  const auto after = plan.drawn_for(8);
  EXPECT_EQ(before->faults[2], after->faults[2]);
  EXPECT_EQ(before->faults[3], after->faults[3]);
}

// A plan with two skips: with equal draws, each seed would name one rank twice.
TEST(FaultPlan, FaultsOfOnePlanAreDrawnApart) {
  int apart = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    FaultPlan plan;
    plan.seed = seed;
    plan.faults = {*parse_fault("skip"), *parse_fault("skip")};
    const auto drawn = plan.drawn_for(8, 40);
    apart += drawn->faults[0] == drawn->faults[1] ? 0 : 1;
  }
  EXPECT_GE(apart, 45);
}

TEST(FaultPlan, ARankThatTheJobHasNotIsNamed) {
  for (const char* text : {"skip:rank=4", "blackhole:from=4", "drop:to=9"}) {
    FaultPlan plan;
    plan.faults.push_back(*parse_fault(text));
    const auto drawn = plan.drawn_for(4);
    ASSERT_FALSE(drawn) << text;
    EXPECT_EQ(drawn.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(drawn.error().message.find("4 ranks"), std::string::npos);
  }
}

TEST(ChangedBy, EveryChangeDiffersFromEveryCall) {
  for (const char* text :
       {"wrong_count", "wrong_type", "wrong_op", "wrong_collective", "wrong_root"}) {
    const Fault fault = *parse_fault(text);
    for (int collective = 0; collective < kCollectiveCount; ++collective) {
      for (int type = 0; type < 12; ++type) {
        for (int op = 0; op < 6; ++op) {
          FaultableCall call;
          call.collective = static_cast<Collective>(collective);
          call.type = static_cast<DataType>(type);
          call.op = static_cast<RedOp>(op);
          call.root = 2;
          call.count = op;  // 0 is valid, too
          EXPECT_NE(changed_by(fault, call, 3), call) << text;
        }
      }
    }
  }
}

TEST(ChangedBy, AWrongTypeHasAnotherElementSize) {
  const Fault fault = *parse_fault("wrong_type");
  for (int type = 0; type < 12; ++type) {
    const FaultableCall call{.type = static_cast<DataType>(type)};
    EXPECT_NE(size_of(changed_by(fault, call, 2).type), size_of(call.type)) << type;
  }
}

TEST(ChangedBy, ARootIsARankOfTheCommunicator) {
  EXPECT_EQ(changed_by(*parse_fault("wrong_root:root=5"), {}, 4).root, 1);
  EXPECT_EQ(changed_by(*parse_fault("wrong_root"), {}, 1).root, 0);
}

TEST(ChangedBy, TheFaultsOwnWordsGoFirst) {
  const FaultableCall call{Collective::AllReduce, DataType::Float32, RedOp::Sum, 0, 100};
  EXPECT_EQ(changed_by(*parse_fault("wrong_count:count=7"), call, 4).count, 7);
  EXPECT_EQ(changed_by(*parse_fault("wrong_type:type=half"), call, 4).type, DataType::Float16);
  EXPECT_EQ(changed_by(*parse_fault("wrong_op:op=min"), call, 4).op, RedOp::Min);
  EXPECT_EQ(changed_by(*parse_fault("wrong_collective:collective=all_gather"), call, 4).collective,
            Collective::AllGather);
  EXPECT_EQ(changed_by(*parse_fault("wrong_root:root=3"), call, 4).root, 3);
  EXPECT_EQ(changed_by(*parse_fault("skip"), call, 4), call);
}

}  // namespace
}  // namespace ringside
