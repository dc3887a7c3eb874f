#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/json_answer.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

json topo(const std::vector<std::string>& words) { return json_answer("topo", words); }

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

TEST(TopoVerb, PresetsAreListedWithTheirFacts) {
  const json answer = topo({"--presets"});
  EXPECT_EQ(answer["presets"].size(), 21U)
      << "the list in docs/reference/command-line.md lacks some";
  const auto preset = [&](const std::string& name) {
    for (const json& one : answer["presets"]) {
      if (one["name"] == name) return one;
    }
    return json{};
  };
  EXPECT_EQ(preset("hgx-h200"), (json{{"name", "hgx-h200"},
                                      {"gpus", 8},
                                      {"gpu", "H200"},
                                      {"sm", 90},
                                      {"gpu_memory_gb", 141},
                                      {"nvlinks", 18},
                                      {"nics", 8},
                                      {"nic_gbits_per_s", 400},
                                      {"hosts_per_nvlink_domain", 1}}));
  EXPECT_EQ(preset("gb200-nvl72")["hosts_per_nvlink_domain"], 18);
  EXPECT_EQ(preset("gb200-nvl72")["gpu_memory_gb"], 186);
  EXPECT_EQ(preset("dgx-a100")["gpu_memory_gb"], 40);
  const Outcome table = run_program({"topo", "--presets"});
  EXPECT_EQ(table.status, 0) << table.err;
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(table.out, HasSubstr("dgx-h100              8  H100"));
  EXPECT_EQ(run_program({"topo", "--presets", "--on", "dgx-h100"}).status, 2);
  const Outcome nothing = run_program({"topo"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--on"));
}

TEST(TopoVerb, AllShowsTheRowsThatTheTextOmits) {
  const Outcome few = run_program({"topo", "--on", "dgx-h100", "--nodes", "2"});
  EXPECT_THAT(few.out, HasSubstr("(4 of 16; --all shows them)"));
  EXPECT_THAT(few.out, HasSubstr("PXN 48"));
  EXPECT_THAT(few.out, HasSubstr("0: 0 7 6 5 4 3 2 1 | 9 10 11 12 13 14 15 8\n"));
  const Outcome all = run_program({"topo", "--on", "dgx-h100", "--nodes", "2", "--all"});
  EXPECT_THAT(all.out, Not(HasSubstr("--all")));
  EXPECT_THAT(all.out, HasSubstr("\n   15: "));
}

// The files for NCCL give the same decisions as the preset itself.
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

TEST(TopoVerb, AMachineWithoutAGpuIsReported) {
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
