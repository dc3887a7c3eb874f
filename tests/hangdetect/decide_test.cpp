#include "diag/hangdetect/verdict/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/engine_words.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/positions.h"
#include "diag/report/sentences/hang_sentences.h"
#include "tests/hangdetect/small_job.h"

namespace ringside::hang {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(FoldRanks, NeighboursAndEqualDistancesAreFolded) {
  EXPECT_EQ(fold_ranks({}), "");
  EXPECT_EQ(fold_ranks({3}), "3");
  EXPECT_EQ(fold_ranks({0, 1, 2, 3, 7}), "0-3,7");
  EXPECT_EQ(fold_ranks({0, 8, 16, 24, 32, 40, 48, 56}), "0-56:8");
  EXPECT_EQ(fold_ranks({0, 8, 16}), "0,8,16") << "three are no pattern yet";
  EXPECT_EQ(fold_ranks({1, 2, 4, 6, 8, 10, 11}), "1-2,4-10:2,11");
}

/// Returns a job of 4 ranks that have made 5 calls; all but rank 2 wait in the sixth.
SmallJob all_but_rank_2_wait() {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 1, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  return job;
}

TEST(Decide, ARankThatNeverCameIsMissing) {
  const SmallJob job = all_but_rank_2_wait();
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::MissingRank);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(2));
  EXPECT_GE(verdict.best.confidence, 0.8);
  EXPECT_EQ(verdict.best.call, "all_reduce 6 of default_pg");
}

/// Returns a job of 4 ranks of which 1 and 3 are missing from the sixth call.
SmallJob ranks_1_and_3_are_missing() {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 2}) job.call(rank, world, "nccl:all_reduce", 64);
  return job;
}

TEST(Decide, AnExceptionOfOneMissingRankIsNotStatedOfTheOther) {
  SmallJob job = ranks_1_and_3_are_missing();
  job.notes(3).has_exception = true;
  job.notes(3).exception = "ValueError: corrupted record";
  const Explanation one = job.verdict().best;
  EXPECT_EQ(one.kind, Kind::MissingRank);
  EXPECT_THAT(one.culprits, ElementsAre(1, 3));
  EXPECT_EQ(why_of(one).find("raised"), std::string::npos) << why_of(one);
  EXPECT_THAT(details_of(one), Contains("rank 3: raised ValueError: corrupted record"));

  job.notes(1) = job.notes(3);
  const Explanation both = job.verdict().best;
  EXPECT_THAT(why_of(both), testing::HasSubstr("raised ValueError: corrupted record"));
}

TEST(Decide, MissingRanksAreStragglersOnlyIfEachOfThemIsBusy) {
  SmallJob job = ranks_1_and_3_are_missing();
  job.notes(1).is_busy = true;
  job.notes(1).busy_with = "tokenize (data.py:7)";
  const Explanation one = job.verdict().best;
  EXPECT_EQ(one.kind, Kind::MissingRank);
  EXPECT_THAT(details_of(one), Contains("rank 1: is in tokenize (data.py:7)"));
  job.notes(3) = job.notes(1);
  EXPECT_EQ(job.verdict().best.kind, Kind::Straggler);
}

// Eight pauses of 4 ms, but one of 100 s, which was a checkpoint. A delay of 10 s is not usual.
TEST(Decide, OneLongPauseIsNotTheUsualPause) {
  using namespace std::chrono_literals;
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "gloo:all_reduce", 64, 4);
  job.pause(100s);
  job.all_call(world, "gloo:all_reduce", 64, 5);
  job.pause(10s);
  for (const int rank : {0, 1, 3}) job.call(rank, world, "gloo:all_reduce", 64);
  const Explanation best = job.verdict().best;
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_FALSE(best.has(Feature::WithinUsualPause));
  EXPECT_FALSE(best.has(Feature::PaceUnknown));
}

