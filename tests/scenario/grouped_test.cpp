#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/faults/fault_text.h"
#include "harness/hangs/program.h"
#include "harness/scenario/plan_faults.h"
#include "harness/scenario/scenario.h"

namespace ringside {
namespace {

using hangs::Op;
using hangs::Step;
using testing::HasSubstr;

std::string grouped_text(const std::string& steps, const std::string& more = "") {
  return "ringside: scenario/1\nname: g\nranks: 8\niterations: 3\ngroups: {ring: [0-3, 4-7]}\n"
         "steps:\n" +
         steps + more;
}

Scenario grouped_scenario(const std::string& steps, const std::string& more = "") {
  const auto scenario = parse_scenario(grouped_text(steps, more), "s.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message << scenario.error().help;
  return *scenario;
}

std::string grouped_refusal(const std::string& step) {
  const auto scenario = parse_scenario(grouped_text("- " + step + "\n"), "s.yaml");
  return scenario ? "accepted" : scenario.error().message + " | " + scenario.error().help;
}

TEST(GroupedYaml, RefusesInvalidStepsAndNamesTheLine) {
  const std::string transfer = "transfer: {on: ring, from: 0, to: 1, count: 3}";
  const std::string reduce = "all_reduce: {on: ring, count: 3}";
  EXPECT_EQ(grouped_refusal("grouped: {calls: [" + transfer + "]}"), "accepted");
  EXPECT_THAT(grouped_refusal("grouped: {calls: [" + transfer + ", " + reduce + "]}"),
              HasSubstr("s.yaml:7: grouped calls are one kernel of one communicator"));
  EXPECT_THAT(
      grouped_refusal("grouped: {calls: [" + reduce + ", all_reduce: {on: world, count: 3}]}"),
      HasSubstr("one communicator"));
  EXPECT_THAT(grouped_refusal("grouped: {calls: [" + transfer + ", " + transfer + "]}"),
              HasSubstr("two grouped transfers from 0 to 1"));
  EXPECT_THAT(grouped_refusal("grouped: {calls: [kernel: 1ms]}"), HasSubstr("grouped are calls"));
  EXPECT_THAT(grouped_refusal("grouped: {calls: [grouped: {calls: [join]}]}"),
              HasSubstr("grouped are calls"));
  EXPECT_THAT(grouped_refusal("grouped: {calls: [repeat: {times: 2, steps: [join]}]}"),
              HasSubstr("grouped are calls"));
  EXPECT_THAT(grouped_refusal("grouped: {calls: []}"), HasSubstr("calls must be a list"));
  EXPECT_THAT(grouped_refusal("grouped: [" + transfer + "]"),
              HasSubstr("grouped must be a mapping"));
  EXPECT_THAT(grouped_refusal("grouped: {calls: [all_reduce: {on: ring, count: 3, async: yes}]}"),
              HasSubstr("set it for the whole"));
  EXPECT_THAT(grouped_refusal("send_recv: {on: ring, count: 3, by: 4}"), HasSubstr("-3 to 3"));
  EXPECT_THAT(grouped_refusal("send_recv: {on: ring, count: 3, by: 0}"), HasSubstr("with itself"));
  EXPECT_THAT(grouped_refusal("join: {stream: never}"), HasSubstr("no step is on stream 'never'"));
  EXPECT_THAT(grouped_refusal("grouped"), HasSubstr("'grouped' is not a step by itself"));
  EXPECT_THAT(grouped_refusal("kernel: {time: 1ms, stream: a b}"),
              HasSubstr("cannot name a stream"));
}

/// Calls 0 to 2 of an iteration are a ring, an exchange between two, and a call of all ranks.
constexpr const char* kGroupedSteps =
    "- send_recv: {on: ring, count: 4096}\n"
    "- grouped: {calls: [transfer: {on: ring, from: 0, to: 1, count: 64}, transfer: {on: ring, "
    "from: 1, to: 0, count: 64}]}\n"
    "- all_reduce: {on: world, count: 128}\n";

std::vector<Op> ops_with(const std::string& fault, int rank, int iteration) {
  hangs::Program program = hangs::make_program(grouped_scenario(kGroupedSteps).outline);
  const auto parsed = parse_fault(fault);
  EXPECT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(plan_faults({.seed = 1, .faults = {*parsed}}, program));
  std::vector<Op> ops;
  const auto& body = program.programs[static_cast<std::size_t>(rank)].body_of(iteration);
  for (std::size_t i = 0; i < body.size(); ++i) {
    ops.push_back(body[i].kind == Step::Kind::Halt ? Op::Barrier : body[i].op);
  }
  return ops;
}

// As on real ranks, the sends and receives of a group are one call of the communicator.
TEST(GroupedFaults, StepsThatBeginTogetherAreOneCall) {
  using enum Op;
  EXPECT_EQ(ops_with("skip:rank=1,call=4", 1, 1), (std::vector<Op>{Send, Recv, AllReduce}));
  EXPECT_EQ(ops_with("skip:rank=1,call=5", 1, 1), (std::vector<Op>{Send, Recv, Recv, Send}));
  EXPECT_EQ(ops_with("kill:rank=1,call=4", 1, 1), (std::vector<Op>{Send, Recv, Barrier}));
  EXPECT_EQ(ops_with("reorder:rank=1,call=4", 1, 1),
            (std::vector<Op>{Send, Recv, AllReduce, Recv, Send}));
  EXPECT_EQ(ops_with("add:rank=1,call=3", 1, 1),
            (std::vector<Op>{Send, Recv, Send, Recv, Recv, Send, AllReduce}));
}

TEST(GroupedFaults, AChangedCountIsThatOfAllItsTransfers) {
  hangs::Program program = hangs::make_program(grouped_scenario(kGroupedSteps).outline);
  const auto parsed = parse_fault("wrong_count:rank=2,call=2,count=77");
  ASSERT_TRUE(parsed);
  ASSERT_TRUE(plan_faults({.seed = 1, .faults = {*parsed}}, program));
  const auto& body = program.programs[2].body_of(1);
  EXPECT_EQ(body[0].count, 77);
  EXPECT_EQ(body[1].count, 77);
}

// Rank 0's first send to rank 1 has 16 KiB, its second one, in the grouped transfers, 256 B: a fault beyond 16 KiB is
// in the second one.
TEST(GroupedFaults, AConnectionThatFailsLosesATransfer) {
  const auto lost = [](const std::string& after) {
    hangs::Program program = hangs::make_program(grouped_scenario(kGroupedSteps).outline);
    const auto parsed = parse_fault("stall_link:from=0,to=1,after=" + after);
    EXPECT_TRUE(parsed) << parsed.error().message;
    const auto planned = plan_faults({.seed = 1, .faults = {*parsed}}, program);
    EXPECT_TRUE(planned) << planned.error().message;
    return planned->network;
  };
  EXPECT_EQ(lost("0").sender, 0);
  EXPECT_EQ(lost("0").receiver, 1);
  EXPECT_EQ(lost("0").seq, 1);
  EXPECT_EQ(lost("16384").seq, 2);
  EXPECT_EQ(lost("16640").sender, -1);  // then the first all_reduce
}

TEST(GroupedFaults, CallsMadeTwiceBeginOneAfterTheOther) {
  hangs::Program program = hangs::make_program(grouped_scenario(kGroupedSteps).outline);
  const auto parsed = parse_fault("add:rank=1,call=3");
  ASSERT_TRUE(parsed);
  ASSERT_TRUE(plan_faults({.seed = 1, .faults = {*parsed}}, program));
  EXPECT_EQ(hangs::bundle_length(program.programs[1].body_of(1), 0), 2U);
}

}  // namespace
}  // namespace ringside
