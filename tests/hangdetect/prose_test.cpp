#include "diag/hangdetect/readers/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/hang_class.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;

struct Sentence {
  std::string text;
  HangClass kind = HangClass::Unknown;  ///< Unknown: it accuses nobody
  std::vector<int> ranks = {};
};

class SentencesOfPeople : public testing::TestWithParam<Sentence> {};

TEST_P(SentencesOfPeople, AccuseWhomTheyNameAndNobodyElse) {
  const auto found = read_sentence(GetParam().text);
  if (GetParam().kind == HangClass::Unknown) {
    EXPECT_TRUE(found.empty()) << GetParam().text << " " << found.front().ranks.front();
    return;
  }
  ASSERT_EQ(found.size(), 1U) << GetParam().text;
  EXPECT_EQ(found[0].ranks, GetParam().ranks) << GetParam().text;
  EXPECT_EQ(found[0].code, static_cast<int>(GetParam().kind)) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, SentencesOfPeople,
    testing::Values(
        Sentence{"ranks 0-6 are in allreduce, rank 7 is in save_checkpoint.",
                 HangClass::MissingRank,
                 {7}},
        Sentence{"Rank 0 is still saving while ranks 1 to 3 wait in barrier",
                 HangClass::MissingRank,
                 {0}},
        Sentence{"Ranks 0, 1 and 2 print \"before\", only rank 3 never prints it",
                 HangClass::MissingRank,
                 {3}},
        Sentence{"all but one are at SeqNum=812, rank 5 is at 811", HangClass::MissingRank, {5}},
        Sentence{"Everyone is in ALLREDUCE seq 20881 except rank 12, which is still at 20880",
                 HangClass::MissingRank,
                 {12}},
        Sentence{"all ranks except rank 5 are in the barrier", HangClass::MissingRank, {5}},
        Sentence{"rank 3 doesn't reach the barrier, all others do", HangClass::MissingRank, {3}},
        Sentence{"all other ranks are waiting in all_gather but rank 9 is stuck in the dataloader",
                 HangClass::MissingRank,
                 {9}},
        Sentence{"ranks 0-6 hang in all_reduce, rank 7 in all_gather",
                 HangClass::DivergedControlFlow,
                 {7}},
        Sentence{"they are all waiting in barrier() and rank 0 is still writing",
                 HangClass::MissingRank,
                 {0}},
        Sentence{"rank 2 was killed by the OOM killer", HangClass::DeadRank, {2}},
        Sentence{"ranks 4 and 5 are one step behind the others", HangClass::MissingRank, {4, 5}}),
    [](const auto& one) { return std::to_string(one.index); });

INSTANTIATE_TEST_SUITE_P(
    Nothing, SentencesOfPeople,
    testing::Values(Sentence{"All 8 ranks are stuck in the same all_reduce."},
                    Sentence{"Is rank 3 in save_checkpoint while the others wait in barrier?"},
                    Sentence{"If rank 0 never reaches the barrier, all others wait."},
                    Sentence{"only rank 0 prints the loss"},
                    Sentence{"ranks 0-3 are on node 1 and ranks 4-7 on node 2"},
                    Sentence{"rank 0 saves the checkpoint at step 100"},
                    Sentence{"Every rank should call the collective in the same order as rank 0"},
                    Sentence{"half of the ranks hang in all_reduce, half in all_gather"},
                    Sentence{"ranks 0-3 wait in all_reduce and ranks 4-7 wait in broadcast"},
                    Sentence{"local rank 3 died"},
                    Sentence{"the GPU of rank 3 is at 100 %, the others are at 0 %"}),
    [](const auto& one) { return std::to_string(one.index); });

std::vector<LogStatement> prose(const std::string& text) {
  const auto lines = read_paste(text);
  return read_prose(lines, std::vector<bool>(lines.size()), "paste.txt");
}

// A sentence may be broken anywhere; a list has a line for each.
TEST(Prose, SentencesGoOnAndListsAreRead) {
  const auto broken =
      prose("It hangs:\nranks 0-6 are in\nallreduce, rank 7 is in\nsave_checkpoint\n");
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_THAT(broken[0].ranks, ElementsAre(7));
  const auto list =
      prose("We see\n\n- ranks 0-2: all_reduce\n- rank 3: dataloader\n- ranks 4-7: all_reduce\n");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_THAT(list[0].ranks, ElementsAre(3));
  EXPECT_EQ(list[0].line, 3);
}

// What ranks log one after another is no summary.
TEST(Prose, ALogOfRanksIsNoList) {
  EXPECT_TRUE(
      prose("rank 0: entering barrier\nrank 1: loading shard\nrank 1: entering barrier\n").empty());
  EXPECT_TRUE(prose("[rank0]: rank 3 never reaches the barrier, all others do\n").empty());
}

TEST(Prose, WhateverItIsGivenItEnds) {
  EXPECT_TRUE(read_sentence("").empty());
  EXPECT_TRUE(read_sentence("rank").empty());
  EXPECT_TRUE(read_sentence("ranks 0-99999999999999999999 died").empty());
  EXPECT_TRUE(prose(std::string(1 << 16, 'r') + "\nall but\nexcept rank 9").empty());
}

}  // namespace
}  // namespace ringside::hang
