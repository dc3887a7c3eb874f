#include "engine/runtime/watch/call_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "engine/runtime/calls/call.h"

namespace ringside {
namespace {

CallSignature sum_of(std::int64_t count) { return {.count = count}; }

struct Log {
  std::unique_ptr<CallLog::Memory> memory = std::make_unique<CallLog::Memory>();
  CallLog::Writer writer{*memory};
  CallLog log{*memory};
};

TEST(CallSignature, IgnoresFieldsThatACollectiveDoesNotUse) {
  const CollectiveCall one{.collective = Collective::AllReduce, .count = 8, .root = Rank{1}};
  CollectiveCall two = one;
  two.root = Rank{2};
  two.scalar = to_element(DataType::Float32, 2);
  EXPECT_EQ(signature_of(one), signature_of(two));
  two.op = RedOp::Max;
  EXPECT_NE(signature_of(one), signature_of(two));
  CollectiveCall three{.collective = Collective::Broadcast, .count = 8, .op = RedOp::Max};
  const CallSignature before = signature_of(three);
  three.op = RedOp::Sum;
  EXPECT_EQ(signature_of(three), before);
  three.root = Rank{1};
  EXPECT_NE(signature_of(three), before);
}

TEST(CallSignature, DescribesTheCall) {
  EXPECT_EQ(to_string(signature_of({.count = 1024})), "all_reduce of 1024 float sum");
  EXPECT_EQ(to_string(signature_of({.collective = Collective::Broadcast,
                                    .count = 3,
                                    .type = DataType::Int8,
                                    .root = Rank{2}})),
            "broadcast of 3 int8 with root 2");
}

TEST(CallSignature, BlocksOfOtherLengthsDifferThoughTheirSumIsTheSame) {
  const CollectiveCall one{.collective = Collective::AllGatherV, .counts = {1, 3}};
  const CollectiveCall two{.collective = Collective::AllGatherV, .counts = {3, 1}};
  EXPECT_EQ(signature_of(one).count, 4);
  EXPECT_NE(signature_of(one), signature_of(two));
}

TEST(CallSignature, WordsOfNoSignatureAreRefused) {
  const CallSignature signature = signature_of(
      {.collective = Collective::Reduce, .count = -7, .op = RedOp::Avg, .root = Rank{-1}});
  CallWords words = to_words(signature);
  EXPECT_EQ(parse_call_words(words), signature);
  words[2] |= 0xff;
  EXPECT_FALSE(parse_call_words(words));
}

TEST(CallLog, EqualCallsInARowAreOneRun) {
  Log one;
  EXPECT_TRUE(one.writer.append(sum_of(8)));
  EXPECT_FALSE(one.writer.append(sum_of(8)));
  EXPECT_TRUE(one.writer.append(sum_of(9)));
  EXPECT_EQ(one.log.begun(), 3U);
  EXPECT_EQ(one.log.runs(), 2U);
  EXPECT_EQ(one.log.find(1)->signature, sum_of(8));
  EXPECT_EQ(one.log.find(1)->end, 2U);
  EXPECT_EQ(one.log.find(2)->signature, sum_of(9));
}

TEST(CallLog, ForgetsOldRuns) {
  Log one;
  for (int i = 0; i < 100; ++i) one.writer.append(sum_of(i));
  EXPECT_FALSE(one.log.find(10));
  EXPECT_EQ(one.log.oldest(), 100 - CallLog::kRuns + 1);
  EXPECT_EQ(one.log.find(one.log.oldest())->signature, sum_of(100 - CallLog::kRuns + 1));
}

// Rank A calls a a b, the other a a a a: only one changes, both find the difference, and not before both have begun
// the call.
TEST(CallComparison, ADifferenceIsFoundOnceBothHaveBegunTheCall) {
  Log mine;
  Log theirs;
  CallComparison from_here(mine.log, theirs.log);
  CallComparison from_there(theirs.log, mine.log);
  for (int i = 0; i < 3; ++i) {
    mine.writer.append(sum_of(8));
    theirs.writer.append(sum_of(8));
  }
  EXPECT_FALSE(from_here.look());
  mine.writer.append(sum_of(9));
  EXPECT_FALSE(from_here.look());
  EXPECT_FALSE(from_there.look());
  theirs.writer.append(sum_of(8));
  const auto here = from_here.look();
  ASSERT_TRUE(here);
  EXPECT_EQ(here->call, 3U);
  EXPECT_EQ(here->mine, sum_of(9));
  EXPECT_EQ(here->theirs, sum_of(8));
  const auto there = from_there.look();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->mine, sum_of(8));
}

// The rank ahead called a b a, so the last runs are equal; the other is about to call a in place of b.
TEST(CallComparison, ADifferenceBeforeEqualLastRunsIsFound) {
  Log mine;
  Log theirs;
  CallComparison comparison(mine.log, theirs.log);
  for (const int count : {8, 8, 9, 8}) mine.writer.append(sum_of(count));
  for (int i = 0; i < 2; ++i) theirs.writer.append(sum_of(8));
  EXPECT_FALSE(comparison.look());
  theirs.writer.append(sum_of(8));
  const auto found = comparison.look();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->call, 2U);
}

TEST(CallComparison, ARankFarAheadIsComparedAtTheSameCalls) {
  Log mine;
  Log theirs;
  for (int i = 0; i < 20; ++i) theirs.writer.append(sum_of(i / 2));
  CallComparison comparison(mine.log, theirs.log);
  for (int i = 0; i < 20; ++i) {
    mine.writer.append(sum_of(i == 11 ? 0 : i / 2));
    const auto found = comparison.look();
    EXPECT_EQ(found.has_value(), i >= 11) << i;
    if (found) {
      EXPECT_EQ(found->call, 11U);
    }
  }
}

// All reads race with all writes; the calls are equal, so every difference that is found is a false alarm.
TEST(CallComparison, ARaceWithTheWriterGivesNoFalseDifference) {
  Log mine;
  Log theirs;
  std::jthread writer([&] {
    for (int i = 0; i < 20'000; ++i) theirs.writer.append(sum_of(i / 3));
  });
  CallComparison comparison(mine.log, theirs.log);
  for (int i = 0; i < 20'000; ++i) {
    mine.writer.append(sum_of(i / 3));
    const auto found = comparison.look();
    ASSERT_FALSE(found) << found->call;
  }
}

// A rank on another host reports only its changes.
TEST(CallComparison, ReportedChangesAreEnoughForOneSideToFindTheDifference) {
  Log mine;
  Log reported;
  CallComparison comparison(mine.log, reported.log);
  reported.writer.append_at(0, sum_of(8));
  for (int i = 0; i < 5; ++i) mine.writer.append(sum_of(8));
  EXPECT_FALSE(comparison.look());
  reported.writer.append_at(4, sum_of(9));
  for (int looks = 0; looks < 2; ++looks) {  // it stays found
    const auto found = comparison.look();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->call, 4U);
  }
}

}  // namespace
}  // namespace ringside
