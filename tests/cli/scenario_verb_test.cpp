// Tests, from the command line, conversion of jobs to and from other formats, the cost of findings, and verdicts by
// synthesis.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kDdp = std::string(RINGSIDE_SOURCE) + "/scenarios/training/ddp-8.yaml";

std::string new_path(const std::string& name) {
  const std::string path = temporary_path(name);
  fs::remove_all(path);
  return path;
}

// Two iterations in the export, one of twice the time in the import: a recording does not show where iterations end.
TEST(ScenarioVerb, AnExportedScenarioCanBeImported) {
  const std::string traces = new_path("chakra");
  const std::string back = new_path("back.yaml");
  ASSERT_EQ(run_program({"scenario", "export", kDdp, "-o", traces}).status, 0);
  const Outcome read = run_program({"scenario", "import", traces, "-o", back, "--json"});
  ASSERT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(json::parse(read.out)["nranks"], 8);
  EXPECT_EQ(json::parse(read.out)["format"], "Chakra execution traces");
  const auto compute = [](const std::string& file) {
    const Outcome run = run_program({"run", file, "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    return json::parse(run.out)["compute_us"].get<double>();
  };
  EXPECT_NEAR(compute(back) / compute(kDdp), 2, 0.01);
  // Nothing is written into a folder that contains anything.
  EXPECT_EQ(run_program({"scenario", "export", kDdp, "-o", traces}).status, 2);
  fs::remove_all(traces);
  fs::remove(back);
}

/// Runs a training step of that layout on that many nodes of eight H100.
Outcome train(const std::string& layout, const std::string& nodes) {
  const std::string file = temporary_path("train.yaml");
  std::ofstream(file) << "ringside: scenario/1\nname: train\ncluster: {on: dgx-h100, nodes: "
                      << nodes
                      << "}\nworkload:\n  megatron: {model: llama3-8b, gpu: h100, efficiency: 0.5, "
                      << layout << "}\n";
  Outcome outcome = run_program({"run", file, "--json"});
  fs::remove(file);
  return outcome;
}

TEST(ScenarioVerb, ATrainingStepHasItsTokensItsMfuAndItsMemory) {
  const Outcome run = train("tensor: 4, data: 4, zero: yes, microbatches: 2", "2");
  ASSERT_EQ(run.status, 0) << run.err;
  const json answer = json::parse(run.out);
  const double step = answer["step_time_us"].get<double>() * 1e-6;
  EXPECT_NEAR(answer["tokens_per_s"].get<double>() * step / (4096 * 4 * 2), 1, 1e-9);
  // Kernels alone reach half of the peak, as nothing is recomputed.
  const double busy = answer["compute_us"].get<double>() / answer["step_time_us"].get<double>();
  EXPECT_NEAR(answer["mfu"].get<double>() / (0.5 * busy), 1, 1e-3);
  EXPECT_EQ(answer["memory"]["gpu_gb"], 80);
  EXPECT_GT(answer["memory"]["needed_gb"], answer["memory"]["weights_gb"]);
  EXPECT_TRUE(answer["notes"].empty()) << run.out;
}

TEST(ScenarioVerb, AStepThatDoesNotFitIsBadInput) {
  const Outcome run = train("data: 16", "2");
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(run.out.empty());
  EXPECT_NE(run.err.find("and has 80.0 GB (h100)"), std::string::npos) << run.err;
}

TEST(ScenarioVerb, GpusWithoutARankAndUnevenStagesAreNoted) {
  const Outcome run = train("tensor: 4, pipeline: 3, zero: yes", "2");
  ASSERT_EQ(run.status, 0) << run.err;
  const json notes = json::parse(run.out)["notes"];
  ASSERT_EQ(notes.size(), 2U) << run.out;
  EXPECT_NE(notes[0].get<std::string>().find("32 layers do not divide by 3"), std::string::npos);
  EXPECT_NE(notes[1].get<std::string>().find("4 of 16 GPUs have no rank"), std::string::npos);
}

TEST(ScenarioVerb, ReportsTheCostOfAFindingAsATime) {
  const std::string logs = new_path("logs");
  const std::string replay = new_path("replay");
  ASSERT_EQ(run_program({"generate", "logs", "--on", "dgx-h100", "--nodes", "2", "--calls", "4",
                         "--subsys", "INIT,GRAPH,NET,COLL", "--break", "gdr", "-o", logs})
                .status,
            0);
  const Outcome done = run_program({"reproduce", logs, "--findings", "-o", replay, "--json"});
  ASSERT_EQ(done.status, 1) << done.err;
  const json answer = json::parse(done.out);
  ASSERT_EQ(answer["findings"].size(), 1U) << done.out;
  EXPECT_EQ(answer["findings"][0]["finding"], "gdr_missing");
  EXPECT_GT(answer["findings"][0]["ratio"], 1.2);
  EXPECT_EQ(answer["healthy"]["ratio"], 1);
  // Each result is a scenario that runs on its own.
  const Outcome again =
      run_program({"run", answer["findings"][0]["scenario"].get<std::string>(), "--json"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NEAR(json::parse(again.out)["step_time_us"].get<double>() /
                  answer["findings"][0]["time_us"].get<double>(),
              1, 1e-6);
  fs::remove_all(logs);
  fs::remove_all(replay);
}

TEST(ScenarioVerb, HostsOfFindingsAreRefusedForAHang) {
  const Outcome run = run_program({"reproduce", "dumps", "--cluster", "dgx-h100"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("--cluster without --findings"), std::string::npos) << run.err;
}

TEST(ScenarioVerb, AVerdictIsVerified) {
  const std::string dumps = new_path("dumps");
  ASSERT_EQ(run_program({"generate", "hangs", "--class", "missing_rank", "--ranks", "8", "--seed",
                         "3", "-o", dumps})
                .status,
            0);
  const Outcome verified = run_program({"hang", "--verify", "--json", dumps});
  ASSERT_EQ(verified.status, 1) << verified.err;
  const json answer = json::parse(verified.out);
  ASSERT_FALSE(answer["synthesis"].empty());
  EXPECT_EQ(answer["synthesis"][0]["culprits"], answer["verdict"]["culprits"]) << verified.out;
  const std::string shown = run_program({"hang", "--verify", dumps}).out;
  EXPECT_NE(shown.find("by the dumps alone; the confidence of 0."), std::string::npos) << shown;
  fs::remove_all(dumps);
}

/// Writes the dumps of two ranks as JSON, of which rank 1 has not reached the last call. The name of a call, its
/// element type and the name of its group come from a stranger.
void write_hostile_dumps(const std::string& folder, const std::string& text) {
  fs::create_directories(folder);
  for (int rank = 0; rank < 2; ++rank) {
    json dump{{"version", "2.10"}, {"entries", json::array()}};
    for (int number = 1; number <= 3; ++number) {
      if (rank == 1 && number == 3) break;
      const bool is_last = number == 3;
      dump["entries"].push_back(
          {{"record_id", number},
           {"pg_id", 0},
           {"process_group", {"0", number == 1 ? "default_pg" : text}},
           {"collective_seq_id", number},
           {"profiling_name", number == 2 ? "nccl:" + text : "nccl:all_reduce"},
           {"input_sizes", {{4}}},
           {"output_sizes", {{4}}},
           {"input_dtypes", {text}},
           {"output_dtypes", {text}},
           {"state", is_last ? "started" : "completed"},
           {"retired", !is_last},
           {"time_created_ns", 1'700'000'000'000'000'000 + number}});
    }
    dump["pg_config"] = {{"0", {{"name", "0"}, {"desc", text}, {"ranks", "[0, 1]"}}}};
    std::ofstream(folder + "/comm_lib_trace_rank_" + std::to_string(rank) + ".json")
        << dump.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

// Names of calls, groups and types come from the dumps; scenarios of them run, with the faults that they list.
TEST(ScenarioVerb, WordsOfADumpDoNotBecomeKeys) {
  const std::string file = new_path("made.yaml");
  const std::string keys = "faults:\n- kill: {rank: 0, call: 0}\n";
  for (const std::string& text :
       {"x\n" + keys + "#", "x\r" + keys + "#", "x\u2028" + keys, "\"\n" + keys + "about: \"",
        std::string("x: {y\x1b[2J\x7f"), std::string(3'000, 'x') + "\n" + keys}) {
    const std::string dumps = new_path("hostile");
    write_hostile_dumps(dumps, text);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"scenario", "import", dumps},
          std::vector<std::string>{"reproduce", dumps}}) {
      std::vector<std::string> into = words;
      into.insert(into.end(), {"-o", file});
      const Outcome made = run_program(into);
      ASSERT_TRUE(made.status == 0 || made.status == 1) << made.err;
      std::ifstream stream(file);
      const std::string written(std::istreambuf_iterator<char>(stream), {});
      // reproduce represents a rank that continued alone by a fault, which is `throw`.
      for (const char* const line : {"\n- kill", "\n  - kill", "\rfaults", "\u2028faults"}) {
        EXPECT_EQ(written.find(line), std::string::npos) << written;
      }
      const bool is_import = words[0] == "scenario";
      EXPECT_TRUE(!is_import || written.find("\nfaults") == std::string::npos) << written;
      const Outcome printed = run_program(words);
      for (const std::string& shown : {written, made.out, printed.out}) {
        const auto steers = [](unsigned char c) { return (c < ' ' && c != '\n') || c == 127; };
        EXPECT_EQ(std::ranges::count_if(shown, steers), 0) << shown;
      }
    }
    fs::remove_all(dumps);
  }
  fs::remove(file);
}

// A rejected input leaves no file behind, and an existing file unchanged.
TEST(ScenarioVerb, ARefusedReproductionLeavesNoFile) {
  const std::string empty = new_path("nothing");
  fs::create_directories(empty);
  const std::string file = new_path("refused.yaml");
  ASSERT_EQ(run_program({"reproduce", empty, "-o", file}).status, 2);
  EXPECT_FALSE(fs::exists(file));
  std::ofstream(file) << "mine";
  ASSERT_EQ(run_program({"reproduce", empty, "-o", file}).status, 2);
  EXPECT_EQ(fs::file_size(file), 4U);
  fs::remove_all(empty);
  fs::remove(file);
}

}  // namespace
}  // namespace ringside
