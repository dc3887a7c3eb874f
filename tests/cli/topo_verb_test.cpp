#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

json topo(const std::vector<std::string>& words) {
  std::vector<std::string> all{"topo", "--json"};
  all.insert(all.end(), words.begin(), words.end());
  const Outcome outcome = run_program(all);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out);
}

std::string draw(const std::string& format, const std::string& on) {
  const Outcome outcome = run_program({"topo", "--on", on, "--nodes", "2", "--draw", format});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

std::string snake_case(const std::string& camel) {
  std::string snake;
  for (std::size_t i = 0; i < camel.size(); ++i) {
    const auto c = static_cast<unsigned char>(camel[i]);
    if (std::isupper(c) && i > 0 && std::islower(static_cast<unsigned char>(camel[i - 1]))) {
      snake += '_';
    }
    snake += static_cast<char>(std::tolower(c));
  }
  return snake;
}

/// The golden document's keys in our spelling, all the way down.
json in_our_words(const json& golden) {
  if (golden.is_array()) {
    json list = json::array();
    for (const json& item : golden) list.push_back(in_our_words(item));
    return list;
  }
  if (!golden.is_object()) return golden;
  json object = json::object();
  for (const auto& [key, value] : golden.items()) {
    std::string ours = snake_case(key);
    if (ours == "n_channels" || ours == "n_hops" || ours == "n_hosts" || ours == "n_heads") {
      ours.erase(1, 1);
    }
    if (ours == "coll_net") ours = "collnet";
    object[ours] = in_our_words(value);
  }
  return object;
}

/// Wherever the golden document has a value, ours has the same; numbers may differ in the last digit
/// of single precision, which the two print differently.
void expect_within(const json& golden, const json& ours, const std::string& where) {
  if (golden.is_object()) {
    for (const auto& [key, value] : golden.items()) {
      ASSERT_TRUE(ours.contains(key)) << where << "." << key;
      expect_within(value, ours[key], where + "." + key);
    }
  } else if (golden.is_array()) {
    ASSERT_EQ(golden.size(), ours.size()) << where;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      expect_within(golden[i], ours[i], where + "[" + std::to_string(i) + "]");
    }
  } else if (golden.is_number()) {
    const double value = golden.get<double>();
    EXPECT_NEAR(value, ours.get<double>(), 1e-5 * std::abs(value)) << where;
  } else {
    EXPECT_EQ(golden, ours) << where;
  }
}

TEST(TopoVerb, TheJsonHoldsWhatTheGoldenDataHolds) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  for (const auto& [name, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"dgx-h100-2nodes", {"--on", "dgx-h100", "--nodes", "2"}},
           {"dgx-1v-1nodes", {"--on", "dgx-1v"}},
           {"dgx-a100-4nodes", {"--on", "dgx-a100", "--nodes", "4"}},
           {"gb300-2tray-2nodes", {"--on", "gb300-nvl72", "--nodes", "4", "--nvl-domain", "2"}}}) {
    SCOPED_TRACE(name);
    const json golden = json::parse(oracle::load_golden(name).dump());
    const json ours = topo(words);
    EXPECT_EQ(ours["schema"], "ringside.topo/1");
    EXPECT_EQ(ours["nranks"], golden["nRanks"]);
    EXPECT_EQ(ours["rank_to_node"], golden["rankToNode"]);
    for (const char* key : {"rings", "trees"}) EXPECT_EQ(ours[key], golden[key]) << key;
    EXPECT_EQ(ours["nchannels"], golden["comm"]["nChannels"]);
    EXPECT_EQ(ours["nvls_channels"], golden["comm"]["nvlsChannels"]);
    EXPECT_EQ(ours["p2p_channels"], golden["comm"]["p2pnChannels"]);
    EXPECT_EQ(ours["p2p_channels_per_peer"], golden["comm"]["p2pnChannelsPerPeer"]);
    if (golden.contains("nvls")) {
      EXPECT_EQ(ours["nvls"]["heads"], golden["nvls"]["heads"]);
    }
    for (std::size_t i = 0; i < golden["systems"].size(); ++i) {
      const json& node = golden["systems"][i];
      expect_within(in_our_words(node["topo"]), ours["system"][i], "system");
      expect_within(in_our_words(node["search"]), ours["graphs"]["search"][i], "search");
    }
    expect_within(in_our_words(golden["merged"]), ours["graphs"]["merged"], "merged");
  }
}

