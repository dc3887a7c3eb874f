#include "engine/faults/rank_faults.h"

#include <gtest/gtest.h>

#include "engine/faults/fault_text.h"

namespace ringside {
namespace {

RankFaults faults_of(int rank, std::initializer_list<const char*> texts) {
  FaultPlan plan;
  for (const char* text : texts) plan.faults.push_back(*parse_fault(text));
  return {*plan.drawn_for(8), rank};
}

TEST(RankFaults, AFaultAppliesToItsRankAndCallOnly) {
  RankFaults mine = faults_of(3, {"skip:rank=3,call=2"});
  EXPECT_TRUE(mine.effects_on_next_call("0").is_plain());
  EXPECT_TRUE(mine.effects_on_next_call("0").is_plain());
  EXPECT_TRUE(mine.effects_on_next_call("0").is_skipped);
  EXPECT_TRUE(mine.effects_on_next_call("0").is_plain());
  RankFaults other = faults_of(4, {"skip:rank=3,call=0"});
  EXPECT_TRUE(other.effects_on_next_call("0").is_plain());
}

TEST(RankFaults, AFaultThatHasNotFiredIsNamed) {
  RankFaults mine = faults_of(3, {"skip:rank=3,call=1", "skip:rank=3,call=9999",
                                  "kill:rank=3,call=0,on=1", "skip:rank=2,call=9999"});
  for (int call = 0; call < 2; ++call) static_cast<void>(mine.effects_on_next_call("0"));
  const std::vector<std::string> unfired = mine.unfired();
  ASSERT_EQ(unfired.size(), 2U);
  EXPECT_EQ(unfired[0],
            "fault skip(rank=3, call=9999) never fires: rank 3 makes only 2 calls, counted from 0");
  EXPECT_EQ(
      unfired[1],
      "fault kill(rank=3, call=0, on=1) never fires: rank 3 makes only 0 calls, counted from 0");
}

TEST(RankFaults, CallsCountOverAllCommunicatorsUnlessOneIsNamed) {
  RankFaults all = faults_of(0, {"skip:rank=0,call=2"});
  EXPECT_TRUE(all.effects_on_next_call("a").is_plain());
  EXPECT_TRUE(all.effects_on_next_call("b").is_plain());
  EXPECT_TRUE(all.effects_on_next_call("a").is_skipped);
  RankFaults named = faults_of(0, {"skip:rank=0,call=1,on=b"});
  EXPECT_TRUE(named.effects_on_next_call("a").is_plain());
  EXPECT_TRUE(named.effects_on_next_call("b").is_plain());
  EXPECT_TRUE(named.effects_on_next_call("a").is_plain());
  EXPECT_TRUE(named.effects_on_next_call("b").is_skipped);
}

TEST(RankFaults, TimesLimitsTheCallsAndZeroMeansAll) {
  RankFaults some = faults_of(1, {"late:rank=1,call=1,times=2,by=3ms"});
  EXPECT_EQ(some.effects_on_next_call("0").delay.count(), 0);
  EXPECT_DOUBLE_EQ(some.effects_on_next_call("0").delay.count(), 0.003);
  EXPECT_DOUBLE_EQ(some.effects_on_next_call("0").delay.count(), 0.003);
  EXPECT_EQ(some.effects_on_next_call("0").delay.count(), 0);
  RankFaults always = faults_of(1, {"wrong_op:rank=1,call=0,times=0"});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(always.effects_on_next_call("0").changes.size(), 1U);
}

TEST(RankFaults, EachKindHasItsEffect) {
  RankFaults faults = faults_of(
      0, {"add:rank=0,call=0", "reorder:rank=0,call=1", "stall:rank=0,call=2",
          "stall:rank=0,call=3,by=1s", "kill:rank=0,call=4", "wrong_count:rank=0,call=5"});
  EXPECT_TRUE(faults.effects_on_next_call("0").is_repeated);
  EXPECT_TRUE(faults.effects_on_next_call("0").is_postponed);
  EXPECT_TRUE(faults.effects_on_next_call("0").is_never_made);
  const CallEffects late = faults.effects_on_next_call("0");
  EXPECT_FALSE(late.is_never_made);
  EXPECT_DOUBLE_EQ(late.delay.count(), 1.0);
  const CallEffects end = faults.effects_on_next_call("0");
  ASSERT_NE(end.ending, nullptr);
  EXPECT_EQ(end.ending->kind, FaultKind::Kill);
  const CallEffects changed = faults.effects_on_next_call("0");
  ASSERT_EQ(changed.changes.size(), 1U);
  EXPECT_EQ(changed.changes[0]->kind, FaultKind::WrongCount);
}

}  // namespace
}  // namespace ringside
