#include "harness/scenario/plan_faults.h"

#include <gtest/gtest.h>

#include "engine/faults/fault_text.h"
#include "harness/scenario/scenario.h"

namespace ringside {
namespace {

using hangs::Step;
using Kind = hangs::Step::Kind;

hangs::Program program_of(const char* steps) {
  const auto scenario =
      parse_scenario(std::string("ringside: scenario/1\nname: x\nparallel: {tensor: 2, data: "
                                 "2}\niterations: 4\nsteps:\n") +
                         steps,
                     "x.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  return hangs::make_program(scenario->outline);
}

constexpr const char* kSteps =
    "- all_reduce: {on: tensor, count: 10}\n- all_gather: {on: data, count: 20}\n- broadcast: {on: "
    "world, root: 0, count: 30}\n";

Result<PlannedFaults> plan(const char* fault, hangs::Program& program,
                           std::optional<Seconds> patience = {}) {
  const auto parsed = parse_fault(fault);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return plan_faults({.seed = 1, .faults = {*parsed}}, program, patience);
}

// A rank that would come after the watchdog has reported never comes.
TEST(PlanFaults, ALateRankIsAbsentOncePatienceEnds) {
  for (const double patience : {2.0, 1.0}) {
    hangs::Program program = program_of(kSteps);
    ASSERT_TRUE(plan("late:rank=1,call=4,by=1500ms", program, Seconds{patience}));
    const auto& body = program.programs[1].body_of(1);
    EXPECT_EQ(body.back().kind, patience < 1.5 ? Kind::Halt : Kind::Call);
  }
}

// The first call that uses the connection takes that much longer; beyond the time-out it never ends.
TEST(PlanFaults, AConnectionStallsForAWhile) {
  const auto longest = [](std::optional<Seconds> patience) {
    hangs::Program program = program_of(kSteps);
    const auto planned = plan("stall_link:from=0,to=1,by=300ms", program, patience);
    EXPECT_TRUE(planned) << planned.error().message;
    const hangs::Play play = hangs::play(program, planned->network, 1, {.is_even = true});
    if (play.is_hung()) return std::int64_t{-1};
    std::int64_t most = 0;
    for (const hangs::Record& one : play.ranks[0].records) {
      most = std::max(most, one.completed - one.moving);
    }
    return most;
  };
  EXPECT_NEAR(static_cast<double>(longest({})), 300e6, 1e6);
  EXPECT_NEAR(static_cast<double>(longest(Seconds{1})), 300e6, 1e6);
  EXPECT_EQ(longest(Seconds{0.2}), -1);
}

// Three calls an iteration: call 4 is the second one's all-gather.
TEST(PlanFaults, ACallIsSkipped) {
  hangs::Program program = program_of(kSteps);
  ASSERT_TRUE(plan("skip:rank=1,call=4", program));
  const hangs::RankProgram& own = program.programs[1];
  EXPECT_EQ(own.odd.size(), 1U);
  ASSERT_EQ(own.body_of(1).size(), 2U);
  EXPECT_EQ(own.body_of(1)[1].op, hangs::Op::Broadcast);
  EXPECT_EQ(own.body_of(0).size(), 3U);
  EXPECT_TRUE(program.programs[0].odd.empty());
}

TEST(PlanFaults, CallsOfOneGroupAreCountedAlone) {
  hangs::Program program = program_of(kSteps);
  ASSERT_TRUE(plan("add:rank=2,call=2,on=data", program));
  const auto& body = program.programs[2].body_of(2);
  ASSERT_EQ(body.size(), 4U);
  EXPECT_EQ(body[1].op, hangs::Op::AllGather);
  EXPECT_EQ(body[2].op, hangs::Op::AllGather);
}

TEST(PlanFaults, APostponedCallFollowsTheNextOneEvenInTheNextIteration) {
  hangs::Program program = program_of(kSteps);
  ASSERT_TRUE(plan("reorder:rank=0,call=2", program));
  EXPECT_EQ(program.programs[0].body_of(0).size(), 2U);
  const auto& next = program.programs[0].body_of(1);
  ASSERT_EQ(next.size(), 4U);
  EXPECT_EQ(next[0].op, hangs::Op::AllReduce);
  EXPECT_EQ(next[1].op, hangs::Op::Broadcast);
}

TEST(PlanFaults, ACallIsChangedAsPlanned) {
  hangs::Program program = program_of(kSteps);
  ASSERT_TRUE(plan("wrong_count:rank=0,call=0,count=11", program));
  EXPECT_EQ(program.programs[0].body_of(0)[0].count, 11);
  ASSERT_TRUE(plan("wrong_root:rank=3,call=2,root=2", program));
  EXPECT_EQ(program.programs[3].body_of(0)[2].peer, 2);
  ASSERT_TRUE(plan("wrong_collective:rank=2,call=0,collective=reduce_scatter", program));
  EXPECT_EQ(program.programs[2].body_of(0)[0].op, hangs::Op::ReduceScatter);
}

TEST(PlanFaults, ARankEndsAsPlanned) {
  const std::pair<const char*, hangs::Halt> all[] = {
      {"kill:rank=1,call=5", hangs::Halt::Killed},
      {"stop:rank=1,call=5", hangs::Halt::Stopped},
      {"exit:rank=1,call=5", hangs::Halt::Exited},
      {"throw:rank=1,call=5", hangs::Halt::WaitsElsewhere},
      {"stall:rank=1,call=5", hangs::Halt::Busy}};
  for (const auto& [fault, halt] : all) {
    hangs::Program program = program_of(kSteps);
    ASSERT_TRUE(plan(fault, program)) << fault;
    const auto& body = program.programs[1].body_of(1);
    ASSERT_EQ(body.size(), 3U) << fault;
    EXPECT_EQ(body[2].kind, Kind::Halt) << fault;
    EXPECT_EQ(body[2].halt, halt) << fault;
    const hangs::Play play = hangs::play(program, {}, 1, {.call = {}, .is_even = true});
    EXPECT_TRUE(play.is_hung()) << fault;
  }
}

// A fault at a call that is never made changes nothing, and is reported.
TEST(PlanFaults, AFaultThatNeverFiresIsReported) {
  hangs::Program program = program_of(kSteps);
  const auto planned = plan_faults(
      {.seed = 1,
       .faults = {*parse_fault("skip:rank=1,call=999"), *parse_fault("skip:rank=1,call=0")}},
      program);
  ASSERT_TRUE(planned);
  ASSERT_EQ(planned->idle.size(), 1U);
  EXPECT_NE(planned->idle.front().find("fault skip(rank=1, call=999) never fires"),
            std::string::npos)
      << planned->idle.front();
}

// An all-reduce has no root.
TEST(PlanFaults, ReportsAChangeWithoutEffect) {
  hangs::Program program = program_of(kSteps);
  const auto planned = plan("wrong_root:rank=1,call=0,root=1", program);
  ASSERT_TRUE(planned);
  ASSERT_EQ(planned->idle.size(), 1U);
  EXPECT_NE(planned->idle.front().find("wrong_root of rank 1 does not change its all_reduce"),
            std::string::npos)
      << planned->idle.front();
}

TEST(PlanFaults, LateIsNotNever) {
  hangs::Program program = program_of(kSteps);
  ASSERT_TRUE(plan("late:rank=1,call=5,by=5ms", program));
  const hangs::Play play = hangs::play(program, {}, 1, {.call = {}, .is_even = true});
  EXPECT_FALSE(play.is_hung());
  EXPECT_GE(play.ranks[1].records.back().completed, 5'000'000);
}

// Each broadcast of 30 floats sends 120 bytes: the second one exceeds 200 bytes.
TEST(PlanFaults, AConnectionStallsTheCallThatComesToIt) {
  hangs::Program program = program_of(kSteps);
  const auto planned = plan("blackhole:from=0,to=3,after=200,on=world", program);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(program.groups[static_cast<std::size_t>(planned->network.group)].family, 0);
  EXPECT_EQ(planned->network.seq, 2);
  // Ranks 0 and 3 are in no group of tensor.
  EXPECT_FALSE(plan("blackhole:from=0,to=3,on=tensor", program));
}

TEST(PlanFaults, ASlowConnectionTakesItsTime) {
  hangs::Program program = program_of(kSteps);
  const auto planned = plan("slow_link:from=0,to=1,rate=1KB/s,on=tensor", program);
  ASSERT_TRUE(planned) << planned.error().message;
  const Step& call = program.programs[0].body[0];
  const hangs::Group& group = program.groups[static_cast<std::size_t>(call.group)];
  EXPECT_NEAR(slowed(planned->slow, call, group).count(), 0.04, 1e-9);  // 40 bytes
}

TEST(PlanFaults, AConnectionOfOneKindOfGroupsIsSlowInTheirCallsAlone) {
  hangs::Program program = program_of(kSteps);
  const auto planned = plan("slow_link:from=0,to=1,by=1s,on=tensor", program);
  ASSERT_TRUE(planned) << planned.error().message;
  const Step& call = program.programs[0].body[2];  // of all four
  const hangs::Group& group = program.groups[static_cast<std::size_t>(call.group)];
  EXPECT_EQ(slowed(planned->slow, call, group).count(), 0);
  EXPECT_FALSE(plan("slow_link:from=0,by=1s,on=tensors", program));
}

// 4,000 bytes at 1 kB/s take 4 s; only the transfer between these two is slowed.
TEST(PlanFaults, ASlowConnectionTakesItsTimeOfTransfers) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: ring\nranks: 4\n"
      "steps: [grouped: {calls: [transfer: {on: world, from: 0, to: 1, count: 1000}, "
      "transfer: {on: world, from: 0, to: 2, count: 1000}]}, "
      "transfer: {on: world, from: 2, to: 3, count: 1000}]\n",
      "ring.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  hangs::Program program = hangs::make_program(scenario->outline);
  const auto planned = plan("slow_link:from=0,to=2,rate=1KB/s", program);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_TRUE(planned->idle.empty()) << planned->idle.front();
  const Step& send = program.programs[0].body[1];
  const hangs::Group& group = program.groups[0];
  EXPECT_NEAR(slowed_transfer(planned->slow, send, group, 0, 2).count(), 4, 1e-9);
  EXPECT_EQ(slowed_transfer(planned->slow, send, group, 0, 1).count(), 0);
  EXPECT_EQ(slowed_transfer(planned->slow, send, group, 1, 2).count(), 0);
  hangs::PlayTimes times{.call = {}, .is_even = true};
  times.call = [](const Step& /*call*/, const hangs::Group& /*group*/) {
    return Nanoseconds{1000};
  };
  times.transfer = [&](const Step& one, const hangs::Group& in, int from, int to) {
    return std::chrono::round<Nanoseconds>(slowed_transfer(planned->slow, one, in, from, to));
  };
  const hangs::Play play = hangs::play(program, {}, 1, times);
  EXPECT_LT(play.ranks[1].records[0].completed, 1'000'000);
  EXPECT_GE(play.ranks[2].records[0].completed, 4'000'000'000);
  EXPECT_GE(play.ranks[0].records[0].completed, 4'000'000'000);  // of one kernel
  EXPECT_FALSE(plan("slow_link:from=1,to=3,rate=1KB/s", program)->idle.empty());
}

// Rank 0 sends 100 bytes in 2 messages to rank 2 on channel 1, and nothing to rank 3.
std::vector<SentOn> some_sends(const Step& /*call*/, int from) {
  if (from != 0) return {};
  return {{.to = 1, .channel = 0, .bytes = {10}, .messages = 1},
          {.to = 2, .channel = 1, .bytes = {100}, .messages = 2}};
}

TEST(PlanFaults, AppliesFaultsToTheKnownSends) {
  const auto planned_for = [](const char* fault, hangs::Program& program) {
    return plan_faults({.seed = 1, .faults = {*parse_fault(fault)}}, program, {}, some_sends);
  };
  hangs::Program program = program_of(kSteps);
  const Step& call = program.programs[0].body[2];
  const hangs::Group& group = program.groups[static_cast<std::size_t>(call.group)];
  const std::pair<const char*, double> slow[] = {{"slow_link:from=0,rate=1KB/s", 0.1},
                                                 {"slow_link:from=0,to=1,rate=1KB/s", 0.01},
                                                 {"slow_link:from=0,channel=0,rate=1KB/s", 0.01},
                                                 {"slow_link:from=0,by=1s", 2},
                                                 {"slow_link:from=0,to=3,by=1s", 0}};
  for (const auto& [fault, time] : slow) {
    const auto planned = planned_for(fault, program);
    ASSERT_TRUE(planned) << fault;
    EXPECT_NEAR(slowed(planned->slow, call, group, some_sends).count(), time, 1e-9) << fault;
    EXPECT_EQ(planned->idle.empty(), time > 0) << fault;
  }
  // Each call sends 100 bytes: those of the third one are beyond 200.
  const auto stalled = planned_for("blackhole:from=0,to=2,after=200,on=world", program);
  ASSERT_TRUE(stalled) << stalled.error().message;
  EXPECT_EQ(stalled->network.seq, 3);
  const auto unused = planned_for("blackhole:from=0,to=3", program);
  ASSERT_FALSE(unused);
  EXPECT_NE(unused.error().help.find("rank 0 sends to 1, 2"), std::string::npos)
      << unused.error().help;
}

TEST(PlanFaults, RefusesFaultsThatSimulatedTimeCannotShow) {
  hangs::Program program = program_of(kSteps);
  for (const char* const fault :
       {"slow_link:from=0,by=1s,after=1M", "wrong_collective:rank=0,call=0,collective=gather"}) {
    const auto refused = plan(fault, program);
    ASSERT_FALSE(refused) << fault;
    EXPECT_NE(refused.error().help.find("real ranks"), std::string::npos) << refused.error().help;
  }
}

}  // namespace
}  // namespace ringside