// Nine pairs of ranks make calls of different sizes, the tenth is in one transfer that does not end.
TEST(Decide, ManyOtherHypothesesDoNotHideATransferThatStalls) {
  constexpr int kPairs = 10;
  SmallJob job(2 * kPairs);
  for (int i = 0; i < kPairs; ++i) {
    const int first = 2 * i, second = 2 * i + 1;
    const int pair = job.add_group(std::to_string(i), {first, second}, "pair");
    job.all_call(pair, "nccl:all_reduce", 64, 2);
    const bool is_last = i == kPairs - 1;
    job.call(first, pair, is_last ? "nccl:send 0->1" : "nccl:all_reduce", 64);
    job.call(second, pair, is_last ? "nccl:recv 1<-0" : "nccl:all_reduce", is_last ? 64 : 128);
  }
  const Verdict verdict = job.verdict();
  EXPECT_THAT(verdict.others, Contains(testing::Field(&Explanation::waiting, ElementsAre(18, 19))));
}

// Two hosts of two processes each; the process ids of the second host are 30 and 31.
TEST(RankByProcessOrder, ProcessesOfALaterHostHaveLaterRanks) {
  LogFacts facts;
  for (const auto& [file, pid] :
       {std::pair{"n01.txt", 20}, {"n01.txt", 21}, {"n02.txt", 30}, {"n02.txt", 31}}) {
    ProcessStack& stack = facts.stacks.emplace_back();
    stack.file = file;
    stack.pids = {pid};
    stack.line = pid;
    stack.frames = {{"step", "train.py", 9}};
  }
  const auto ordered = rank_by_process_order(facts, position_of(facts.stacks.back()));
  ASSERT_TRUE(ordered);
  EXPECT_EQ(ordered->rank, 3);
  EXPECT_EQ(ordered->local_rank, 1);
}

// Ranks 0 to 3 ended the same call; then rank 2 alone receives from rank 1, which never sends. The other three are
// idle at one place, so rank 2 went ahead on its own.
TEST(Decide, ARankAloneInATransferWhileAllOthersAreAtOnePlaceWentAhead) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  const int pair = job.add_group("1", {1, 2}, "pipeline");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  job.call(2, pair, "nccl:recv 1<-0", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::DivergedControlFlow);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(2));
  EXPECT_LT(verdict.best.confidence, 0.8);
}

// Three equal reports in two seconds show no hang of a job whose steps take three.
TEST(Decide, AWaitNoLongerThanTheJobsOwnPausesIsNoHang) {
  using namespace std::chrono_literals;
  for (const auto wait : {2ms, 1000ms}) {
    SmallJob job = all_but_rank_2_wait();
    job.write_dumps_after(wait);
    LogFacts facts;
    facts.reports.resize(3);
    EXPECT_EQ(job.verdict(facts).best.kind, wait == 2ms ? Kind::NotAHang : Kind::MissingRank);
  }
}

// A first checkpoint is in no history.
TEST(Decide, AStillJobWithAWaitOfSecondsIsLessCertainAndSaysSo) {
  using namespace std::chrono_literals;
  for (const auto wait : {3s, 60s}) {
    SmallJob job = all_but_rank_2_wait();
    job.write_dumps_after(wait);
    LogFacts facts;
    facts.reports.resize(3);
    const Explanation best = job.verdict(facts).best;
    EXPECT_EQ(best.kind, Kind::MissingRank);
    EXPECT_THAT(best.culprits, ElementsAre(2));
    EXPECT_EQ(best.has(Feature::PaceUnknown), wait == 3s);
    EXPECT_EQ(why_of(best).find("Ask again") != std::string::npos, wait == 3s);
  }
}

// A broadcast ends on the ranks before the one that stopped: no rank waits in a recorded call.
TEST(Decide, ARankWithFewerEndedCallsIsMissingOnceTheJobHasStopped) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:broadcast", 64, 5);
  for (int i = 0; i < 8; ++i) {
    for (const int rank : {0, 1, 2}) job.call(rank, world, "nccl:broadcast", 64, true);
  }
  EXPECT_EQ(job.verdict().best.kind, Kind::NotAHang) << "the dumps may be of different moments";
  job.reason(0, "rank 0: exchange 7 with rank 3: nothing came in time");
  const Explanation best = job.verdict().best;
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(3));
  EXPECT_EQ(best.call, "broadcast 6 of default_pg");
}

