// What reports, one after the other, show of a job.

#include "harness/attach/job_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/attach/fake_service.h"

namespace ringside::attach {
namespace {

using testing::HasSubstr;

JobReport report_of(const std::vector<int>& launched) {
  return *JobReport::read({.text = ras_json(launched), .is_json = true, .protocol = 2});
}

JobState state_after(const std::vector<std::vector<int>>& reports) {
  Movement movement(3);
  for (const std::vector<int>& one : reports) movement.add(report_of(one));
  return movement.state();
}

TEST(Movement, ThreeReportsInARowDecide) {
  EXPECT_EQ(state_after({{4, 4}, {5, 5}}), JobState::Unknown);
  EXPECT_EQ(state_after({{4, 4}, {5, 5}, {6, 6}}), JobState::Moves);
  EXPECT_EQ(state_after({{4, 4}, {5, 4}, {5, 4}, {5, 4}}), JobState::Still);
}

// -1: the rank does not answer. The others launch a few more calls, until they wait for it.
TEST(Movement, CallsFromBeforeARankWentSilentAreNoProgress) {
  EXPECT_EQ(state_after({{4, 4, 4}, {5, 5, 5}, {6, 6, -1}}), JobState::Unknown);
  EXPECT_EQ(state_after({{4, 4, 4}, {5, 5, 5}, {6, 6, -1}, {6, 6, -1}, {6, 6, -1}}),
            JobState::Still);
  // They go on without it: it is RAS alone that does not reach it.
  EXPECT_EQ(state_after({{4, 4, 4}, {5, 5, -1}, {6, 6, -1}, {7, 7, -1}}), JobState::Moves);
}

TEST(Pauses, TheSecondLongestIsUsual) {
  Pauses pauses(6);
  EXPECT_EQ(pauses.limit(), 6);
  pauses.add(4);
  EXPECT_EQ(pauses.limit(), 6) << "one pause shows nothing";
  pauses.add(2);
  EXPECT_EQ(pauses.limit(), 3);
  pauses.add(60);
  EXPECT_EQ(pauses.limit(), 6) << "a checkpoint, once";
  pauses.add(40);
  EXPECT_EQ(pauses.limit(), 60);
}

TEST(ProgressText, NamesTheCommunicatorTheSpreadAndTheRanks) {
  EXPECT_THAT(progress_text(*report_of({7, 7, 7}).parsed),
              HasSubstr("of 3 ranks: 7 calls launched by each"));
  EXPECT_THAT(progress_text(*report_of({7, 5, 5, -1}).parsed),
              HasSubstr("of 4 ranks: 5 to 7 calls launched, fewest by ranks 1, 2; rank 3 does not "
                        "answer"));
  EXPECT_THAT(progress_text(*report_of({9, 1, 1, 1, 1, 1, 1}).parsed),
              HasSubstr("fewest by ranks 1, 2, 3, 4 and 2 more"));
  EXPECT_EQ(progress_text({}), "no communicator");
}

}  // namespace
}  // namespace ringside::attach