TEST(TopoVerb, TheTextFitsAHundredColumns) {
  for (const char* on : {"dgx-h100", "dgx-a100", "gb200-nvl72", "one-gpu-one-nic", "8x-l40s"}) {
    const Outcome outcome = run_program({"topo", "--on", on, "--nodes", "2"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << on << ": " << line;
      EXPECT_FALSE(!line.empty() && line.back() == ' ') << on << ": " << line;
    }
  }
}

TEST(TopoVerb, AllShowsWhatTheTextLeavesOut) {
  const Outcome few = run_program({"topo", "--on", "dgx-h100", "--nodes", "2"});
  EXPECT_THAT(few.out, HasSubstr("(4 of 16; --all shows them)"));
  EXPECT_THAT(few.out, HasSubstr("PXN 48"));
  EXPECT_THAT(few.out, HasSubstr("0: 0 7 6 5 4 3 2 1 | 9 10 11 12 13 14 15 8\n"));
  const Outcome all = run_program({"topo", "--on", "dgx-h100", "--nodes", "2", "--all"});
  EXPECT_THAT(all.out, Not(HasSubstr("--all")));
  EXPECT_THAT(all.out, HasSubstr("\n   15: "));
}

// What NCCL would be given decides what the preset itself does.
TEST(TopoVerb, TheDumpedXmlLeadsToTheSameDecisions) {
  const std::string path = temporary_path("topo.xml");
  const Outcome dump = run_program({"topo", "--on", "dgx-b200", "--dump-xml", path});
  ASSERT_EQ(dump.status, 0) << dump.err;
  const json preset = topo({"--on", "dgx-b200", "--nodes", "2"});
  const json file = topo({"--on", path, "--nodes", "2"});
  for (const char* key : {"system", "graphs", "rings", "trees", "nvls", "nchannels"}) {
    EXPECT_EQ(preset[key], file[key]) << key;
  }
  std::filesystem::remove(path);
}

TEST(TopoVerb, TheGraphFileHoldsEachGraph) {
  const std::string path = temporary_path("graph.xml");
  const Outcome outcome =
      run_program({"topo", "--on", "dgx-h100", "--nodes", "2", "--graph-xml", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string text = content_of(path);
  EXPECT_THAT(text, StartsWith("<graphs version=\"1\""));
  EXPECT_THAT(text, HasSubstr("<graph id=\"3\" pattern=\"5\""));
  std::filesystem::remove(path);
}

TEST(TopoVerb, EachDrawingShowsEveryDevice) {
  for (const char* format : {"ascii", "dot", "svg"}) {
    const std::string picture = draw(format, "dgx-h100");
    for (int i = 0; i < 8; ++i) {
      EXPECT_THAT(picture, HasSubstr("GPU " + std::to_string(i))) << format;
      EXPECT_THAT(picture, HasSubstr("NIC " + std::to_string(i))) << format;
    }
    EXPECT_THAT(picture, HasSubstr("NVSwitch")) << format;
  }
  EXPECT_THAT(draw("ascii", "dgx-1v"), HasSubstr("NVLink 1 x GPU 1, 1 x GPU 2, 2 x GPU 3"));
  EXPECT_THAT(draw("dot", "dgx-1v"), StartsWith("digraph topology {"));
  EXPECT_THAT(draw("svg", "dgx-1v"), StartsWith("<svg xmlns="));
}

TEST(TopoVerb, AMachineWithoutAGpuIsToldSo) {
  const Outcome outcome = run_program({"topo", "--on", "synthetic:pack:2 numa:1 core:4 pu:1"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("has no GPU"));
  EXPECT_THAT(outcome.err, HasSubstr("help:  look at a preset instead: "));
  EXPECT_EQ(outcome.out, "");
}

TEST(TopoVerb, BadInputExitsWithTwoAndWritesNothing) {
  const std::string path = temporary_path("never.xml");
  const Outcome mixed =
      run_program({"topo", "--on", "dgx-h100,dgx-b200", "--dump-xml", path, "--graph-xml", path});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(run_program({"topo", "--on", "dgx-h100", "--draw", "svgg"}).status, 2);
  EXPECT_EQ(run_program({"topo", "--on", "dgx-h100", "--draw", "svg", "--json"}).status, 2);
  EXPECT_THAT(run_program({"topo", "--on", "dgx-h10"}).err, HasSubstr("did you mean 'dgx-h100'?"));
}

TEST(TopoVerb, VariablesSteerTheDecisions) {
  const json with = topo({"--on", "dgx-h100", "--set", "NCCL_MAX_NCHANNELS=4"});
  EXPECT_EQ(with["nchannels"], 4);
  EXPECT_EQ(topo({"--on", "dgx-h100"})["nchannels"], 24);
}

}  // namespace
}  // namespace ringside
