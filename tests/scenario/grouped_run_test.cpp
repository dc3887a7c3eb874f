#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/scenario.h"
#include "study/scenario/scenario_run.h"

namespace ringside {
namespace {

/// Calls 0 to 2 of an iteration are a ring, an exchange between two, and a call of all ranks.
constexpr const char* kGroupedSteps =
    "- send_recv: {on: ring, count: 4096}\n"
    "- grouped: {calls: [transfer: {on: ring, from: 0, to: 1, count: 64}, transfer: {on: ring, "
    "from: 1, to: 0, count: 64}]}\n"
    "- all_reduce: {on: world, count: 128}\n";

/// Returns the verdict on real ranks or on simulated ones, e.g. `missing_rank [1]`.
std::string verdict(const std::string& fault, bool is_real) {
  const auto scenario = parse_scenario(
      std::string("ringside: scenario/1\nname: g\nranks: 8\niterations: 3\ngroups: {ring: [0-3, "
                  "4-7]}\nsteps:\n") +
          kGroupedSteps + "watchdog: 3s\nfaults:\n- " + fault + "\n",
      "s.yaml");
  if (!scenario) return scenario.error().message;
  const auto outcome = study::run_scenario({.scenario = *scenario, .is_real = is_real});
  if (!outcome) return outcome.error().message;
  if (!outcome->verdict) return study::to_string(outcome->end);
  std::string text = hang::to_string(outcome->verdict->kind);
  for (const int rank : outcome->verdict->culprits) text += " " + std::to_string(rank);
  return text;
}

TEST(GroupedScenario, RealAndSimulatedRanksGiveTheSameVerdict) {
  for (const char* fault :
       {"skip: {rank: 2, call: 5}", "kill: {rank: 2, call: 4}", "throw: {rank: 1, call: 4}",
        "wrong_count: {rank: 2, call: 3, count: 77}", "skip: {rank: 1, call: 100}"}) {
    EXPECT_EQ(verdict(fault, true), verdict(fault, false)) << fault;
  }
  EXPECT_EQ(verdict("skip: {rank: 1, call: 100}", true), "finished");
}

// A rank that has sent and received no longer waits, although the set is pending until all of it is done: only rank 2
// is in every cycle. Recorders that still have the beginning find it by counting, others by the numbers.
TEST(GroupedScenario, ARankThatSkipsARoundIsNamedWhetherOrNotTheBeginningIsKept) {
  for (const auto& [iterations, call] : {std::pair{6, 9}, std::pair{600, 2001}}) {
    const auto scenario = parse_scenario(
        "ringside: scenario/1\nname: g\nranks: 8\niterations: " + std::to_string(iterations) +
            "\ngroups: {ring: [0-3, 4-7]}\nsteps:\n"
            "- repeat: {times: 3, steps: [send_recv: {on: ring, count: 64}]}\n"
            "- all_reduce: {on: world, count: 64}\n- synchronize\nfaults:\n- skip: {rank: 2, "
            "call: " +
            std::to_string(call) + "}\n",
        "s.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto outcome = study::run_scenario({.scenario = *scenario});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(outcome->verdict);
    EXPECT_EQ(outcome->verdict->culprits, std::vector<int>{2}) << iterations;
  }
}

}  // namespace
}  // namespace ringside
