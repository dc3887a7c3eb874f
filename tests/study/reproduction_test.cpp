#include "study/scenario/reproduction.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "diag/report/sentences/hang_sentences.h"
#include "harness/hangs/generate.h"
#include "study/scenario/scenario_run.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;
using hangs::FaultClass;
using testing::HasSubstr;

/// The files of a generated hang, removed with the object.
class MadeHang {
 public:
  MadeHang(FaultClass kind, std::uint64_t seed)
      : folder_(testing::TempDir() + "reproduction_" + std::to_string(static_cast<int>(kind)) +
                "_" + std::to_string(seed) + "_" + std::to_string(::getpid())) {
    fs::remove_all(folder_);
    const auto made = hangs::make_case({.kind = kind, .ranks = 8, .outline = {}}, seed);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_TRUE(hangs::write_case(*made, folder_));
  }
  ~MadeHang() { fs::remove_all(folder_); }

  [[nodiscard]] Result<hang::Examination> examine() const { return hang::examine({folder_}); }

 private:
  std::string folder_;
};

class Reproduction : public testing::TestWithParam<FaultClass> {};

// The scenario written from the evidence hangs in the same way, with the same culprits.
TEST_P(Reproduction, HangsAsTheEvidenceDid) {
  int same = 0;
  std::string differ;
  constexpr int kCases = 6;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const MadeHang made(GetParam(), seed);
    const auto evidence = made.examine();
    ASSERT_TRUE(evidence) << evidence.error().message;
    const auto reproduced = reproduction_of(*evidence);
    ASSERT_TRUE(reproduced) << reproduced.error().message;
    const auto scenario = parse_scenario(to_yaml(reproduced->scenario), "reproduced");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto outcome = run_scenario({.scenario = *scenario});
    ASSERT_TRUE(outcome) << outcome.error().message;
    same += outcome->unmet.empty() ? 1 : 0;
    for (const std::string& one : outcome->unmet)
      differ += one + " (" + (outcome->verdict ? hang::why_of(*outcome->verdict) : "") + "); ";
  }
  EXPECT_GE(same, kCases - 1) << to_string(GetParam()) << ": " << differ;
}

