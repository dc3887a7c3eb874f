#include "engine/runtime/host/host_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace ringside {
namespace {

HostRule rule(int nranks, Bytes up_to, Algorithm algorithm) {
  return {.nranks = nranks, .up_to = up_to, .algorithm = algorithm};
}

TEST(HostTable, ReadsWhatItWrites) {
  const auto read = parse_host_table(to_yaml(usual_host_table()), "test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->rules, usual_host_table().rules);
}

// With 3 ranks, the rules for 2 apply rather than none, and those for 4 do not. A rule holds for sizes up to and
// including its limit.
TEST(HostTable, TheRulesOfTheLargestNumberOfRanksNotAboveTheCallsCount) {
  const HostTable table{{rule(2, 1_KiB, Algorithm::OneShot), rule(2, kNoLimit, Algorithm::Ring),
                         rule(4, kNoLimit, Algorithm::Tree)}};
  EXPECT_EQ(table.find(rule(3, 1_KiB, {}))->algorithm, Algorithm::OneShot);
  EXPECT_EQ(table.find(rule(3, 1025_B, {}))->algorithm, Algorithm::Ring);
  EXPECT_EQ(table.find(rule(8, 8_B, {}))->algorithm, Algorithm::Tree);
  EXPECT_EQ(table.find({.collective = Collective::AllGather, .up_to = 8_B}), nullptr);
}

TEST(HostTable, EachTransportHasItsOwnRules) {
  HostRule tcp = rule(2, kNoLimit, Algorithm::Tree);
  tcp.transport = *parse_transport("tcp");
  const HostTable table{{rule(2, kNoLimit, Algorithm::Ring), tcp}};
  EXPECT_EQ(table.find(rule(2, 8_B, {}))->algorithm, Algorithm::Ring);
  EXPECT_EQ(table.find(tcp)->algorithm, Algorithm::Tree);
  EXPECT_FALSE(tcp.is_same_kind(table.rules[0]));
  EXPECT_EQ(parse_host_table(to_yaml(table), "test")->rules, table.rules);
}

TEST(HostTable, MeasuredRulesReplaceThoseOfTheirKindAlone) {
  HostTable table{{rule(2, kNoLimit, Algorithm::Ring), rule(4, kNoLimit, Algorithm::Tree)}};
  table.replace({rule(2, 8_B, Algorithm::OneShot), rule(2, kNoLimit, Algorithm::Tree)});
  const std::vector<HostRule> expected{rule(4, kNoLimit, Algorithm::Tree),
                                       rule(2, 8_B, Algorithm::OneShot),
                                       rule(2, kNoLimit, Algorithm::Tree)};
  EXPECT_EQ(table.rules, expected);
}

TEST(HostTable, NamesTheProblemAndItsLine) {
  const auto message = [](const std::string& text) {
    const auto table = parse_host_table(text, "host.yaml");
    return table ? std::string("fine") : table.error().message;
  };
  EXPECT_EQ(message("version: 1\nrules:\n  - {collectiv: all_reduce}\n"),
            "host.yaml:3: unknown key 'collectiv'");
  EXPECT_EQ(message("version: 1\nrules:\n  - {collective: all_reduce}\n"),
            "host.yaml:3: a rule without 'transport'");
  EXPECT_EQ(
      message("version: 1\nrules:\n  - {collective: all_reduce, transport: pigeon, crowded: false, "
              "ranks: 2, up_to: 8, algorithm: ring, protocol: ll}\n"),
      "host.yaml:3: unknown transport 'pigeon'");
  EXPECT_EQ(message("version: 2\nrules: []\n"), "host.yaml: not a host table of version 1");
  EXPECT_EQ(message("version: [\n").substr(0, 10), "host.yaml:");
}

TEST(HostTable, IsStoredInTheUsersConfiguration) {
  const auto of = [](const std::string& config, const std::string& home) {
    return host_table_path([&](const char* name) -> std::optional<std::string> {
      const std::string& value = std::string(name) == "HOME" ? home : config;
      if (value.empty()) return std::nullopt;
      return value;
    });
  };
  EXPECT_EQ(of("/c", "/h"), "/c/ringside/host.yaml");
  EXPECT_EQ(of("", "/h"), "/h/.config/ringside/host.yaml");
  EXPECT_EQ(of("", ""), "");
}

TEST(HostTable, IsSavedWithTheFoldersTowardsIt) {
  const std::string folder =
      testing::TempDir() + "host_table_" + std::to_string(::getpid()) + "/a/b";
  const HostTable table{{rule(2, kNoLimit, Algorithm::Tree)}};
  ASSERT_TRUE(save_host_table(table, folder + "/host.yaml"));
  EXPECT_EQ(load_host_table(folder + "/host.yaml")->rules, table.rules);
  EXPECT_EQ(load_host_table(folder + "/other.yaml")->rules, usual_host_table().rules);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ringside