TEST(Decide, AWaitOfUnknownLengthIsNotUsual) {
  SmallJob job(4);  // dumps without the time at which they were written
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 1, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  LogFacts facts;
  facts.reports.resize(3);
  EXPECT_EQ(job.verdict(facts).best.kind, Kind::MissingRank);
}

// Rank 0 gives up in one communicator and ends; ranks 2 and 3, in another one, see only that it is gone.
TEST(Decide, ARankThatGaveUpAfterATimeOutIsNotDead) {
  for (const char* const reason :
       {"rank 0 lost rank 1 on channel 0: waited 5 s for a free slot of step 2",
        kOtherCallFailed.data(), ""}) {
    SmallJob job(4);
    const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
    job.all_call(world, "nccl:all_reduce", 64, 5);
    for (const int rank : {0, 1, 2, 3}) job.call(rank, world, "nccl:all_reduce", 64);
    job.reason(0, reason);
    LogFacts facts;
    LogStatement& gone = facts.statements.emplace_back();
    gone.what = LogStatement::What::EngineGone;
    gone.ranks = {0};
    gone.dump_ranks = {2, 3};
    EXPECT_EQ(job.verdict(facts).best.kind == Kind::DeadRank, *reason == '\0');
  }
}

TEST(SortByTime, FactsWithoutATimeKeepTheirPlaces) {
  std::vector<facts::Died> deaths(4);
  for (const auto& [index, time] : {std::pair{0, 5}, {1, 0}, {2, 3}, {3, 4}}) {
    deaths[static_cast<std::size_t>(index)].time_us = time;
  }
  FactList<facts::Died> sorted{&deaths[0], &deaths[1], &deaths[2], &deaths[3]};
  sort_by_time(sorted);
  EXPECT_THAT(sorted, ElementsAre(&deaths[2], &deaths[1], &deaths[3], &deaths[0]));
}

/// A reason in the dumps of four ranks that wait in one call.
struct Words {
  LogStatement::What what;
  std::vector<int> about;
  std::vector<int> dump_ranks;
};
Verdict verdict_with(const std::vector<Words>& words) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 1, 2, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  LogFacts facts;
  for (const Words& said : words) {
    LogStatement& one = facts.statements.emplace_back();
    one.what = said.what;
    one.ranks = said.about;
    one.dump_ranks = said.dump_ranks;
    one.text = "rank 2 lost rank 1";
  }
  return job.verdict(facts);
}

// A firewall before rank 2 lets its own messages out: it gives up first, and the others see it leave. Alternatively,
// the connection returns late, and only delivers the news that the others left.
TEST(Decide, ARankWhoseDumpReportsOthersIsNotDead) {
  using What = LogStatement::What;
  for (const auto& words :
       {std::vector<Words>{{What::EngineGone, {2}, {0, 1, 3}}, {What::EngineCut, {}, {2}}},
        std::vector<Words>{{What::EngineGone, {2}, {0, 1, 3}},
                           {What::EngineGone, {0, 1, 3}, {2}}}}) {
    const Verdict cut_off = verdict_with(words);
    EXPECT_EQ(cut_off.best.kind, Kind::NetworkStall);
    EXPECT_THAT(cut_off.best.culprits, IsEmpty());
  }
  const Verdict dead =
      verdict_with({{What::EngineGone, {2}, {0, 1, 3}}, {What::EngineCut, {}, {1}}});
  EXPECT_EQ(dead.best.kind, Kind::DeadRank);
  EXPECT_THAT(dead.best.culprits, ElementsAre(2));
}

// 0 sends to 1, 1 receives from 0, and neither ends.
TEST(Decide, ATransferPendingAtBothEndsIsAConnectionFailure) {
  SmallJob job(2);
  const int pair = job.add_group("0", {0, 1}, "default_pg");
  job.all_call(pair, "nccl:all_reduce", 64, 5);
  job.call(0, pair, "nccl:send 0->1", 64);
  job.call(1, pair, "nccl:recv 1<-0", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::NetworkStall);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
}

