#include "study/scenario/pytorch_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/python_string.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using testing::HasSubstr;
using testing::Not;
using Kind = OutlineStep::Kind;

/// Four ranks, and pairs of them.
Reproduction pairs_job() {
  Reproduction made;
  made.scenario.outline.name = "job";
  made.scenario.outline.ranks = 4;
  made.scenario.outline.families = {{"world", "default_pg", {{0, 1, 2, 3}}},
                                    {"pairs", "undefined", {{0, 1}, {2, 3}}}};
  return made;
}

/// The script from the first call on.
std::string calls_of(const Reproduction& made) {
  const std::string text = pytorch_script(made);
  return text.substr(text.rfind("\n\n\n") + 3);
}

TEST(PytorchScript, EachKindOfCallIsALineAndAlikeOnesAreALoop) {
  auto made = pairs_job();
  made.scenario.outline.steps = {
      {.op = Op::AllReduce, .count = 100},
      {.op = Op::AllReduce, .count = 100},
      {.op = Op::Broadcast, .family = 1, .count = 3, .type = DataType::Int64, .from = 1},
      {.op = Op::AllToAll, .count = 10},  // 10 elements of a rank for 4 ranks: 3 for each
      {.op = Op::Barrier},
      {.kind = Kind::Transfer, .count = 5, .from = 0, .to = 2},
      {.kind = Kind::Shift, .count = 6, .to = -1, .bundle = 1},
      {.kind = Kind::Shift, .count = 7, .to = 1, .bundle = 1},
  };
  EXPECT_EQ(calls_of(made),
            "for _ in range(2):\n"
            "    wait(all_reduce(\"world\", 100, torch.float32))\n"
            "wait(broadcast(\"pairs\", 1, 3, torch.int64))\n"
            "wait(all_to_all(\"world\", 3, torch.float32))\n"
            "wait(barrier(\"world\"))\n"
            "wait(transfer(\"world\", 0, 2, 5, torch.float32))\n"
            "wait(shift(\"world\", -1, 6, torch.float32), shift(\"world\", 1, 7, torch.float32))\n"
            "dist.destroy_process_group()\n");
  EXPECT_THAT(pytorch_script(made), Not(HasSubstr("def reduce_scatter")))
      << "it defines what it calls";
}

TEST(PytorchScript, StepsOfOneRankAndCallsThatAreNotWaitedForKeepTheirRankAndOrder) {
  auto made = pairs_job();
  made.scenario.outline.steps = {
      {.op = Op::AllReduce, .count = 1, .async = true},
      {.op = Op::AllReduce, .count = 2, .at = OutlineStep::Place{.family = 0, .rank = 3}},
      {.op = Op::AllReduce,
       .family = 1,
       .count = 4,
       .at = OutlineStep::Place{.family = 1, .rank = 1}},
      {.kind = Kind::Synchronize},
  };
  EXPECT_EQ(calls_of(made),
            "later(all_reduce(\"world\", 1, torch.float32))\n"
            "if rank == 3:\n"
            "    wait(all_reduce(\"world\", 2, torch.float32))\n"
            "if is_member(\"pairs\", 1):\n"
            "    wait(all_reduce(\"pairs\", 4, torch.float32))\n"
            "wait(*pending)\n"
            "dist.destroy_process_group()\n");
}

TEST(PytorchScript, ARankThatEndsDoesSoBeforeItsCall) {
  auto made = pairs_job();
  made.scenario.outline.steps = {{.op = Op::AllReduce, .count = 1},
                                 {.op = Op::AllReduce, .count = 2}};
  made.scenario.faults.faults = {{.kind = FaultKind::Kill, .rank = 2, .call = 1},
                                 {.kind = FaultKind::Stall, .rank = 3, .call = 0}};
  EXPECT_EQ(calls_of(made),
            "if rank == 3:\n"
            "    stay_away()\n"
            "wait(all_reduce(\"world\", 1, torch.float32))\n"
            "if rank == 2:\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
            "wait(all_reduce(\"world\", 2, torch.float32))\n"
            "dist.destroy_process_group()\n");
}

// Pairs of ranks 2 and 3 are the third group that the script makes: 0 is the world.
TEST(PytorchScript, AFailedConnectionIsAnOptionWithTheGroupsNumber) {
  auto made = pairs_job();
  made.scenario.outline.steps = {{.op = Op::AllReduce, .family = 1, .count = 1}};
  made.scenario.faults.faults = {
      {.kind = FaultKind::StallLink, .on = "pairs", .from = 3, .to = 2, .step = 4}};
  EXPECT_EQ(fault_options(made), "--fault stall_link:on=2,from=3,to=2,step=4");
  EXPECT_EQ(script_command(made, "a.py"),
            "ringside run a.py -n 4 --timeout 10 --fault stall_link:on=2,from=3,to=2,step=4");
  EXPECT_THAT(pytorch_script(made), HasSubstr("#     " + script_command(made, "FILE") + "\n"));
}

// Names come from dumps. Those of groups are literals; the one of a fault would be in a comment and in a command line.
TEST(PytorchScript, NamesAndTextsOfTheEvidenceStayData) {
  const std::string hostile = "x\"}\nos.system('id')  # \\";
  auto made = pairs_job();
  made.scenario.about = hostile;
  made.unknown = {hostile};
  made.scenario.outline.families[1].name = hostile;
  made.scenario.outline.steps = {{.op = Op::AllReduce, .family = 1, .count = 1}};
  // Ranks 0 and 2 are in no group of that name.
  made.scenario.faults.faults = {{.kind = FaultKind::StallLink, .on = hostile, .from = 0, .to = 2}};
  const std::string text = pytorch_script(made);
  const std::string literal = python_string(hostile);
  EXPECT_THAT(text, HasSubstr("ABOUT = " + literal + "\n"));
  EXPECT_THAT(text, HasSubstr("NOT_KNOWN = [\n    " + literal + ",\n]"));
  EXPECT_THAT(text, HasSubstr("    " + literal + ": [[0, 1], [2, 3]],\n"));
  EXPECT_THAT(text, HasSubstr("wait(all_reduce(" + literal + ", 1, torch.float32))\n"));
  EXPECT_THAT(text, Not(HasSubstr("\nos.system")));
  EXPECT_EQ(fault_options(made), "--fault stall_link:from=0,to=2");
}

TEST(PytorchScript, CountsTooLargeForOneMachineStayDifferent) {
  auto made = pairs_job();
  made.scenario.outline.steps = {{.op = Op::AllReduce, .count = std::int64_t{1} << 30},
                                 {.op = Op::AllReduce, .count = (std::int64_t{1} << 30) + 1}};
  const std::string calls = calls_of(made);
  EXPECT_THAT(calls, Not(HasSubstr("range(2)"))) << calls;
  EXPECT_THAT(calls, Not(HasSubstr("1073741824"))) << calls;
}

}  // namespace
}  // namespace ringside::study