// The calls that all ranks completed are the same job without its hang.
TEST_P(Reproduction, FinishesWithoutTheHang) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const MadeHang made(GetParam(), seed);
    const auto evidence = made.examine();
    ASSERT_TRUE(evidence) << evidence.error().message;
    const auto healthy = reproduction_of(*evidence, {.is_healthy = true});
    ASSERT_TRUE(healthy) << healthy.error().message;
    EXPECT_TRUE(healthy->scenario.faults.faults.empty());
    EXPECT_GT(healthy->scenario.outline.steps.size(), 1U);
    const auto scenario = parse_scenario(to_yaml(healthy->scenario), "healthy");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto outcome = run_scenario({.scenario = *scenario});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, ScenarioOutcome::End::Finished);
    EXPECT_THAT(outcome->unmet, testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, Reproduction,
                         testing::Values(FaultClass::MissingRank, FaultClass::DeadRank,
                                         FaultClass::Straggler, FaultClass::OpMismatch,
                                         FaultClass::ShapeMismatch, FaultClass::DtypeMismatch,
                                         FaultClass::NetworkStall),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

// Sends and receives that began together begin together again; otherwise a ring of them would hang from the start.
// Both ends of each are found although the recorders have lost the beginning.
TEST(ReproductionSets, ARingOfCoalescedSetsHangsAgain) {
  for (const auto& [iterations, call] : {std::pair{6, 9}, std::pair{600, 2001}}) {
    const auto scenario = parse_scenario(
        fmt::format("ringside: scenario/1\nname: ring\nranks: 8\niterations: {}\ngroups: {{ring: "
                    "[0-3, 4-7]}}\nsteps:\n"
                    "- repeat: {{times: 3, steps: [send_recv: {{on: ring, count: 64}}]}}\n"
                    "- all_reduce: {{on: world, count: 64}}\n- synchronize\nfaults:\n- skip: "
                    "{{rank: 2, call: {}}}\n",
                    iterations, call),
        "ring.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const std::string folder = testing::TempDir() + "reproduced_ring_" + std::to_string(::getpid());
    fs::remove_all(folder);
    ASSERT_TRUE(run_scenario({.scenario = *scenario, .folder = folder}));
    const auto evidence = hang::examine({folder});
    fs::remove_all(folder);
    ASSERT_TRUE(evidence) << evidence.error().message;
    const auto reproduced = reproduction_of(*evidence);
    ASSERT_TRUE(reproduced) << reproduced.error().message;
    EXPECT_LT(reproduced->scenario.outline.steps.size(),
              1000U);  // the calls that all ranks made are cut off
    const auto again = parse_scenario(to_yaml(reproduced->scenario), "reproduced");
    ASSERT_TRUE(again) << again.error().message;
    const auto outcome = run_scenario({.scenario = *again});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(outcome->verdict);
    EXPECT_EQ(outcome->verdict->culprits, std::vector<int>{2});
    EXPECT_THAT(outcome->unmet, testing::IsEmpty());
  }
}

/// The verdicts on the evidence of a simulated scenario and on its replay, e.g. `p2p_unmatched 1`, and the number of
/// the replay's steps.
struct Replayed {
  std::string original = {}, again = {};
  std::size_t steps = 0;
};
Replayed replay_of(const std::string& text) {
  const auto say = [](const hang::Explanation& verdict) {
    return fmt::format("{} {}", hang::to_string(verdict.kind), fmt::join(verdict.culprits, ","));
  };
  const auto scenario = parse_scenario("ringside: scenario/1\nname: s\n" + text, "s.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  const std::string folder = testing::TempDir() + "replay_of_" + std::to_string(::getpid());
  fs::remove_all(folder);
  EXPECT_TRUE(run_scenario({.scenario = *scenario, .folder = folder}));
  const auto evidence = hang::examine({folder});
  fs::remove_all(folder);
  EXPECT_TRUE(evidence) << evidence.error().message;
  Replayed replayed{.original = say(evidence->verdict.best)};
  const auto reproduced = reproduction_of(*evidence);
  if (!reproduced) return {replayed.original, reproduced.error().message};
  const auto again = parse_scenario(to_yaml(reproduced->scenario), "reproduced");
  if (!again) return {replayed.original, again.error().message};
  const auto outcome = run_scenario({.scenario = *again});
  EXPECT_TRUE(outcome) << outcome.error().message;
  replayed.again = outcome->verdict ? say(*outcome->verdict) : "finished";
  replayed.steps = reproduced->scenario.outline.steps.size();
  return replayed;
}

// Calls that all made at once are one step, so that a rank's different calls are distinguished from its earlier ones.
TEST(ReproductionSets, CallsThatAllRanksBeganTogetherAreOneStep) {
  const Replayed two = replay_of(
      "ranks: 2\niterations: 20\nsteps: [send_recv: {on: world, count: 400}, all_reduce: {on: "
      "world, "
      "count: 9}, synchronize]\nfaults: [skip: {rank: 1, call: 10}]\n");
  EXPECT_EQ(two.original, "p2p_unmatched 1");
  EXPECT_EQ(two.again, two.original);
  EXPECT_LT(two.steps, 20U);
  const Replayed pairs = replay_of(
      "ranks: 4\niterations: 60\nsteps: [grouped: {calls: [transfer: {on: world, from: 0, to: 2, "
      "count: 64}, transfer: {on: world, from: 2, to: 1, count: 4}, transfer: {on: world, from: 1, "
      "to: 0, count: 9}]}, synchronize]\nfaults: [wrong_count: {rank: 2, call: 40}]\n");
  EXPECT_EQ(pairs.original.substr(0, 14), "shape_mismatch");
  EXPECT_EQ(pairs.again, pairs.original);
}

// Its log has calls but its dump is missing: the replay kills it again.
TEST(ReproductionSets, ARankThatDiedInARingDiesAgain) {
  const Replayed replayed = replay_of(
      "ranks: 4\niterations: 20\nsteps: [send_recv: {on: world, count: 400}, all_reduce: {on: "
      "world, "
      "count: 9}, synchronize]\nfaults: [kill: {rank: 1, call: 10}]\n");
  EXPECT_EQ(replayed.original, "dead_rank 1");
  EXPECT_EQ(replayed.again, replayed.original);
}

// Ranks within groups are given for all groups of a name, so groups of other lengths have another name.
TEST(ReproductionSets, GroupsOfSeveralLengthsAreReadBack) {
  const Replayed replayed = replay_of(
      "ranks: 5\niterations: 3\ngroups: {a: [0-2, 3-4]}\nsteps: [send_recv: {on: a, count: 300}, "
      "all_reduce: {on: world, count: 17}, synchronize]\nfaults: [skip: {rank: 1, call: 2}]\n");
  EXPECT_EQ(replayed.original, "p2p_unmatched 1");
  EXPECT_EQ(replayed.again, replayed.original);
}

TEST(ReproductionErrors, RefusesJobsThatDoNotHang) {
  const MadeHang made(FaultClass::NotAHang, 1);
  const auto evidence = made.examine();
  ASSERT_TRUE(evidence);
  const auto reproduced = reproduction_of(*evidence);
  ASSERT_FALSE(reproduced);
  EXPECT_THAT(reproduced.error().message, HasSubstr("no rank hangs there"));
}

TEST(ReproductionErrors, LogsAloneHaveNoCalls) {
  const std::string path =
      testing::TempDir() + "reproduction_alone_" + std::to_string(::getpid()) + ".log";
  { std::ofstream(path) << "[rank0]:[E1] Watchdog caught collective operation timeout\n"; }
  const auto evidence = hang::examine({path});
  ASSERT_TRUE(evidence) << evidence.error().message;
  EXPECT_FALSE(reproduction_of(*evidence));
  fs::remove(path);
}

/// Returns a dump as a recorder writes it that omits peers and which calls are complete.
std::string dump_without_peers(const std::string& ops) {
  std::string entries;
  int number = 0;
  for (const char op : ops) {
    const bool is_send = op == 's';
    const std::string some = "[[64]]", none = "[]";
    entries += fmt::format(
        R"({}{{"profiling_name": "c10d:{}", "p2p_seq_id": {}, "collective_seq_id": 0, "is_p2p": true, "pg_id": 0,
            "process_group": ["0", "default_pg"], "input_sizes": {}, "output_sizes": {}, "input_dtypes": ["Float"],
            "output_dtypes": ["Float"], "state": "scheduled", "retired": true, "record_id": {}, "op_id": {},
            "time_created_ns": {}, "frames": []}})",
        number == 0 ? "" : ", ", is_send ? "send" : "recv", number + 1, is_send ? some : none,
        is_send ? none : some, number, number, 1000 + number);
    ++number;
  }
  return R"({"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
            "pg_status": {}, "entries": [)" +
         entries + "]}";
}

