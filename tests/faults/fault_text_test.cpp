#include "engine/faults/fault_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(FaultText, EveryKindIsReadBackFromItsName) {
  ASSERT_EQ(fault_names().size(), static_cast<std::size_t>(kFaultKinds));
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    const auto parsed = parse_fault_kind(to_string(static_cast<FaultKind>(kind)));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, static_cast<FaultKind>(kind));
  }
}

TEST(FaultText, KeysLandInTheirPlaces) {
  const auto skip = parse_fault("skip:rank=3,call=40,times=2,on=0/1.2");
  ASSERT_TRUE(skip);
  EXPECT_EQ(skip->kind, FaultKind::Skip);
  EXPECT_EQ(skip->rank, 3);
  EXPECT_EQ(skip->call, 40);
  EXPECT_EQ(skip->times, 2);
  EXPECT_EQ(skip->on, "0/1.2");
  const auto late = parse_fault("late:by=200ms");
  ASSERT_TRUE(late);
  EXPECT_DOUBLE_EQ(late->by->count(), 0.2);
  const auto slow = parse_fault("slow_link:from=0,to=1,channel=2,after=1M,step=9,rate=100MB/s");
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->from, 0);
  EXPECT_EQ(slow->to, 1);
  EXPECT_EQ(slow->channel, 2);
  EXPECT_EQ(slow->after, 1_MiB);
  EXPECT_EQ(slow->step, 9U);
  EXPECT_DOUBLE_EQ(slow->rate->value, 1e8);
}

TEST(FaultText, ReadsWhatItWrites) {
  for (const char* text :
       {"skip", "skip:rank=3,call=40", "skip:on=0:,rank=1", "add:on=world,times=0",
        "wrong_count:count=0", "wrong_type:type=half", "wrong_op:op=max",
        "wrong_collective:collective=all_gather", "wrong_root:root=2", "late:by=1.5us", "stall",
        "stall:by=2s", "exit:status=7", "slow_link:rate=12.5GB/s", "slow_link:by=3ms",
        "drop:from=1,times=4", "blackhole:from=2,after=1M",
        "cut_link:from=0,to=1,channel=3,step=12"}) {
    const auto fault = parse_fault(text);
    ASSERT_TRUE(fault) << text;
    const auto again = parse_fault(to_string(*fault));
    ASSERT_TRUE(again) << to_string(*fault);
    EXPECT_EQ(*again, *fault) << text;
    FaultPlan plan;
    plan.seed = 5;
    plan.faults = {*fault, *fault};
    const auto whole = parse_fault_plan(to_yaml(plan), "plan.yaml");
    ASSERT_TRUE(whole) << to_yaml(plan) << whole.error().message;
    EXPECT_EQ(*whole, plan);
  }
}

TEST(FaultText, ABadTextIsAnErrorWithTheFix) {
  struct Bad {
    const char* text;
    const char* what;
    const char* help;
  };
  for (const Bad& bad :
       {Bad{"skipp", "unknown fault 'skipp'", "did you mean 'skip'"},
        Bad{"skip:rnk=3", "skip has no 'rnk'", "did you mean 'rank'"},
        Bad{"skip:rate=1GB/s", "skip has no 'rate'", "known"},
        Bad{"blackhole:rank=1", "blackhole has no 'rank'", "known"},
        Bad{"skip:rank", "'rank' is no key with a value", "skip:rank=3"},
        Bad{"skip:", "'' is no key with a value", "skip:rank=3"},
        Bad{"skip:rank=-1", "skip: rank: -1", "give 0 to"},
        Bad{"skip:rank=1,rank=2", "'rank' appears twice", "keep one"},
        Bad{"skip:on=a b", "names no communicator", "letters"},
        Bad{"late", "late: by how much?", "late:by"}, Bad{"late:by=1e9s", "too long", "1000000s"},
        Bad{"slow_link:from=0", "slow_link: how slow?", "rate"},
        Bad{"wrong_type:type=flot", "flot", "float"}}) {
    const auto fault = parse_fault(bad.text);
    ASSERT_FALSE(fault) << bad.text;
    EXPECT_EQ(fault.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(fault.error().message.find(bad.what), std::string::npos) << fault.error().message;
    EXPECT_NE(fault.error().help.find(bad.help), std::string::npos) << fault.error().help;
  }
}

TEST(FaultPlanYaml, AWordAloneIsAFaultAndTheSeedIsTaken) {
  const auto plan = parse_fault_plan(
      "ringside: faults/1\nseed: 9\nfaults:\n- kill\n- late: {rank: 1, by: 20ms}\n", "plan.yaml");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->seed, 9U);
  ASSERT_EQ(plan->faults.size(), 2U);
  EXPECT_EQ(plan->faults[0], *parse_fault("kill"));
  EXPECT_EQ(plan->faults[1], *parse_fault("late:rank=1,by=20ms"));
}

TEST(FaultPlanYaml, ABadLineIsNamed) {
  struct Bad {
    const char* text;
    const char* what;
  };
  for (const Bad& bad :
       {Bad{"faults: []", "'ringside: faults/1' is missing"},
        Bad{"ringside: faults/2\nfaults: []", "not a version"},
        Bad{"ringside: faults/1\nfaults: 3", "plan.yaml:2: faults must be a list"},
        Bad{"ringside: faults/1\nfaults:\n- skipp", "plan.yaml:3: unknown fault 'skipp'"},
        Bad{"ringside: faults/1\nfaults:\n- skip\n- skip: {rank: x}", "plan.yaml:4: fault skip"},
        Bad{"ringside: faults/1\nfaults:\n- skip: 3", "plan.yaml:3: skip: its keys"},
        Bad{"ringside: faults/1\nfaults:\n- [skip]", "plan.yaml:3: a fault is one word"},
        Bad{"ringside: faults/1\nfaults: [", "plan.yaml:"}}) {
    const auto plan = parse_fault_plan(bad.text, "plan.yaml");
    ASSERT_FALSE(plan) << bad.text;
    EXPECT_EQ(plan.error().code, ErrorCode::Corrupt);
    EXPECT_NE(plan.error().message.find(bad.what), std::string::npos) << plan.error().message;
  }
}

}  // namespace
}  // namespace ringside
