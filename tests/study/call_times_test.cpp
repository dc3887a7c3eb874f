#include "study/call_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/scenario/scenario.h"
#include "study/scenario/scenario_run.h"

namespace ringside::study {
namespace {

ScenarioOutcome outcome_of(const std::string& text) {
  const auto scenario = parse_scenario("ringside: scenario/1\nname: x\n" + text, "x.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  auto outcome = run_scenario({.scenario = *scenario});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return *std::move(outcome);
}

/// The times of the scenario's transfers, shortest first.
std::vector<Seconds> transfer_times(const std::string& text) {
  std::vector<Seconds> times;
  for (const CallTime& call : outcome_of(text).calls) times.push_back(call.time);
  std::ranges::sort(times);
  return times;
}

// 64 MiB: 450 GB/s out of an H100 by NVLink, 50 GB/s by its NIC.
TEST(CallTimes, ATransferTakesTheTimeOfItsOwnPath) {
  const std::string head = "ranks: 16\ncluster: {on: dgx-h100}\nsteps:\n";
  const std::string near = "- transfer: {on: world, from: 8, to: 9, count: 16777216}\n";
  const std::string far = "- transfer: {on: world, from: 7, to: 8, count: 16777216}\n";
  const auto within = transfer_times(head + near);
  const auto across = transfer_times(head + far);
  ASSERT_EQ(within.size(), 1U);
  ASSERT_EQ(across.size(), 1U);
  EXPECT_GT(within[0], Seconds{64 * 1024 * 1024 / 450e9});
  EXPECT_LT(within[0], Seconds{2 * 64 * 1024 * 1024 / 450e9});
  EXPECT_GT(across[0], Seconds{64 * 1024 * 1024 / 50e9});
  EXPECT_LT(across[0], Seconds{2 * 64 * 1024 * 1024 / 50e9});
  EXPECT_EQ(transfer_times(head + near + far), (std::vector<Seconds>{within[0], across[0]}));
  // A concurrent call on another path: NVLink and the NIC transfer at the same time.
  const std::string both =
      "- grouped: {calls: [transfer: {on: world, from: 8, to: 9, count: 16777216}, transfer: {on: "
      "world, from: 8, to: 0, count: 16777216}]}\n";
  EXPECT_EQ(transfer_times(head + both), (std::vector<Seconds>{within[0], across[0]}));
}

// 128 pipelines of 4 ranks on 64 hosts: their transfers take similar paths, so there are four kinds of ranks.
TEST(CallTimes, TransfersOfOneWayAreOneKindHoweverManyThereAre) {
  const ScenarioOutcome outcome = outcome_of(
      "parallel: {tensor: 2, pipeline: 4, data: 64}\ncluster: {on: dgx-h100}\nsteps:\n"
      "- transfer: {on: pipeline, from: 0, to: 1, count: 1048576}\n"
      "- transfer: {on: pipeline, from: 1, to: 2, count: 1048576}\n"
      "- transfer: {on: pipeline, from: 2, to: 3, count: 1048576}\n");
  EXPECT_EQ(outcome.ranks, 512);
  EXPECT_EQ(outcome.kinds, 4);
  EXPECT_EQ(outcome.calls.size(), 1U);
}

TEST(CallTimes, ASlowConnectionSlowsTheTransfersOnIt) {
  const std::string text =
      "ranks: 2\ncluster: {on: dgx-h100}\nsteps: [transfer: {on: world, from: 0, to: 1, count: "
      "1000}]\n";
  const auto healthy = outcome_of(text);
  const auto slow = outcome_of(text + "faults: [{slow_link: {from: 0, to: 1, rate: 1MB/s}}]\n");
  ASSERT_TRUE(healthy.times && slow.times);
  EXPECT_TRUE(slow.notes.empty()) << slow.notes.front();
  EXPECT_LT(healthy.times->step, Seconds{1e-3});
  EXPECT_GE(slow.times->step, Seconds{4e-3});  // 4,000 bytes
}

SimQuestion question_on(const std::string& hosts) {
  SimQuestion question;
  question.job.on = hosts;
  return question;
}

TEST(CallTimes, ACallThatCannotBeSimulatedFailsEachTime) {
  auto clock = CallClock::make(question_on("dgx-h100"), 16);
  ASSERT_TRUE(clock) << clock.error().message;
  hangs::Program program;
  program.ranks = 16;
  program.families = {"world"};
  auto& group = program.groups.emplace_back();
  group.ranks = {0, 9};  // different GPUs on the two hosts
  hangs::Step call;
  call.count = 1000;
  for (int i = 0; i < 2; ++i) {
    const Status learned = clock->learn(program, call, 0);
    ASSERT_FALSE(learned) << i;
    EXPECT_EQ(learned.error().code, ErrorCode::InvalidArgument);
  }
  EXPECT_TRUE(clock->calls().empty());
}

TEST(CallTimes, HostsWithDifferentNumbersOfGpusAreRefused) {
  const auto clock = CallClock::make(question_on("dgx-h100:1,perlmutter-a100:1"), 12);
  ASSERT_FALSE(clock);
  EXPECT_EQ(clock.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(clock.error().message.find("different numbers of GPUs"), std::string::npos)
      << clock.error().message;
}

}  // namespace
}  // namespace ringside::study