// A group of two has only one peer, and a receive's size is that of its output.
TEST(Reproduction, InGroupsOfTwoThePeerIsCertain) {
  const fs::path folder = testing::TempDir() + "reproduction_of_two_" + std::to_string(::getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "comm_lib_trace_rank_0.json") << dump_without_peers("srsrr");
  std::ofstream(folder / "comm_lib_trace_rank_1.json") << dump_without_peers("rsrsr");
  const auto evidence = hang::examine({folder.string()});
  fs::remove_all(folder);
  ASSERT_TRUE(evidence) << evidence.error().message;
  const auto reproduced = reproduction_of(*evidence);
  ASSERT_TRUE(reproduced) << reproduced.error().message;
  const auto& steps = reproduced->scenario.outline.steps;
  const auto transfers =
      std::ranges::count(steps, hangs::OutlineStep::Kind::Transfer, &hangs::OutlineStep::kind);
  EXPECT_EQ(transfers, 6);  // four that both ends made, and one receive of each without its send
  for (const auto& step : steps) {
    if (step.kind == hangs::OutlineStep::Kind::Transfer) {
      EXPECT_EQ(step.count, 64);
    }
  }
  const auto outcome = run_scenario({.scenario = reproduced->scenario});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->unmet.empty());
}

// The last calls of long histories are kept.
TEST(ReproductionErrors, AsManyCallsAreKeptAsAreAskedFor) {
  const MadeHang made(FaultClass::MissingRank, 2);
  const auto evidence = made.examine();
  ASSERT_TRUE(evidence);
  const auto few = reproduction_of(*evidence, {.keep = 2});
  const auto many = reproduction_of(*evidence, {.keep = 40});
  ASSERT_TRUE(few && many);
  EXPECT_LT(few->scenario.outline.steps.size(), many->scenario.outline.steps.size());
  EXPECT_THAT(few->unknown, testing::Contains(HasSubstr("before these are omitted")));
}

}  // namespace
}  // namespace ringside::study
