#include "diag/hangdetect/readers/end_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/logparse/parse_logs.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What the endings in a text are.
class Ends : public logs::RecordSink {
 public:
  explicit Ends(const std::string& text) { logs::parse_text(text, *this); }
  void take(std::span<const logs::Record> records, const logs::SpeakerTable&) override {
    for (const logs::Record& record : records) {
      if (record.kind == logs::RecordKind::Message) ends_.take_message(record, -1);
    }
  }
  [[nodiscard]] const std::vector<LogStatement>& all() const { return facts_.statements; }

 private:
  LogFacts facts_;
  Statements statements_{facts_};
  EndLines ends_{statements_};
};

// srun ends the others once task 11 has fallen; their ends say nothing of the cause.
TEST(EndLines, WhatFallsAfterSrunHasEndedTheStepIsNoCause) {
  const Ends ends(
      "srun: error: b12: task 11: Segmentation fault (core dumped)\nsrun: Terminating "
      "StepId=771.0\nsrun: error: b11: "
      "tasks 0-7: Killed\nsrun: error: b12: tasks 8-10: Terminated\n");
  ASSERT_EQ(ends.all().size(), 1U);
  EXPECT_THAT(ends.all()[0].ranks, ElementsAre(11));
  EXPECT_EQ(ends.all()[0].code, -11);
}

TEST(EndLines, ATaskThatTheKernelKilledForMemoryIsNamed) {
  const Ends ends("srun: error: r07: task 5: Out Of Memory\n");
  ASSERT_EQ(ends.all().size(), 1U);
  EXPECT_THAT(ends.all()[0].ranks, ElementsAre(5));
  EXPECT_EQ(ends.all()[0].code, -9);
}

TEST(EndLines, ALauncherOfOneHostKnowsLocalRanksOnly) {
  const Ends ends(
      "torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9) local_rank: 1 "
      "(pid: "
      "15527) of binary: /usr/bin/python\n");
  ASSERT_EQ(ends.all().size(), 1U);
  EXPECT_EQ(ends.all()[0].what, LogStatement::What::EndedLocal);
  EXPECT_THAT(ends.all()[0].ranks, ElementsAre(1));
}

TEST(EndLines, AnAbortIsAConsequenceAndNamesNobody) {
  EXPECT_THAT(Ends("n01.cluster: rank 3 died from signal 6 and dumped core\n").all(), IsEmpty());
  EXPECT_THAT(Ends("n01.cluster: rank 3 died from signal 15\n").all(), IsEmpty());
}

TEST(EndLines, ASignalIsTheOneThatTheLineNames) {
  const Ends ends("n01.cluster: rank 3 died from signal 7 and dumped core\n");
  ASSERT_EQ(ends.all().size(), 1U);
  EXPECT_EQ(ends.all()[0].code, -7);
}

TEST(EndLines, AContainerThatIsNotStartedAgainTellsOfNoDeath) {
  EXPECT_THAT(Ends("Warning  BackOff  Back-off restarting failed container\n").all(), IsEmpty());
  const Ends ends("    Reason:       OOMKilled\n");
  ASSERT_EQ(ends.all().size(), 1U);
  EXPECT_EQ(ends.all()[0].detail, kNoMemory);
}

}  // namespace
}  // namespace ringside::hang