// Each of three ranks sends to the next one and receives from the one before it, both in one batch: no cycle.
TEST(Decide, AnExchangeInOneBatchIsNotACycle) {
  SmallJob job(3);
  const int ring = job.add_group("0", {0, 1, 2}, "default_pg");
  job.all_call(ring, "nccl:all_reduce", 64, 5);
  job.batch(0, ring, {"nccl:send 0->1", "nccl:recv 0<-2"}, 64);
  job.batch(1, ring, {"nccl:send 1->2", "nccl:recv 1<-0"}, 64);
  job.batch(2, ring, {"nccl:send 2->0", "nccl:recv 2<-1"}, 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::NetworkStall);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
}

// As above, but rank 2 never came: ranks 0 and 1 wait for it, and not for each other.
TEST(Decide, TheRankThatIsMissingFromABatchIsNamed) {
  SmallJob job(3);
  const int ring = job.add_group("0", {0, 1, 2}, "default_pg");
  job.all_call(ring, "nccl:all_reduce", 64, 5);
  job.batch(0, ring, {"nccl:send 0->1", "nccl:recv 0<-2"}, 64);
  job.batch(1, ring, {"nccl:send 1->2", "nccl:recv 1<-0"}, 64);
  EXPECT_THAT(job.verdict().best.culprits, ElementsAre(2));
}

// Rank 0 sends to rank 3 and rank 5 waits in the world; neither 3 nor 4 left a dump. A missing rank 3 explains both
// waits.
TEST(Decide, TheRankThatOwesTheOtherHalfOfATransferIsNamedBeforeOtherLostRanks) {
  SmallJob job(6);
  const int world = job.add_group("0", {0, 1, 2, 3, 4, 5}, "default_pg");
  const int pair = job.add_group("1", {0, 3}, "pipeline");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  job.call(0, pair, "nccl:send 0->1", 64);
  for (const int rank : {1, 2, 5}) job.call(rank, world, "nccl:all_reduce", 64);
  job.lose(3);
  job.lose(4);
  EXPECT_THAT(job.verdict().best.culprits, ElementsAre(3));
}

// Rank 0 waits in call 6 by its dump; ranks 1 and 2 have ended it, which they cannot without rank 0, and made
// a seventh since. Rank 0's dump is the older one.
TEST(Decide, ACallThatOthersHaveGonePastShowsAnOlderDumpWithGloo) {
  SmallJob job(3);
  const int world = job.add_group("0", {0, 1, 2}, "default_pg");
  job.all_call(world, "gloo:all_reduce", 64, 5);
  job.call(0, world, "gloo:all_reduce", 64);
  for (const int rank : {1, 2}) {
    job.call(rank, world, "gloo:all_reduce", 64, true);
    job.call(rank, world, "gloo:all_reduce", 64);
  }
  EXPECT_EQ(job.verdict().best.kind, Kind::NotAHang);
}

// Gloo's recorder omits transfers, so the absence of pending calls does not prove that the job is healthy.
TEST(Decide, NoPendingCallIsUncertainIfTheRecorderOmitsCalls) {
  SmallJob job(2);
  const int world = job.add_group("0", {0, 1}, "default_pg");
  job.all_call(world, "gloo:all_reduce", 64, 5);
  EXPECT_EQ(job.verdict().best.kind, Kind::NotAHang);
  EXPECT_LT(job.verdict().best.confidence, 0.8);
}

// Ranks 0-2 pass 64 elements, rank 3 passes 63: three against one.
TEST(Decide, TheFewRanksWithAnotherSizeAreCulprits) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 1, 2}) job.call(rank, world, "nccl:all_reduce", 64);
  job.call(3, world, "nccl:all_reduce", 63);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::ShapeMismatch);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(3));
}

// Rank 0 once sends 63 elements, which complete at once, and waits in the next message; rank 1 waits for 64.
TEST(Decide, TheRankThatSentAnotherLengthIsNamedThoughItIsAtTheNextMessage) {
  SmallJob job(2);
  const int pair = job.add_group("1", {0, 1}, "pipeline");
  for (int i = 0; i < 5; ++i) {
    job.call(0, pair, "nccl:send 0->1", 64, true);
    job.call(1, pair, "nccl:recv 1<-0", 64, true);
  }
  job.call(0, pair, "nccl:send 0->1", 63, true);
  job.call(0, pair, "nccl:send 0->1", 64);
  job.call(1, pair, "nccl:recv 1<-0", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::ShapeMismatch);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(0));
}

