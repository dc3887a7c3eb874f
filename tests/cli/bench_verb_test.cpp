#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "ringside/trace_reader.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

using nlohmann::json;

class BenchVerb : public testing::TestWithParam<const char*> {};

TEST_P(BenchVerb, PrintsOneJsonDocumentWithoutWrongElements) {
  const Outcome outcome =
      run_program({"bench", "all_reduce", "-n", "3", "-b", "8", "-e", "128K", "-f", "4", "--iters",
                   "3", "--transport", GetParam(), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "ringside.bench/1");
  EXPECT_EQ(document["nranks"], 3);
  EXPECT_EQ(document["transport"], GetParam());
  ASSERT_EQ(document["results"].size(), 8U);  // 8 << 2k up to 128K = 8 << 14
  for (const json& row : document["results"]) {
    EXPECT_EQ(row["wrong"], 0);
    EXPECT_EQ(row["in_place"]["wrong"], 0);
    EXPECT_EQ(row["count"].get<int>() * 4, row["bytes"].get<int>());
    // 3 ranks: busbw = algbw x 2 x 2 / 3, algbw = bytes / time
    const double algbw = row["bytes"].get<double>() / row["time_us"].get<double>() / 1e3;
    EXPECT_NEAR(row["algbw_gbs"].get<double>(), algbw, algbw * 1e-6);
    EXPECT_NEAR(row["busbw_gbs"].get<double>(), algbw * 4 / 3, algbw * 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, BenchVerb, testing::Values("shm", "tcp"),
                         [](const auto& transport) { return std::string(transport.param); });

TEST(BenchVerb, SizesOfAnAllGatherAreThoseOfTheGatheredResult) {
  const Outcome outcome = run_program(
      {"bench", "all_gather", "-n", "4", "-b", "1000", "-e", "1000", "--iters", "1", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json row = json::parse(outcome.out)["results"][0];
  EXPECT_EQ(row["count"], 62);  // 1000 / 4 ranks / 4 bytes, rounded down
  EXPECT_EQ(row["bytes"], 992);
}

TEST(BenchVerb, EveryCollectiveRunsByTheAlgorithmThatIsAskedFor) {
  for (const auto& [collective, algorithm] : {std::pair{"all_reduce", "one_shot"},
                                              {"all_reduce", "nvls_tree"},
                                              {"all_gather", "pat"},
                                              {"all_to_all", "ring"},
                                              {"scatter", "ring"},
                                              {"all_gather_v", "ring"}}) {
    const Outcome outcome =
        run_program({"bench", collective, "-n", "4", "-b", "40K", "-e", "40K", "--iters", "1",
                     "--algo", algorithm, "--proto", "ll128", "--json"});
    ASSERT_EQ(outcome.status, 0) << collective << outcome.err;
    const json row = json::parse(outcome.out)["results"][0];
    EXPECT_EQ(row["algorithm"], algorithm);
    EXPECT_EQ(row["protocol"], "ll128");
    EXPECT_EQ(row["wrong"], 0) << collective;
    EXPECT_EQ(row["is_modelled"], std::string(algorithm) == "nvls_tree");
  }
}

TEST(BenchVerb, AnInvalidAlgorithmProtocolPairIsRefusedWithTheValidOnes) {
  const Outcome outcome = run_program({"bench", "all_gather", "-n", "2", "--algo", "tree"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.err.find("no all_gather by the tree algorithm"), std::string::npos);
  EXPECT_NE(outcome.err.find("ring, collnet_direct, nvls, pat"), std::string::npos) << outcome.err;
}

// An all-reduce among 2 ranks: ring, tree, nvls, one_shot, and the three that join nodes, of one rank each; each
// with three protocols.
TEST(BenchVerb, TheGridMarksOnePickAndOneBestOfEachSize) {
  const Outcome outcome = run_program({"bench", "all_reduce", "-n", "2", "-b", "64", "-e", "4K",
                                       "-f", "64", "--iters", "2", "--all-algos", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  ASSERT_EQ(document["results"].size(), 2U);
  for (const json& row : document["results"]) {
    EXPECT_EQ(row["cells"].size(), 8U * 3U);
    int picks = 0;
    int bests = 0;
    for (const json& cell : row["cells"]) {
      picks += cell["is_pick"] ? 1 : 0;
      bests += cell["is_best"] ? 1 : 0;
      EXPECT_EQ(cell["wrong"], 0);
    }
    EXPECT_EQ(picks, 1);
    EXPECT_EQ(bests, 1);
  }
}

/// The fields of each line.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line + ",");
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

// 2 sizes in 2 placements below the line of names.
TEST(BenchVerb, CsvHasALineOfNamesAndOneForEachSizeAndPlacement) {
  const Outcome outcome = run_program({"bench", "all_reduce", "-n", "2", "-b", "8", "-e", "64",
                                       "-f", "8", "--iters", "2", "--csv"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = parse_csv(outcome.out);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0][0], "collective");
  EXPECT_EQ(rows[0].rbegin()[1], "wrong");
  EXPECT_EQ(rows[0].back(), "expected_us");
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][0], "all_reduce");
  EXPECT_EQ(rows[1].rbegin()[1], "0");
  EXPECT_EQ(rows[1].back(), "");
}

TEST(BenchVerb, PrintsTheExpectedTimesIfRequested) {
  const std::vector<std::string> words{"bench",   "all_reduce", "-n",          "2",   "-b",
                                       "8",       "-e",         "1M",          "-f",  "131072",
                                       "--iters", "2",          "--transport", "tcp", "--json"};
  const Outcome without = run_program(words);
  ASSERT_EQ(without.status, 0) << without.err;
  EXPECT_TRUE(json::parse(without.out)["results"][0]["expected_us"].is_null());
  std::vector<std::string> asked = words;
  asked.push_back("--expect");
  const Outcome outcome = run_program(asked);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json rows = json::parse(outcome.out)["results"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GT(rows[0]["expected_us"], 0.0);
  EXPECT_GT(rows[1]["expected_us"], rows[0]["expected_us"]);
}

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

/// The words of a line, as parsers of benchmark tables split it.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

// Column for column what nccl-tests 2.17 prints, as in real tables: shared/corpus/logs/real-table-h100-10node.log.
TEST(BenchVerb, LikeNcclTestsHasItsTableAndNothingElse) {
  const Outcome outcome =
      run_program({"bench", "all_reduce", "-g", "2", "-b", "8", "-e", "24", "-i", "8", "--iters",
                   "2", "-c", "3", "--like", "nccl-tests"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> lines = lines_of(outcome.out);
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  EXPECT_TRUE(has("# Collective test starting: all_reduce_perf")) << outcome.out;
  EXPECT_TRUE(
      has("# nThread 1 nGpus 1 minBytes 8 maxBytes 24 step: 8(bytes) warmup iters: 5 iters: 2 "
          "agg iters: 1 validation: 3 graph: 0"))
      << outcome.out;
  EXPECT_TRUE(
      has("#                                                              out-of-place       "
          "                in-place          "));
  EXPECT_TRUE(
      has("#       size         count      type   redop    root     time   algbw   busbw  "
          "#wrong     time   algbw   busbw  #wrong "));
  EXPECT_TRUE(
      has("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)     "
          "        (us)  (GB/s)  (GB/s)         "));
  EXPECT_TRUE(has("# Out of bounds values : 0 OK"));
  EXPECT_TRUE(has("# Collective test concluded: all_reduce_perf"));
  int rows = 0;
  int ranks = 0;
  for (const std::string& line : lines) {
    ranks += line.starts_with("#  Rank  ") ? 1 : 0;
    if (line.starts_with('#')) continue;
    const std::vector<std::string> words = words_of(line);
    ASSERT_EQ(words.size(), 13U) << line;
    EXPECT_EQ(words[0], std::to_string(8 * ++rows));
    EXPECT_EQ(line.substr(0, 52), fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", 8 * rows,
                                              2 * rows, "float", "sum", "-1"));
    EXPECT_EQ(words[8], "0");
    EXPECT_EQ(words[12], "0");
  }
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(ranks, 2);
}

TEST(BenchVerb, APlacementThatIsNotTimedIsNotAvailableInTheTableOfNcclTests) {
  const Outcome outcome = run_program({"bench", "all_to_all", "-n", "2", "-b", "64", "-e", "64",
                                       "--iters", "1", "-c", "0", "--like", "nccl-tests"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const std::string& line : lines_of(outcome.out)) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> words = words_of(line);
    ASSERT_EQ(words.size(), 13U) << line;
    EXPECT_EQ(words[3], "none");
    EXPECT_EQ(words[8], "N/A");
    EXPECT_EQ(words[12], "N/A");
  }
}

TEST(BenchVerb, TheDocumentOfNcclTestsHasItsKeysAndAuditReadsIt) {
  const std::string path = temporary_path("bench_document") + ".json";
  const Outcome outcome = run_program(
      {"bench", "all_reduce", "-n", "2", "-b", "1K", "-e", "4K", "--iters", "2", "-J", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("# ringside"), std::string::npos) << "the own table stays";
  std::ifstream file(path);
  const json document = json::parse(file);
  EXPECT_EQ(document["version"], 3);
  for (const char* key : {"start_time", "args", "env", "nccl_version", "config", "results",
                          "out_of_bounds", "average_bus_bandwidth", "errors", "end_time"}) {
    EXPECT_TRUE(document.contains(key)) << key;
  }
  EXPECT_EQ(document["config"]["step_factor"], 2);
  EXPECT_EQ(document["config"]["devices"].size(), 2U);
  ASSERT_EQ(document["results"].size(), 3U);
  EXPECT_EQ(document["results"][0]["root"], "    -1");
  EXPECT_EQ(document["results"][0]["out_of_place"]["nwrong"], "0");
  EXPECT_GT(document["results"][0]["in_place"]["time"], 0.0);
  EXPECT_EQ(document["args"][0], "all_reduce_perf");
  EXPECT_EQ(document["args"][1], "-n");
  const Outcome audit = run_program({"audit", path});
  EXPECT_NE(audit.out.find("measured all_reduce of 4K"), std::string::npos) << audit.out;
  std::filesystem::remove(path);
}

// OSU's size is one rank's message: an all-gather of 64 bytes among 4 ranks has 16.
TEST(BenchVerb, LikeOsuHasItsTwoColumns) {
  const Outcome outcome = run_program(
      {"bench", "all_gather", "-n", "4", "-b", "64", "-e", "64", "--iters", "2", "--like", "osu"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4U) << outcome.out;
  EXPECT_EQ(lines[0], "");
  EXPECT_EQ(lines[1], "# OSU MPI Allgather Latency Test v5.9");
  EXPECT_EQ(lines[2], "# Size       Avg Latency(us)");
  EXPECT_EQ(lines[3].size(), 28U);
  ASSERT_EQ(words_of(lines[3]).size(), 2U);
  EXPECT_EQ(words_of(lines[3])[0], "16");
}

TEST(BenchVerb, OptionsOfNcclTestsThatMeanSomethingElseHereAreRefusedWithTheRightWord) {
  const auto refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"bench", "all_reduce"});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(words) << outcome.out;
    return outcome.err;
  };
  EXPECT_NE(refusal({"-g", "2", "-n", "20"}).find("--iters 20"), std::string::npos);
  EXPECT_NE(refusal({"-i", "20", "-e", "64M"}).find("--iters"), std::string::npos);
  EXPECT_NE(refusal({"-i", "1M", "-f", "2"}).find("give one of them"), std::string::npos);
  EXPECT_NE(refusal({"-i", "0"}).find("step above 0"), std::string::npos);
  EXPECT_NE(refusal({"-t", "0"}).find("-t 0"), std::string::npos);
  EXPECT_NE(refusal({"-c", "-1"}).find("--check -1"), std::string::npos);
  EXPECT_NE(refusal({"--like", "nccl_tests"}).find("nccl-tests"), std::string::npos);
  EXPECT_NE(refusal({"--like", "osu", "--json"}).find("--json"), std::string::npos);
  const Outcome no_such = run_program({"bench", "all_gather_v", "--like", "nccl-tests", "-n", "2"});
  EXPECT_EQ(no_such.status, 2);
  EXPECT_NE(no_such.err.find("nccl-tests has no all_gather_v"), std::string::npos);
}

TEST(BenchVerb, UnderALauncherAProcessIsOneRank) {
  const Outcome outcome =
      run_program({"bench", "all_reduce", "-g", "8"}, {"RANK=0", "WORLD_SIZE=2"});
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.err.find("start 8 times as many processes"), std::string::npos) << outcome.err;
}

TEST(BenchVerb, CsvOfTheGridHasALineForEachCell) {
  const Outcome outcome = run_program({"bench", "all_gather", "-n", "2", "-b", "64", "-e", "64",
                                       "--iters", "2", "--all-algos", "--check", "off", "--csv"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = parse_csv(outcome.out);
  // ring, collnet_direct, nvls, pat; three protocols
  ASSERT_EQ(rows.size(), 1U + 4U * 3U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1].back(), "");  // not checked
}

TEST(BenchVerb, EveryRunMayBeChecked) {
  const Outcome outcome = run_program({"bench", "reduce_scatter", "-n", "3", "-b", "4K", "-e", "4K",
                                       "--iters", "3", "--check", "every", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["results"][0]["wrong"], 0);
}

TEST(BenchVerb, ThePlotDrawsACurveForEachAlgorithmAndProtocol) {
  const std::string path = temporary_path("plot.svg");
  const Outcome outcome = run_program({"bench", "all_reduce", "-n", "2", "-b", "8", "-e", "8K",
                                       "-f", "32", "--iters", "2", "--all-algos", "--plot", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::ifstream file(path);
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const char* word : {"<svg", "all_reduce, float sum, 2 ranks over shm", "ring ll128",
                           "nvls simple (modelled)", "chosen automatically", "</svg>"}) {
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  std::remove(path.c_str());
}

TEST(BenchVerb, RefusesAnUnwritableOutputBeforeRunning) {
  const Outcome plot = run_program({"bench", "all_reduce", "-n", "2", "--plot", "/no/such/f.svg"});
  EXPECT_EQ(plot.status, 2);
  EXPECT_NE(plot.err.find("/no/such/f.svg"), std::string::npos);
  const Outcome both = run_program({"bench", "all_reduce", "-n", "2", "--csv", "--json"});
  EXPECT_EQ(both.status, 2);
  const Outcome check = run_program({"bench", "all_reduce", "-n", "2", "--check", "evry"});
  EXPECT_EQ(check.status, 2);
  EXPECT_NE(check.err.find("every"), std::string::npos) << check.err;
}

// 2 ranks, 1 size, 2 placements x (1 warm-up + 2 timed + 1 check) = 8 all-reduces; each rank records the call
// and its 3 primitives: send, recv_reduce_copy_send, recv.
TEST(BenchVerb, TheTraceHoldsEveryPrimitiveOfEveryRank) {
  const std::string path = temporary_path("bench.rtrace");
  const Outcome outcome =
      run_program({"bench", "all_reduce", "-n", "2", "-b", "64", "-e", "64", "-w", "1", "--iters",
                   "2", "--algo", "ring", "--trace", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto trace = TraceFile::open(path);
  ASSERT_TRUE(trace) << trace.error().message;
  int calls = 0;
  int primitives = 0;
  trace->for_each_event([&](const TraceEvent& event) {
    calls += event.kind == EventKind::Collective ? 1 : 0;
    primitives += event.kind == EventKind::Primitive ? 1 : 0;
    EXPECT_LE(event.begin_ns, event.end_ns);
  });
  EXPECT_EQ(calls, 2 * 8);
  EXPECT_EQ(primitives, 2 * 8 * 3);
  std::remove(path.c_str());
}

// Among 4 ranks an algorithm's steps have up to 4 peers on either side, groups behind a switch among them.
TEST(BenchVerb, InAWholeTraceEverySendFindsItsReceiveWhateverTheAlgorithm) {
  for (const std::string algorithm : {"ring", "tree", "nvls", "nvls_tree", "collnet_direct",
                                      "collnet_chain", "one_shot", "two_shot"}) {
    const std::string path = temporary_path("peers.rtrace");
    const Outcome outcome =
        run_program({"bench", "all_reduce", "-n", "4", "-b", "8", "-e", "64K", "-f", "8192", "-w",
                     "0", "--iters", "1", "--algo", algorithm, "--trace", path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json info = json::parse(run_program({"trace", "info", path, "--json"}).out);
    EXPECT_EQ(info["unmatched_halves"], 0) << algorithm;
    EXPECT_GT(info["transfers"], 0) << algorithm;
    const bool is_modelled = algorithm.starts_with("nvls") || algorithm.starts_with("collnet");
    for (const json& one : info["collectives"]) EXPECT_EQ(one["is_modelled"], is_modelled);
    std::remove(path.c_str());
  }
}

TEST(BenchVerb, RunsUnderMpirun) {
  const Outcome version = run_program({"--version"}, {}, "mpirun");
  if (version.status != 0) GTEST_SKIP() << "needs mpirun";
  const Outcome outcome =
      run_program({"--allow-run-as-root", "--oversubscribe", "-np", "3", RINGSIDE_PROGRAM, "bench",
                   "all_reduce", "-b", "8", "-e", "8K", "-f", "8", "--iters", "2", "--json"},
                  {}, "mpirun");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["nranks"], 3);
  for (const json& row : document["results"]) EXPECT_EQ(row["wrong"], 0);
}

// With a GPU it would run; without one, or without kernels in this build, the error names what is missing.
TEST(BenchVerb, AMissingGpuIsReported) {
  const Outcome outcome =
      run_program({"bench", "all_reduce", "-n", "2", "-b", "8", "-e", "8", "--device", "cuda"});
  if (outcome.status == 0) GTEST_SKIP() << "needs a host without a GPU";
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.err,
              testing::AnyOf(testing::HasSubstr("no NVIDIA driver"), testing::HasSubstr("no GPU"),
                             testing::HasSubstr("without CUDA")));
}

// Each process of the job would open one GPU.
TEST(BenchVerb, AMissingGpuIsReportedByProcessRanks) {
  const Outcome outcome = run_program(
      {"bench", "all_reduce", "-n", "2", "-b", "8", "-e", "8", "--device", "cuda", "--processes"});
  if (outcome.status == 0) GTEST_SKIP() << "needs a host without a GPU";
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.err,
              testing::AnyOf(testing::HasSubstr("no NVIDIA driver"), testing::HasSubstr("no GPU"),
                             testing::HasSubstr("without CUDA")));
}

TEST(BenchVerb, RefusesOptionsOfProcessesOnAGpu) {
  const Outcome both =
      run_program({"bench", "all_reduce", "--device", "cuda", "--transport", "shm"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, testing::HasSubstr("--transport with --device cuda"));
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"--dumps", temporary_path("no_dumps")},
        std::vector<std::string>{"--status", "28028"}, std::vector<std::string>{"--expect"},
        std::vector<std::string>{"--ranks-per-node", "2"}}) {
    std::vector<std::string> words{"bench", "all_reduce", "--device", "cuda"};
    words.insert(words.end(), option.begin(), option.end());
    const Outcome refused = run_program(words);
    EXPECT_EQ(refused.status, 2) << option.front();
    EXPECT_THAT(refused.err, testing::HasSubstr(option.front() + " with --device cuda"));
  }
  EXPECT_EQ(run_program({"bench", "all_reduce", "--device", "cuba"}).status, 2);
  const Outcome alone = run_program({"bench", "all_reduce", "--processes"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, testing::HasSubstr("--processes without --device cuda"));
  const Outcome graph = run_program({"bench", "all_reduce", "--graph", "20"});
  EXPECT_EQ(graph.status, 2);
  EXPECT_THAT(graph.err, testing::HasSubstr("--graph without --device cuda"));
  const Outcome traced = run_program({"bench", "all_reduce", "--device", "cuda", "--processes",
                                      "--graph", "20", "--trace", "graph.rtrace"});
  EXPECT_EQ(traced.status, 2);
  EXPECT_THAT(traced.err, testing::HasSubstr("--graph and --trace"));
  const Outcome nccl = run_program({"bench", "all_reduce", "--backend", "nccl"});
  EXPECT_EQ(nccl.status, 2);
  EXPECT_THAT(nccl.err, testing::HasSubstr("--backend nccl without --device cuda"));
  EXPECT_EQ(run_program({"bench", "all_reduce", "--backend", "mccl"}).status, 2);
  const Outcome faulty = run_program(
      {"bench", "all_reduce", "--device", "cuda", "--processes", "--fault", "kill:rank=1,call=2"});
  EXPECT_EQ(faulty.status, 2);
  EXPECT_THAT(faulty.err, testing::HasSubstr("--fault with --device cuda"));
  const Outcome tuned =
      run_program({"bench", "all_reduce", "--device", "cuda", "--processes", "--tune"});
  EXPECT_EQ(tuned.status, 2);
  EXPECT_THAT(tuned.err, testing::HasSubstr("--tune with --device cuda"));
}

}  // namespace
}  // namespace ringside
