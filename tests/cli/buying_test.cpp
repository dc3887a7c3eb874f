// Answers a buyer's questions (docs/tutorials/buy-a-cluster.md) with one command or one short file each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace ringside {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kSource = std::string(RINGSIDE_SOURCE) + "/";

std::string text_of_file(const std::string& path) {
  std::ifstream file(kSource + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the tutorial's command, without "ringside" and with its files found from here, and checks that the tutorial
/// contains it.
std::vector<std::string> documented(const std::string& command) {
  EXPECT_THAT(text_of_file("docs/tutorials/buy-a-cluster.md"), HasSubstr("ringside " + command));
  std::vector<std::string> words;
  std::istringstream text(command);
  for (std::string word; text >> word;) {
    for (const std::string prefix : {"scenarios/", "on=scenarios/"}) {
      if (word.starts_with(prefix)) word.insert(word.find("scenarios/"), kSource);
    }
    words.push_back(word);
  }
  words.emplace_back("--json");
  return words;
}

json answer_of(const std::string& command) {
  const Outcome outcome = run_program(documented(command));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out);
}

/// Returns the step times by the varied value.
std::map<std::string, double> steps_of(const json& sweep, const std::string& key) {
  std::map<std::string, double> steps;
  for (const json& point : sweep["points"]) {
    EXPECT_EQ(point["outcome"], "finished") << point.dump();
    steps[point["settings"][key]] = point.value("step_time_us", 0.0);
  }
  return steps;
}

TEST(Buying, FilesHaveFifteenLinesAtMost) {
  for (const std::string path :
       {"scenarios/buying/jobs/llama3-70b-512.yaml", "scenarios/buying/jobs/llama3-70b-256.yaml",
        "scenarios/buying/fabrics/roce-32.yaml"}) {
    EXPECT_LE(std::ranges::count(text_of_file(path), '\n'), 15) << path;
  }
}

TEST(Buying, FourOrEightNics) {
  const auto steps =
      steps_of(answer_of("run scenarios/buying/jobs/llama3-70b-512.yaml --vary nics=4,8"), "nics");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_GT(steps.at("4"), steps.at("8"));
}

TEST(Buying, AnOversubscribedFabric) {
  const auto steps = steps_of(answer_of("run scenarios/buying/jobs/llama3-70b-512.yaml --vary "
                                        "fabric=leaf_spine:1:1,leaf_spine:2:1"),
                              "fabric");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_GE(steps.at("leaf_spine:2:1"), steps.at("leaf_spine:1:1"));
}

TEST(Buying, WhichGpu) {
  const json sweep =
      answer_of("run scenarios/buying/jobs/llama3-70b-512.yaml --vary on=h200,b200,gb200");
  const auto steps = steps_of(sweep, "on");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_LT(steps.at("b200"), steps.at("h200"));
  // The number of GPUs is 512 in both: 8 racks of NVLink with 16 hosts of four GPUs.
  for (const json& point : sweep["points"]) EXPECT_EQ(point["nranks"], 512);
}

TEST(Buying, WhichLayout) {
  const json sweep = answer_of("run scenarios/buying/jobs/llama3-70b-512.yaml --vary layout=auto");
  const auto steps = steps_of(sweep, "layout");
  EXPECT_GE(steps.size(), 3U);
  EXPECT_TRUE(steps.contains("t8 p4 d16"));
  // Without tensor and pipeline 70 billion parameters do not fit into 80 GB.
  EXPECT_FALSE(steps.contains("t1 p1 d512"));
  for (const json& point : sweep["points"]) {
    EXPECT_EQ(point["nranks"], 512);
    EXPECT_LE(point["memory_gb"], 80);
    EXPECT_EQ(point["tokens"], 16 * 32 * 8192);
  }
}

TEST(Buying, ARoceClusterFromABlankFile) {
  const json sim =
      answer_of("sim all_reduce --bytes 1G --on scenarios/buying/fabrics/roce-32.yaml");
  EXPECT_EQ(sim["nranks"], 256);
  // 8 NICs of 25 GB/s: a ring cannot pass 200 GB/s.
  EXPECT_GT(sim["results"][0]["busbw_gbs"], 50);
  EXPECT_LT(sim["results"][0]["busbw_gbs"], 200);
  const json run = answer_of(
      "run scenarios/buying/jobs/llama3-70b-256.yaml --on scenarios/buying/fabrics/roce-32.yaml");
  EXPECT_EQ(run["nranks"], 256);
  EXPECT_GT(run["step_time_us"], 0);
  EXPECT_GT(run["error_percent"], 0);
  EXPECT_GT(run["mfu"], 0);
}

}  // namespace
}  // namespace ringside