TEST(Decide, OneAgainstOneWithoutAHabitNamesNoRank) {
  SmallJob job(2);
  const int world = job.add_group("0", {0, 1}, "default_pg");
  job.call(0, world, "nccl:all_reduce", 64);
  job.call(1, world, "nccl:broadcast", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::OpMismatch);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
  EXPECT_THAT(verdict.best.suspects, ElementsAre(0, 1));
  EXPECT_LT(verdict.best.confidence, 0.8);
  EXPECT_THAT(verdict.best.missing, testing::Not(IsEmpty()));
}

// Both ranks call all_reduce(8) and all_reduce(64) alternately; then rank 1 repeats all_reduce(8).
TEST(Decide, OneAgainstOneIsDecidedByEarlierCalls) {
  SmallJob job(2);
  const int world = job.add_group("0", {0, 1}, "default_pg");
  for (int i = 0; i < 4; ++i) {
    job.all_call(world, "nccl:all_reduce", 8);
    job.all_call(world, "nccl:all_reduce", 64);
  }
  job.all_call(world, "nccl:all_reduce", 8);
  job.call(0, world, "nccl:all_reduce", 64);
  job.call(1, world, "nccl:all_reduce", 8);
  const Verdict verdict = job.verdict();
  EXPECT_THAT(verdict.best.culprits, ElementsAre(1));
  EXPECT_LT(verdict.best.confidence, 0.8);
}

// Ranks 0-3 call all_reduce and ranks 4-7 broadcast. Only rank 0 has earlier calls, which show that its all_reduce was due;
// ranks without earlier calls do not make it unusual.
TEST(Decide, RanksWithoutAHabitDoNotChangeTheHabitOfTheirSide) {
  SmallJob job(8);
  const int world = job.add_group("0", {0, 1, 2, 3, 4, 5, 6, 7}, "dp");
  const int solo = job.add_group("1", {0}, "dp");
  for (int i = 0; i < 4; ++i) {
    job.all_call(solo, "nccl:all_reduce", 8);
    job.all_call(solo, "nccl:all_reduce", 64);
  }
  job.all_call(solo, "nccl:all_reduce", 8);
  for (const int rank : {0, 1, 2, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  for (const int rank : {4, 5, 6, 7}) job.call(rank, world, "nccl:broadcast", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::OpMismatch);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
  EXPECT_THAT(verdict.best.suspects, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// Rank 3 enters the world first, rank 2 the pair first: each waits for the other.
TEST(Decide, TwoGroupsEnteredInOppositeOrdersAreACycle) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  const int first = job.add_group("1", {0, 1}, "tensor");
  const int second = job.add_group("2", {2, 3}, "tensor");
  for (int i = 0; i < 5; ++i) {
    job.all_call(first, "gloo:all_reduce", 8);
    job.all_call(second, "gloo:all_reduce", 8);
    job.all_call(world, "gloo:all_reduce", 64);
  }
  job.all_call(first, "gloo:all_reduce", 8);
  for (const int rank : {0, 1, 3}) job.call(rank, world, "gloo:all_reduce", 64);
  job.call(2, second, "gloo:all_reduce", 8);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::DeadlockCycle);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(3)) << "its habit is the pair before the world";
}

TEST(Decide, AChainIsFollowedToTheUnblockedRank) {
  SmallJob job(4);
  const int left = job.add_group("1", {0, 1});
  const int middle = job.add_group("2", {1, 2});
  const int right = job.add_group("3", {2, 3});
  for (const int group : {left, middle, right}) job.all_call(group, "gloo:all_reduce", 8, 3);
  job.call(0, left, "gloo:all_reduce", 8);
  job.call(1, middle, "gloo:all_reduce", 8);
  job.call(2, right, "gloo:all_reduce", 8);
  EXPECT_THAT(job.verdict().best.culprits, ElementsAre(3));
}

TEST(Decide, EqualCallsPendingOnAllRanksAreAStallWithoutACulprit) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 1, 2, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::NetworkStall);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
}

