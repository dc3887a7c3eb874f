#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/json_answer.h"
#include "tests/cli/program.h"
#include "tests/study/published_folder.h"

namespace ringside {
namespace {

using nlohmann::json;

json simulate(const std::vector<std::string>& words) { return json_answer("sim", words); }

// 2 nodes with 8 NICs of 48 GB/s each: no ring can carry more than 8 x 48 GB/s.
TEST(SimVerb, BusbwStaysWithinTheLinksAndRepeatsToTheLastDigit) {
  const std::vector<std::string> words{"all_reduce", "--bytes", "64M",   "--on",
                                       "dgx-h100",   "--nodes", "2",     "--algo",
                                       "ring",       "--proto", "simple"};
  const json first = simulate(words);
  const json second = simulate(words);
  EXPECT_EQ(first["schema"], "ringside.sim/1");
  const json& result = first["results"][0];
  EXPECT_EQ(result["bytes"], 64 << 20);
  EXPECT_EQ(result["algorithm"], "ring");
  EXPECT_EQ(result["protocol"], "simple");
  EXPECT_GT(result["busbw_gbs"].get<double>(), 0);
  EXPECT_LE(result["busbw_gbs"].get<double>(), 8 * 48.0);
  EXPECT_EQ(result["time_us"].dump(), second["results"][0]["time_us"].dump());
  EXPECT_EQ(result["busbw_gbs"].dump(), second["results"][0]["busbw_gbs"].dump());
}

// 513 x 8 ranks: one peer in each direction is little work; 16.8 million transfers are too many.
TEST(SimVerb, LargeExchangesAreRefusedWithAFix) {
  const json result =
      simulate({"send_recv", "--bytes", "1M", "--on", "dgx-h100", "--nodes", "513"})["results"][0];
  EXPECT_GE(result["transfers"], 513 * 8);
  const Outcome refused =
      run_program({"sim", "all_to_all", "--bytes", "1M", "--on", "dgx-h100", "--nodes", "513"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("all_to_all among 4104 ranks"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("4096 at most: give fewer nodes"), std::string::npos) << refused.err;
}

TEST(SimVerb, TakesNcclsChoiceAndShowsItsPredictionWithTheSimulatedTime) {
  const json result =
      simulate({"all_reduce", "--bytes", "8", "--on", "dgx-h100", "--nodes", "2"})["results"][0];
  EXPECT_EQ(result["algorithm"], "tree");
  EXPECT_EQ(result["protocol"], "ll");
  EXPECT_NEAR(result["time_us"].get<double>() / result["predicted_us"].get<double>(), 1, 0.5);
  EXPECT_EQ(result["busiest_link"]["name"].get<std::string>().substr(0, 4), "node");
}

// The parts of the critical path follow each other from the launch to the last step.
TEST(SimVerb, AProfileShowsWhereTheTimeGoes) {
  const json result = simulate({"all_reduce", "--bytes", "16M", "--on", "dgx-h100", "--nodes", "2",
                                "--profile"})["results"][0];
  const json& profile = result["profile"];
  ASSERT_FALSE(profile["critical_path"].empty());
  double end = profile["critical_path"][0]["begin_us"];
  for (const json& leg : profile["critical_path"]) {
    EXPECT_NEAR(leg["begin_us"].get<double>(), end, 1e-6);
    end = leg["end_us"];
  }
  EXPECT_LE(end, result["time_us"].get<double>() + 1e-3);
  EXPECT_EQ(profile["critical_path"][0]["waited_for"], "begin");
  EXPECT_FALSE(profile["links"].empty());
  EXPECT_FALSE(profile["terms"].empty());
}

// NCCL copies within the GPU's memory, or does nothing: there is no link, and 8 GiB in a launch's time are no bandwidth.
TEST(SimVerb, OneRankHasNoBandwidth) {
  for (const std::string fidelity : {"auto", "event", "flow", "chunk", "model"}) {
    const std::vector<std::string> words{"all_reduce", "--bytes",    "8G",    "--on",
                                         "gh200",      "--fidelity", fidelity};
    const json result = simulate(words)["results"][0];
    EXPECT_TRUE(result["algbw_gbs"].is_null()) << fidelity << result;
    EXPECT_TRUE(result["busbw_gbs"].is_null()) << fidelity << result;
    std::vector<std::string> verb{"sim"};
    verb.insert(verb.end(), words.begin(), words.end());
    const std::string text = run_program(verb).out;
    EXPECT_NE(text.find("# one rank: in place NCCL does nothing"), std::string::npos) << text;
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    EXPECT_EQ(text.find("inf"), std::string::npos) << text;
  }
  const json varied =
      simulate({"all_reduce", "--bytes", "1M", "--on", "gh200", "--vary", "nodes=2"});
  EXPECT_TRUE(varied["variants"][0]["results"][0]["busbw_ratio"].is_null());
  EXPECT_GT(varied["variants"][0]["results"][0]["busbw_gbs"].get<double>(), 0);
}

// Four hosts of one leaf use no spine, so a ratio changes nothing, and a reader who compares two should know why.
TEST(SimVerb, SaysThatHostsOfOneLeafFeelNoOversubscription) {
  const std::string note =
      "all 4 hosts are below the same leaf switches, so oversubscription has no effect";
  const auto said = [&](const std::string& fabric, const std::string& nodes) {
    return run_program({"sim", "all_reduce", "--bytes", "1M", "--on", "dgx-h100", "--nodes", nodes,
                        "--fabric", fabric})
               .out.find(note) != std::string::npos;
  };
  EXPECT_TRUE(said("leaf_spine:2:1", "4"));
  EXPECT_FALSE(said("leaf_spine:2:1", "8"));
  EXPECT_FALSE(said("leaf_spine:1:1", "4"));
}

// Two hosts of one leaf have 2 NICs on a rail: 2:1 and 8:1 both leave one link up, and the answers are the same.
TEST(SimVerb, NotesARoundedOversubscription) {
  const std::string path = temporary_path("rounded.yaml");
  std::ofstream(path)
      << "ringside: cluster/1\nname: small\nnodes: [dgx-h100 x4]\nfabric:\n  kind: leaf_spine\n"
         "  rails: optimised\n  hosts_per_leaf: 2\n  oversubscription: 2\n";
  const std::vector<std::string> words{"sim", "all_reduce", "--bytes", "1M", "--on", path};
  const std::string exact = run_program(words).out;
  EXPECT_EQ(exact.find("links are whole"), std::string::npos) << exact;
  std::vector<std::string> changed = words;
  changed.insert(changed.end(), {"--set", "fabric.oversubscription=8"});
  const std::string note = "leaf - spine is 2:1, not 8:1: links are whole";
  const std::string rounded = run_program(changed).out;
  EXPECT_NE(rounded.find("# fabric: " + note), std::string::npos) << rounded;
  const json varied = simulate(
      {"all_reduce", "--bytes", "1M", "--on", path, "--vary", "fabric.oversubscription=2,8"});
  EXPECT_TRUE(varied["base"]["fabric_note"].is_null());
  EXPECT_TRUE(varied["variants"][0]["fabric_note"].is_null());
  EXPECT_EQ(varied["variants"][1]["fabric_note"], note);
}

TEST(ValidateVerb, MergesRowsWithTheSameError) {
  const std::string folder = temporary_path("alike");
  const std::string row = "two-h100,AllReduce,2,1,Spiral,auto,,float,oop,";
  write_published(folder, row + "2048,1,2.27,\n" + row + "4096,1,2.27,\n" + row + "4096,2,2.27,\n");
  const std::string text =
      run_program({"validate", folder, "--machines", folder + "/machines"}).out;
  const std::string line = "# not simulated: two-h100, AllReduce of 2048 to 4096 B (3 rows): ";
  EXPECT_NE(text.find(line), std::string::npos) << text;
  EXPECT_EQ(text.find("# not simulated"), text.rfind("# not simulated")) << text;
}

// One system is scored, at a size of the first class and one of the last.
TEST(ValidateVerb, PlotsTheScoredRows) {
  const std::string folder = temporary_path("plotted");
  write_published(folder);
  const std::string path = folder + "/errors.svg";
  const Outcome out =
      run_program({"validate", folder, "--machines", folder + "/machines", "--plot", path});
  EXPECT_EQ(out.status, 0) << out.err;
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("two-h100"), std::string::npos);
  EXPECT_EQ(svg.find("guessed"), std::string::npos);
  // Two rows, and NCCL's median in each of their classes.
  std::size_t circles = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1))
    ++circles;
  EXPECT_EQ(circles, 4U);
}

// 16 TiB is 17592186044416 B, 4398046511104 elements: wider than any column.
TEST(SimVerb, LargeNumbersDoNotRunTogether) {
  const std::string text =
      run_program({"sim", "all_reduce", "--bytes", "16T", "--on", "dgx-h100"}).out;
  EXPECT_NE(text.find("17592186044416 4398046511104 "), std::string::npos) << text;
}

TEST(SimVerb, PlotsOneSizeOrSeveral) {
  for (const std::string sizes : {"1M", "1M:4M:2"}) {
    const std::string path = temporary_path("sim-plot.svg");
    const Outcome out = run_program({"sim", "all_reduce", "--bytes", sizes, "--on", "dgx-h100",
                                     "--nodes", "2", "--plot", path});
    EXPECT_EQ(out.status, 0) << out.err;
    std::ifstream file(path);
    const std::string svg{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(svg.substr(0, 4), "<svg");
    EXPECT_NE(svg.find("dgx-h100"), std::string::npos);
    EXPECT_NE(svg.find(sizes == "1M" ? "critical path" : "NCCL"), std::string::npos);
  }
}

TEST(SimVerb, PointToPointHasNoPrediction) {
  const json result = simulate({"all_to_all", "--bytes", "1M", "--on", "2x-l4"})["results"][0];
  EXPECT_TRUE(result["predicted_us"].is_null());
  EXPECT_GT(result["time_us"].get<double>(), 0);
}

// A slower network, one process for all GPUs of a node, an older release: each is another answer.
TEST(SimVerb, TheSurroundingsCount) {
  const std::vector<std::string> base{"all_reduce", "--bytes", "1K", "--on", "dgx-h100"};
  const auto time_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = base;
    words.insert(words.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--nodes") == more.end()) {
      words.insert(words.end(), {"--nodes", "2"});
    }
    return simulate(words)["results"][0]["time_us"].get<double>();
  };
  const double usual = time_with({});
  EXPECT_EQ(time_with({"--net", "ib", "--launch", "process"}), usual);
  EXPECT_GT(time_with({"--net", "efa"}), 2 * usual);
  EXPECT_GT(time_with({"--launch", "threads", "--nodes", "1"}), time_with({"--nodes", "1"}));
  const Outcome outcome = run_program({"sim", "all_reduce", "--on", "dgx-h100", "--net", "ibb"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("did you mean 'ib'"), std::string::npos) << outcome.err;
}

TEST(SimVerb, NamesWhyAnAlgorithmIsUnavailable) {
  const Outcome outcome = run_program(
      {"sim", "all_reduce", "--bytes", "1M", "--on", "dgx-a100", "--nodes", "2", "--algo", "nvls"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("NCCL has no all_reduce by --algo nvls on dgx-a100"),
            std::string::npos)
      << outcome.err;
}

// The answer uses the words that the user typed.
TEST(SimVerb, RefusalsNameTheOptionThatWasGiven) {
  const auto refusal = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"sim", "all_reduce", "--bytes", "1M", "--on", "dgx-h100"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_EQ(outcome.err.find("NCCL_"), std::string::npos) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(refusal({"--algo", "one_shot"}).find("--algo one_shot: NCCL has no such algorithm"),
            std::string::npos);
  const std::string two = refusal({"-N", "2", "--algo", "nvls_tree", "--proto", "ll"});
  EXPECT_NE(two.find("by --algo nvls_tree --proto ll on dgx-h100"), std::string::npos) << two;
  EXPECT_NE(refusal({"--channels", "0"}).find("--channels"), std::string::npos);
  EXPECT_NE(refusal({"--model", "/nonexistent/m.yaml"}).find("/nonexistent/m.yaml"),
            std::string::npos);
}

// A host of one GPU and nothing else: two of them have no path to each other.
TEST(SimVerb, HostsWithoutAPathAreBadInput) {
  const std::string path = temporary_path("bare.yaml");
  std::ofstream(path) << "ringside: host/1\nname: bare\ncpu: {arch: x86_64}\nkinds:\n"
                         "  gpu: {is: gpu, pcie: gen4 x16, id: 10de:2330, sm: 90}\n"
                         "tree:\n- numa 0: [gpu 0 01:00.0]\n";
  const Outcome outcome =
      run_program({"sim", "all_reduce", "--bytes", "1M", "--on", path, "--nodes", "2"});
  std::remove(path.c_str());
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("help:"), std::string::npos) << outcome.err;
}

// docs/accuracy.md has for each size class the error that `sim` prints.
TEST(SimVerb, ItsErrorBarsAreListedInTheAccuracyPage) {
  std::ifstream file(std::string(RINGSIDE_SOURCE) + "/docs/accuracy.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const auto row = [](const std::string& nodes, const std::string& fidelity) {
    const json answer = simulate({"all_reduce", "--bytes", "64K:64M:32", "--on", "2x-l4", "--nodes",
                                  nodes, "--fidelity", fidelity, "--net", "ib"});
    std::string text = "|";
    for (const json& result : answer["results"]) {
      text += " " + std::to_string(result["error_percent"].get<int>()) + " |";
    }
    return text;
  };
  EXPECT_NE(page.find("| PCIe " + row("1", "event")), std::string::npos);
  EXPECT_NE(page.find("| InfiniBand " + row("2", "event")), std::string::npos);
  EXPECT_NE(page.find("| NCCL's own model " + row("1", "model")), std::string::npos);
}

// 1,024 H100 are more than were ever measured, 16 are not; 32 are too many for all_to_all, which was measured with 20
// ranks.
TEST(SimVerb, NotesQuestionsBeyondTheMeasuredRange) {
  const auto said = [](const std::string& collective, const std::string& nodes) {
    return run_program({"sim", collective, "--bytes", "1M", "--on", "dgx-h100", "--nodes", nodes})
        .out;
  };
  EXPECT_EQ(said("all_reduce", "2").find("beyond"), std::string::npos);
  EXPECT_NE(said("all_reduce", "128")
                .find("beyond what was measured: all_reduce was measured among 64 ranks"),
            std::string::npos);
  EXPECT_NE(said("all_to_all", "4").find("among 20 ranks at most"), std::string::npos);
  EXPECT_NE(said("gather", "1").find("gather was not measured"), std::string::npos);
  const json varied = simulate({"all_reduce", "--bytes", "64M", "--on", "dgx-h100", "--vary",
                                "nodes=2,32", "--vary", "fidelity=event,model"});
  EXPECT_TRUE(varied["variants"][0]["beyond_measured"].is_null());
  EXPECT_FALSE(varied["variants"][2]["beyond_measured"].is_null());
  const std::string table = run_program({"sim", "all_reduce", "--bytes", "64M", "--on", "dgx-h100",
                                         "--nodes", "32", "--vary", "fidelity=model"})
                                .out;
  const double one = varied["variants"][0]["results"][0]["error_percent"];
  const double model = varied["variants"][1]["results"][0]["error_percent"];
  EXPECT_NE(one, model);
  const auto starred = [](double percent) {
    return " " + std::to_string(static_cast<int>(percent)) + "* ";
  };
  EXPECT_NE(table.find(starred(1.5 * one)), std::string::npos) << table;
  EXPECT_NE(table.find(starred(model)), std::string::npos) << table;
}

// The first of three variants is impossible; the table and the document have the other two.
TEST(SimVerb, AVariantThatCannotBeIsARowAndAStatus) {
  const std::vector<std::string> words{"sim",      "all_reduce", "--bytes", "1M",     "--on",
                                       "dgx-h100", "--nodes",    "2",       "--vary", "nics=16,4"};
  const Outcome table = run_program(words);
  EXPECT_EQ(table.status, 1) << table.err;
  EXPECT_NE(table.out.find("not done: dgx-h100 has 8 NICs"), std::string::npos) << table.out;
  std::vector<std::string> with_json = words;
  with_json.emplace_back("--json");
  const Outcome outcome = run_program(with_json);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json document = json::parse(outcome.out);
  ASSERT_EQ(document["variants"].size(), 2U);
  EXPECT_TRUE(document["variants"][0]["nranks"].is_null());
  EXPECT_NE(document["variants"][0]["results"][0]["refusal"], "");
  EXPECT_GT(document["variants"][1]["results"][0]["time_us"].get<double>(), 0);
}

TEST(SimVerb, ASweepGivesEachSizeTheResultThatItHasAlone) {
  const json alone = simulate({"all_reduce", "--bytes", "1M", "--on", "dgx-h100", "--nodes", "2"});
  const json sweep =
      simulate({"all_reduce", "--bytes", "64K:4M:4", "--on", "dgx-h100", "--nodes", "2"});
  ASSERT_EQ(sweep["results"].size(), 4U);
  EXPECT_EQ(sweep["results"][2]["time_us"].dump(), alone["results"][0]["time_us"].dump());
}

TEST(SimVerb, ATraceIsOneThatTheTraceVerbReads) {
  const std::string path = temporary_path("sim.rtrace");
  static_cast<void>(simulate({"all_reduce", "--bytes", "1M", "--on", "2x-l4", "--trace", path}));
  const Outcome info = run_program({"trace", "info", path, "--json"});
  std::remove(path.c_str());
  ASSERT_EQ(info.status, 0) << info.err;
  const json document = json::parse(info.out);
  EXPECT_EQ(document["unmatched_halves"], 0);
  EXPECT_GT(document["primitives"], 0);
  EXPECT_EQ(document["processes"][0]["clock"], "simulated");
  EXPECT_NE(document["processes"][0]["command_line"].get<std::string>().find(" sim all_reduce"),
            std::string::npos);
}

TEST(SimVerb, AnUnwritableTraceIsFoundBeforeSimulating) {
  const Outcome outcome = run_program(
      {"sim", "all_reduce", "--bytes", "1M", "--on", "2x-l4", "--trace", "/nonexistent/t.rtrace"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.err.find("/nonexistent/t.rtrace"), std::string::npos) << outcome.err;
}

TEST(SimVerb, WithoutItsWorkerItNamesWhereItLooked) {
  const Outcome outcome =
      run_program({"sim", "all_reduce", "--bytes", "1M", "--on", "2x-l4", "--fidelity", "chunk"},
                  {"RINGSIDE_SIMGRID=/nonexistent/worker"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.err.find("looked for /nonexistent/worker"), std::string::npos) << outcome.err;
}

TEST(SimVerb, EventFidelityNeedsNoWorkerAndIsNamed) {
  const Outcome outcome = run_program(
      {"sim", "all_reduce", "--bytes", "1M", "--on", "2x-l4", "--fidelity", "event", "--json"},
      {"RINGSIDE_SIMGRID=/nonexistent/worker"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["fidelity"], "event");
  const json chunk =
      simulate({"all_reduce", "--bytes", "1M", "--on", "2x-l4", "--fidelity", "chunk"});
  const double expected = chunk["results"][0]["time_us"];
  EXPECT_NEAR(document["results"][0]["time_us"], expected, 0.01 * expected);
}

TEST(SimVerb, AutoNamesTheChosenFidelityAndTheReason) {
  const json few = simulate({"all_reduce", "--bytes", "1M", "--on", "2x-l4"});
  EXPECT_EQ(few["fidelity"], "auto");
  EXPECT_EQ(few["results"][0]["fidelity"], "event");
  const Outcome many =
      run_program({"sim", "all_reduce", "--bytes", "1M:4G:4096", "--on", "dgx-h100", "-N", "32"});
  ASSERT_EQ(many.status, 0) << many.err;
  EXPECT_NE(many.out.find("# from 1048576 B fidelity event "), std::string::npos) << many.out;
  EXPECT_NE(many.out.find("# from 4294967296 B fidelity flow "), std::string::npos) << many.out;
}

TEST(SimVerb, TheModelIsNcclsOwn) {
  const json result = simulate({"all_reduce", "--bytes", "1M", "--on", "dgx-h100", "-N", "2",
                                "--fidelity", "model"})["results"][0];
  EXPECT_NEAR(result["time_us"].get<double>(), result["predicted_us"].get<double>(), 0.01);
  const Outcome none = run_program(
      {"sim", "all_to_all", "--bytes", "1M", "--on", "dgx-h100", "--fidelity", "model"});
  EXPECT_EQ(none.status, 2) << none.err;
  EXPECT_NE(none.err.find("NCCL predicts no time for all_to_all"), std::string::npos) << none.err;
}

// Loading SimGrid takes tens of ms, which no other verb should pay. (The test does what ldd does.)
TEST(Program, LoadsNoSimulator) {
  const Outcome outcome = run_program({"--version"}, {"LD_TRACE_LOADED_OBJECTS=1"});
  EXPECT_NE(outcome.out.find("libc.so"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("simgrid"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace ringside
