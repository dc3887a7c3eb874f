#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/json_answer.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

using nlohmann::json;

Outcome explain(const std::vector<std::string>& words) {
  std::vector<std::string> all{"explain"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all);
}

json explained(const std::vector<std::string>& words) { return json_answer("explain", words); }

// 64 KiB on two DGX-H100: 25.2 + 65536 / (16575 x 0.6) = 31.79 us for tree/ll.
TEST(ExplainVerb, JsonHasTheTableTheChoicesAndTheCrossovers) {
  const json document = explained({"all_reduce", "--bytes", "64K", "--on", "dgx-h100", "-N", "2"});
  EXPECT_EQ(document["schema"], "ringside.explain/1");
  EXPECT_EQ(document["table"].size(), 21U);  // 7 algorithms x 3 protocols
  const json& choice = document["choices"][0];
  EXPECT_EQ(choice["bytes"], 65536);
  EXPECT_EQ(choice["algorithm"], "tree");
  EXPECT_EQ(choice["protocol"], "ll");
  EXPECT_EQ(choice["nchannels"], 16);
  EXPECT_EQ(choice["nthreads"], 640);
  EXPECT_EQ(choice["chunk_bytes"], 32768);
  EXPECT_NEAR(choice["time_us"].get<double>(), 31.79, 0.005);
  EXPECT_EQ(choice["decided_by"], "latency");
  for (const json& row : document["table"]) {
    EXPECT_EQ(row["available"].get<bool>(), row["time_us"].is_number()) << row;
    EXPECT_EQ(row["available"].get<bool>(), row["reason"] == "") << row;
    if (!row["available"]) continue;
    EXPECT_GE(row["time_us"], choice["time_us"]) << row;
  }
  EXPECT_EQ(document["crossovers"][0]["from"]["algorithm"], "tree");
  EXPECT_EQ(document["crossovers"][0]["to"]["algorithm"], "ring");
  EXPECT_FALSE(document.contains("compared"));
}