TEST(Decide, ALostDumpIsNamedButNeverWithConfidence) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  for (const int rank : {0, 1, 2}) job.call(rank, world, "nccl:all_reduce", 64);
  job.lose(3);
  const Verdict verdict = job.verdict();
  EXPECT_THAT(verdict.best.culprits, ElementsAre(3));
  EXPECT_LT(verdict.best.confidence, 0.8);
}

TEST(Decide, AFinishedJobIsNotAHang) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 5);
  EXPECT_EQ(job.verdict().best.kind, Kind::NotAHang);
}

// Rank 1 has ended call 4 and gone on to 5; rank 0's dump ends at 3, so it is simply older.
TEST(Decide, DumpsOfDifferentMomentsGiveNoCulprit) {
  SmallJob job(2);
  const int world = job.add_group("0", {0, 1}, "default_pg");
  job.all_call(world, "gloo:all_reduce", 64, 3);
  job.call(1, world, "gloo:all_reduce", 64, true);
  job.call(1, world, "gloo:all_reduce", 64, true);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::NotAHang);
  EXPECT_THAT(verdict.best.culprits, IsEmpty());
}

TEST(Decide, TwoReceivesThatFaceEachOtherAreUnmatched) {
  SmallJob job(2);
  const int pair = job.add_group("1", {0, 1}, "pipeline");
  for (int i = 0; i < 3; ++i) {
    job.call(0, pair, "nccl:send 0->1", 8, true);
    job.call(1, pair, "nccl:recv 1<-0", 8, true);
  }
  job.call(0, pair, "nccl:recv 0<-1", 8);
  job.call(1, pair, "nccl:recv 1<-0", 8);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::P2pUnmatched);
  EXPECT_LT(verdict.best.confidence, 0.8);
}

// Calls 3 and 4 are pending on rank 1 only: the others ended them, which they could not have done without it.
TEST(Decide, AStuckDeviceIsFoundThoughItsHostContinues) {
  SmallJob job(3);
  const int world = job.add_group("0", {0, 1, 2}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 2);
  for (int i = 0; i < 2; ++i) {
    for (const int rank : {0, 2}) job.call(rank, world, "nccl:all_reduce", 64, true);
    job.call(1, world, "nccl:all_reduce", 64);
  }
  for (const int rank : {0, 1, 2}) job.call(rank, world, "nccl:all_reduce", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::DeadRank);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(1));
}

// Rank 2 was stopped in call 3 of a ring: its earlier messages let 0 and 1 finish the call, but not rank 3 after it.
TEST(Decide, ARankAfterASilentRankInARingIsNotStuckItself) {
  SmallJob job(4);
  const int world = job.add_group("0", {0, 1, 2, 3}, "default_pg");
  job.all_call(world, "nccl:all_reduce", 64, 2);
  for (const int rank : {0, 1}) {
    job.call(rank, world, "nccl:all_reduce", 64, true);
    job.call(rank, world, "nccl:all_reduce", 64);
  }
  for (const int rank : {2, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  job.lose(2);
  EXPECT_THAT(job.verdict().best.culprits, ElementsAre(2));
}

// 6 ranks have all made broadcast 5 of the whole job; then rank 4 alone calls its pair, {4, 5}: rank 5 is idle where
// all other ranks are.
TEST(Decide, OneThatWaitsWhileAllOthersAreIdleAtOnePlaceIsAheadOfThem) {
  SmallJob job(6);
  const int world = job.add_group("0", {0, 1, 2, 3, 4, 5}, "default_pg");
  const int pair = job.add_group("1", {4, 5}, "tensor");
  job.all_call(pair, "nccl:all_reduce", 64, 3);
  job.all_call(world, "nccl:broadcast", 64, 5);
  job.call(4, pair, "nccl:all_reduce", 64);
  const Verdict verdict = job.verdict();
  EXPECT_EQ(verdict.best.kind, Kind::DivergedControlFlow);
  EXPECT_THAT(verdict.best.culprits, ElementsAre(4));
  EXPECT_LT(verdict.best.confidence, 0.8);
}

}  // namespace
}  // namespace ringside::hang
