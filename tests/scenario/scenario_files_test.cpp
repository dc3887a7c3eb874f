#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/scenario_run.h"
#include "study/sweep_points.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// Whether its head says that it is that; comments may stand above.
bool is_of(const std::string& path, const std::string& kind) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("ringside: ")) return line.starts_with("ringside: " + kind);
  }
  return false;
}

std::vector<std::string> files(const std::string& below, const std::string& kind = "scenario/") {
  std::vector<std::string> all;
  for (const auto& entry :
       fs::recursive_directory_iterator(std::string(RINGSIDE_SCENARIOS) + below)) {
    if (entry.path().extension() == ".yaml" && is_of(entry.path().string(), kind)) {
      all.push_back(entry.path().string());
    }
  }
  std::ranges::sort(all);
  return all;
}

std::string name_of(const testing::TestParamInfo<std::string>& file) {
  std::string name = fs::path(file.param).stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "; ";
  return all;
}

class Scenarios : public testing::TestWithParam<std::string> {};
class SweepFiles : public testing::TestWithParam<std::string> {};
/// Small jobs, which need no cluster.
class SmallScenarios : public testing::TestWithParam<std::string> {};

TEST_P(Scenarios, ComeOutAsTheySay) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_TRUE(scenario->expect.outcome) << "a scenario of ours says what comes of it";
  const auto outcome = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(outcome) << outcome.error().message << "; " << outcome.error().help;
  EXPECT_TRUE(outcome->unmet.empty()) << joined(outcome->unmet);
}

TEST_P(SmallScenarios, ComeOutTheSameOnRealRanks) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_LE(scenario->outline.ranks, 8);
  const auto outcome =
      run_scenario({.scenario = *scenario, .is_real = true, .timeout = Seconds{1}});
  ASSERT_TRUE(outcome) << outcome.error().message << "; " << outcome.error().help;
  EXPECT_TRUE(outcome->unmet.empty()) << joined(outcome->unmet) << outcome->failure;
}

// Each cluster with each workload, at the first value of each setting.
TEST_P(SweepFiles, HavePointsThatFinish) {
  const auto sweep = load_sweep(GetParam());
  ASSERT_TRUE(sweep) << sweep.error().message;
  const auto points = points_of(*sweep, {});
  ASSERT_TRUE(points) << points.error().message;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const SweepPoint& point : *points) {
    if (!seen.emplace(point.cluster, point.workload).second) continue;
    const PointResult result = run_point(*sweep, point, {});
    EXPECT_EQ(result.end, PointResult::End::Finished) << result.reason;
    EXPECT_GT(result.step, result.compute);
  }
}

INSTANTIATE_TEST_SUITE_P(Buying, SweepFiles, testing::ValuesIn(files("", "sweep/")), name_of);
INSTANTIATE_TEST_SUITE_P(Files, Scenarios, testing::ValuesIn(files("")), name_of);
INSTANTIATE_TEST_SUITE_P(Hangs, SmallScenarios, testing::ValuesIn(files("/hangs")), name_of);

// What is expected and does not come is said.
TEST(ScenarioRun, WhatDoesNotComeIsNotMet) {
  auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/hangs/killed-rank.yaml");
  ASSERT_TRUE(scenario);
  scenario->expect.culprits = std::vector<int>{5};
  auto outcome = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->unmet.size(), 1U);
  scenario->expect = {.outcome = Expectation::Outcome::Finished};
  outcome = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->unmet.size(), 1U);
  scenario->faults.faults.clear();
  outcome = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->unmet.empty());
}

// The same job by folded kinds and rank by rank (a fault that does nothing keeps it from being folded).
TEST(ScenarioRun, KindsTakeTheTimeOfAll) {
  auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/training/ddp-8.yaml");
  ASSERT_TRUE(scenario);
  const auto folded = run_scenario({.scenario = *scenario});
  Fault late;
  late.kind = FaultKind::Late;
  late.rank = 0;
  late.call = 0;
  late.by = Seconds{0};
  scenario->faults.faults = {late};
  const auto whole = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(folded && whole);
  EXPECT_EQ(folded->kinds, 1);
  EXPECT_EQ(whole->kinds, 8);
  EXPECT_NEAR(folded->times->step / whole->times->step, 1, 1e-3);
  EXPECT_NEAR(folded->times->compute / whole->times->compute, 1, 1e-3);
}

}  // namespace
}  // namespace ringside::study