// PAT with several ranks per node has a time, and 2.31 does not take it.
TEST(ExplainVerb, MarksALastResort) {
  const std::vector<std::string> words{"all_gather", "--bytes", "2M", "--on",
                                       "dgx-h100",   "-N",      "2",  "--nccl=2.31"};
  for (const json& row : explained(words)["table"]) {
    EXPECT_EQ(row["is_last_resort"].get<bool>(),
              row["algorithm"] == "pat" && row["protocol"] == "simple")
        << row;
  }
  const Outcome text = explain(words);
  EXPECT_NE(text.out.find("pat/simple is NCCL's last resort"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("NCCL_ALGO=PAT"), std::string::npos) << text.out;
}

// The size below a crossover has the old winner, the crossover itself the new one.
TEST(ExplainVerb, CrossoversAreExactToTheByte) {
  const std::vector<std::string> job{"all_reduce", "--on", "dgx-h100", "--nodes", "2"};
  const auto at = [&](std::uint64_t bytes) {
    std::vector<std::string> words = job;
    words.insert(words.end(), {"--bytes", std::to_string(bytes)});
    return explained(words);
  };
  const json crossing = at(65536)["crossovers"][0];
  const auto bytes = crossing["bytes"].get<std::uint64_t>();
  EXPECT_EQ(at(bytes - 1)["choices"][0]["algorithm"], crossing["from"]["algorithm"]);
  EXPECT_EQ(at(bytes)["choices"][0]["algorithm"], crossing["to"]["algorithm"]);
}

TEST(ExplainVerb, ShowsASettingNextToTheDefault) {
  const json document = explained(
      {"all_reduce", "--bytes", "64K", "--on", "dgx-h100", "-N", "2", "--set", "NCCL_ALGO=Ring"});
  const json& row = document["compared"][0];
  EXPECT_EQ(row["before"]["algorithm"], "tree");
  EXPECT_EQ(row["after"]["algorithm"], "ring");
  EXPECT_EQ(document["choices"][0]["algorithm"], "ring");
  EXPECT_EQ(row["changed"][0], "algorithm");
}

TEST(ExplainVerb, AnotherVersionIsComparedWithTheDefault) {
  const json document =
      explained({"all_reduce", "--bytes", "1M", "--on", "dgx-h100", "-N", "2", "--nccl", "2.19"});
  EXPECT_EQ(document["before"], "NCCL 2.31.2");
  EXPECT_EQ(document["after"], "NCCL 2.19.4");
  EXPECT_FALSE(document["compared"][0]["changed"].empty());
}

TEST(ExplainVerb, TextMarksTheFastestWithinAHundredColumns) {
  const Outcome outcome = explain({"all_reduce", "--on", "dgx-h100", "--nodes", "2", "--set",
                                   "NCCL_ALGO=^NVLSTree", "--nccl", "2.19"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" *"), std::string::npos);
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << "colour in a pipe";
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

// Sends and receives have no algorithm to choose: the text states that, and how transfers are cut and routed.
TEST(ExplainVerb, SendsAndReceivesAreExplainedToo) {
  const Outcome outcome =
      explain({"all_to_all", "--bytes", "1M:1G:1024", "--on", "dgx-h100", "-N", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("made of sends and receives"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("PXN"), std::string::npos) << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  const json document = explained({"all_to_all", "--bytes", "1G", "--on", "dgx-h100", "-N", "2"});
  EXPECT_EQ(document["exchange"]["sizes"][0]["transfer_bytes"], 1 << 26);
  EXPECT_EQ(document["exchange"]["peers"], 15);
}

TEST(ExplainVerb, RefusesInvalidArguments) {
  const std::vector<std::string> job{"all_reduce", "--on", "dgx-h100", "--bytes", "1M"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = job;
    words.insert(words.end(), more.begin(), more.end());
    return explain(words);
  };
  const Outcome misspelt = with({"--set", "NCCL_AGLO=Ring"});
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_NE(misspelt.err.find("did you mean 'NCCL_ALGO'?"), std::string::npos) << misspelt.err;
  const Outcome word = with({"--set", "NCCL_ALGO=Rign"});
  EXPECT_EQ(word.status, 2);
  EXPECT_NE(word.err.find("did you mean 'Ring'?"), std::string::npos) << word.err;
  EXPECT_EQ(with({"--set", "NCCL_ALGO"}).status, 2);
  EXPECT_EQ(with({"--nccl", "2.17"}).status, 2);
  const Outcome nothing = with({"--set", "NCCL_ALGO=NVLSTree"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.err.find("needs several nodes"), std::string::npos) << nothing.err;
}

TEST(ExplainVerb, APresetMakesRowsOfThePage) {
  const Outcome page = explain({"--presets", "--on", "dgx-h100"});
  ASSERT_EQ(page.status, 0) << page.err;
  EXPECT_NE(page.out.find("ringside explain --presets"), std::string::npos);
  EXPECT_NE(page.out.find("| dgx-h100 | 2 | 16 | 16/16 | tree/ll 25.27us |"), std::string::npos)
      << page.out;
}

// 2.19 builds rings of 45 GB/s on two DGX-H100, 2.27 of 48, which cross NICs.
TEST(ExplainVerb, AnUpgradeIsReportedInTextAndInJson) {
  const Outcome upgrade = explain({"--upgrade", "2.19", "2.27", "--on", "dgx-h100", "-N", "2"});
  EXPECT_EQ(upgrade.status, 0);
  EXPECT_NE(upgrade.out.find("NCCL 2.19.4 -> 2.27.7 on dgx-h100: 16 ranks, 2 nodes"),
            std::string::npos);
  EXPECT_NE(upgrade.out.find("NCCL_CROSS_NIC=0: as before"), std::string::npos) << upgrade.out;
  const json document =
      explained({"all_reduce", "--upgrade", "2.19", "2.27", "--on", "dgx-h100", "-N", "2"});
  EXPECT_EQ(document["schema"], "ringside.upgrade/1");
  EXPECT_EQ(document["from"], "2.19.4");
  ASSERT_EQ(document["collectives"].size(), 1U);
  for (const json& row : document["collectives"][0]["sizes"]) {
    EXPECT_EQ(row["is_chosen_otherwise"].get<bool>(), !row["undo"].is_null()) << row;
  }
}

TEST(ExplainVerb, AnUpgradeTakesTwoReleasesAndNoOther) {
  EXPECT_EQ(explain({"--upgrade", "2.19", "--on", "dgx-h100"}).status, 2);
  EXPECT_EQ(explain({"--upgrade", "2.19", "2.19", "--on", "dgx-h100"}).status, 2);
  EXPECT_EQ(explain({"--upgrade", "2.19", "2.27", "--nccl", "2.21", "--on", "dgx-h100"}).status, 2);
}

}  // namespace
}  // namespace ringside
