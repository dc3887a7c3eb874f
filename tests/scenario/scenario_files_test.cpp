#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/examine.h"
#include "diag/report/sentences/hang_sentences.h"
#include "harness/hangs/hang_case.h"
#include "ringside/trace_reader.h"
#include "study/host_gpu.h"
#include "study/scenario/played_trace.h"
#include "study/scenario/scenario_run.h"
#include "study/sweep/sweep_points.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

/// Returns whether the file's head names that kind; comments may precede it.
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

TEST_P(Scenarios, MeetTheirExpectations) {
  const auto scenario = load_scenario(GetParam(), scenario_reading());
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
  ScenarioQuestion question{.scenario = *scenario, .is_real = true};
  // The first call makes the connections of eight processes, on a machine that is also busy otherwise.
  if (!scenario->watchdog) question.timeout = Seconds{3};
  const auto outcome = run_scenario(question);
  ASSERT_TRUE(outcome) << outcome.error().message << "; " << outcome.error().help;
  EXPECT_TRUE(outcome->unmet.empty()) << joined(outcome->unmet) << outcome->failure;
}

// Tests each cluster with each workload, at the first value of each setting.
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

// An expectation that is not met is reported.
TEST(ScenarioRun, AnExpectationThatDoesNotOccurFails) {
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

TEST(ScenarioRun, FaultsThatNeverFireAreReported) {
  auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/hangs/killed-rank.yaml");
  ASSERT_TRUE(scenario);
  scenario->faults.faults.front().call = 100'000;
  for (const bool is_real : {false, true}) {
    const auto outcome = run_scenario({.scenario = *scenario, .is_real = is_real});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->notes.size(), 1U);
    EXPECT_NE(outcome->notes.front().find("call=100000"), std::string::npos);
  }
}

// A fault in the calls of one family of groups is in these calls, simulated or real, whatever the names of the real
// communicators are.
TEST(ScenarioRun, AFaultOnAGroupIsOnItOnRealRanksToo) {
  for (const char* const on : {"tensor", "data", "world"}) {
    const auto scenario = parse_scenario(
        std::string(
            "ringside: scenario/1\nname: x\nparallel: {tensor: 2, data: 2}\niterations: 3\nsteps:\n"
            "- all_reduce: {on: tensor, count: 1000}\n- all_reduce: {on: data, count: 1000}\n"
            "- broadcast: {on: world, root: 0, count: 8}\n- synchronize\n"
            "faults:\n- wrong_count: {rank: 3, call: 1, count: 7, on: ") +
            on + "}\nexpect:\n  hang: {kind: [shape_mismatch], culprits: [3]}\n",
        "x.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    for (const bool is_real : {false, true}) {
      const auto outcome =
          run_scenario({.scenario = *scenario, .is_real = is_real, .timeout = Seconds{3}});
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_TRUE(outcome->unmet.empty()) << on << is_real << joined(outcome->unmet);
    }
  }
}

// Both runs wait for ends that the plan predicts, and do not take a wrong reduction for a hang: NCCL compares no
// reductions.
TEST(ScenarioRun, APassingScenarioAlsoPassesOnRealRanks) {
  for (const char* const fault :
       {"late: {rank: 1, call: 2, by: 2500ms}", "wrong_op: {rank: 1, call: 2, op: max}"}) {
    const auto scenario = parse_scenario(
        std::string("ringside: scenario/1\nname: x\nranks: 3\niterations: 4\nsteps:\n"
                    "- all_reduce: {on: world, count: 1000}\n- synchronize\nfaults:\n- ") +
            fault + "\nexpect: {finished: yes}\n",
        "x.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    for (const bool is_real : {false, true}) {
      const auto outcome = run_scenario({.scenario = *scenario, .is_real = is_real});
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_TRUE(outcome->unmet.empty()) << fault << is_real << joined(outcome->unmet);
      EXPECT_EQ(outcome->notes.size(), fault[0] == 'w' ? 1U : 0U);
    }
  }
}

// Both runs use the scenario's watchdog.
TEST(ScenarioRun, AWatchdogEndsWhatLastsLonger) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: x\nranks: 3\niterations: 4\nsteps:\n"
      "- all_reduce: {on: world, count: 1000}\n- synchronize\nwatchdog: 2s\n"
      "faults: [late: {rank: 1, call: 2, by: 30s}]\n"
      "expect: {hang: {kind: [straggler, missing_rank], culprits: [1], call: {on: world, number: "
      "3}}}\n",
      "x.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  for (const bool is_real : {false, true}) {
    const auto outcome = run_scenario({.scenario = *scenario, .is_real = is_real});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(outcome->unmet.empty()) << is_real << joined(outcome->unmet);
  }
}

// Each bound and each finding that is not met is reported.
TEST(ScenarioRun, BandwidthsAndFindingsAreCompared) {
  auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/hangs/slow-by-sockets.yaml");
  ASSERT_TRUE(scenario);
  scenario->expect.findings = {"socket_fallback", "nvls_unavailable"};
  scenario->expect.busbw = {{.call = "all_reduce", .on = "world", .at_least = BytesPerSecond{50e9}},
                            {.call = "broadcast", .on = "world", .at_most = BytesPerSecond{50e9}}};
  const auto broken = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(broken) << broken.error().message;
  EXPECT_EQ(broken->unmet.size(), 3U) << joined(broken->unmet);
  scenario->broken.clear();
  const auto whole = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(std::ranges::count(whole->findings, "socket_fallback"), 0);
  EXPECT_GT(whole->calls.front().busbw, BytesPerSecond{50e9});
  scenario->broken = "nothing-known";
  const auto refused = run_scenario({.scenario = *scenario});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(".yaml:4: "), std::string::npos)
      << refused.error().message;
}

// An error that only the simulation of the cluster finds is reported at the line where the scenario names the cluster.
TEST(ScenarioRun, AClusterIsRefusedWithItsLine) {
  for (const char* const cluster : {"{on: dgx-h1000}", "{on: dgx-h100, nodes: 1}"}) {
    const auto scenario =
        parse_scenario(std::string("ringside: scenario/1\nname: x\nranks: 16\ncluster: ") +
                           cluster + "\nsteps:\n- all_reduce: {on: world, count: 4}\n",
                       "x.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto outcome = run_scenario({.scenario = *scenario});
    ASSERT_FALSE(outcome);
    EXPECT_TRUE(outcome.error().message.starts_with("x.yaml:4: ")) << outcome.error().message;
  }
}

// Pairs on other GPUs of a host take the same time: one row.
TEST(ScenarioRun, EqualCallsAreOneRow) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: x\nparallel: {tensor: 2, data: 4}\ncluster: {on: dgx-h100}\n"
      "steps:\n- all_reduce: {on: tensor, count: 1000000}\n",
      "x.yaml");
  ASSERT_TRUE(scenario);
  auto faulty = *scenario;
  Fault late;  // keeps the ranks separate instead of one for all equal ones
  late.kind = FaultKind::Late;
  late.rank = 0;
  late.call = 0;
  late.by = Seconds{0};
  faulty.faults.faults = {late};
  const auto outcome = run_scenario({.scenario = faulty});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->calls.size(), 1U);
  EXPECT_FALSE(outcome->calls.front().fidelity.empty());
}

/// The files that a run of one of our scenarios leaves in a new folder, which is removed with the object.
class KeptRun {
 public:
  /// timeout  of real ranks; a killed rank is noticed at once
  explicit KeptRun(const std::string& name, bool is_real = false, Seconds timeout = Seconds{20})
      : folder(testing::TempDir() + "kept_run_" + std::to_string(::getpid())) {
    fs::remove_all(folder);
    const auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/hangs/" + name);
    EXPECT_TRUE(scenario) << scenario.error().message;
    ScenarioQuestion question{.scenario = *scenario, .is_real = is_real, .folder = folder};
    if (is_real) question.timeout = timeout;
    auto run = run_scenario(question);
    EXPECT_TRUE(run) << run.error().message;
    EXPECT_TRUE(run->unmet.empty()) << joined(run->unmet);
    outcome = *std::move(run);
  }
  ~KeptRun() { fs::remove_all(folder); }
  KeptRun(const KeptRun&) = delete;
  KeptRun& operator=(const KeptRun&) = delete;

  [[nodiscard]] auto count(hang::FileKind kind) const {
    return std::ranges::count(outcome.files, kind, &hang::InputFile::kind);
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in(folder + "/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::string folder;
  ScenarioOutcome outcome;
};

/// Compares the verdict on the dumps of a run with that on its trace alone. Nothing of a run without dumps.
void expect_same_verdicts(const KeptRun& run) {
  std::vector<std::string> paths;
  for (const hang::InputFile& file : run.outcome.files) {
    if (file.kind == hang::FileKind::Dump) paths.push_back(file.path);
  }
  if (paths.empty()) return;
  const auto by_dumps = hang::examine(paths);
  const auto by_trace = hang::examine({run.folder + "/run.rtrace"});
  ASSERT_TRUE(by_dumps) << by_dumps.error().message;
  ASSERT_TRUE(by_trace) << by_trace.error().message;
  const hang::Explanation& dumps = by_dumps->verdict.best;
  const hang::Explanation& trace = by_trace->verdict.best;
  EXPECT_EQ(trace.kind, dumps.kind);
  EXPECT_EQ(trace.culprits, dumps.culprits);
  EXPECT_EQ(hang::why_of(trace), hang::why_of(dumps));
}

TEST_P(SmallScenarios, LeaveATraceWithTheVerdictOfTheirDumps) {
  expect_same_verdicts(KeptRun(fs::path(GetParam()).filename().string()));
}

// The trace of real ranks has primitives as well, which show the rank that waited at the end.
TEST(ScenarioRun, RealRanksLeaveATraceWithTheVerdictOfTheirDumps) {
  for (const char* const name : {"crossed-order.yaml", "killed-rank.yaml", "wrong-root.yaml"}) {
    const KeptRun run(name, true, Seconds{3});
    EXPECT_GT(run.count(hang::FileKind::Dump), 0);
    expect_same_verdicts(run);
  }
}

// Rank 1 dies before its tenth call, in which the seven others wait.
TEST(ScenarioRun, ASimulatedHangLeavesLogsAReportAndATrace) {
  const KeptRun run("killed-rank.yaml");
  EXPECT_EQ(run.count(hang::FileKind::Dump), 7);
  EXPECT_EQ(run.count(hang::FileKind::Log), 9) << "of the ranks, and torchrun's";
  EXPECT_EQ(run.count(hang::FileKind::Ras), 1);
  ASSERT_EQ(run.count(hang::FileKind::Trace), 1);
  const std::string dead = run.text("rank_1.log");
  const std::string other = run.text("rank_2.log");
  EXPECT_NE(dead.find("nranks 8 cudaDev 1"), std::string::npos);
  EXPECT_NE(dead.find("AllReduce: opCount 9 "), std::string::npos);
  EXPECT_EQ(dead.find("AllReduce: opCount a "), std::string::npos) << "it never came to that";
  EXPECT_EQ(dead.find("Watchdog"), std::string::npos);
  EXPECT_NE(other.find("AllReduce: opCount a "), std::string::npos);
  EXPECT_NE(other.find("Watchdog caught collective operation timeout"), std::string::npos);

  const std::string path = run.folder + "/run.rtrace";
  const auto trace = TraceFile::open(path);
  ASSERT_TRUE(trace) << trace.error().message;
  const auto stuck_at = never_ended_at(trace->processes().front());
  ASSERT_TRUE(stuck_at);
  std::array<int, 8> calls{}, stuck{};
  trace->for_each_event([&](const TraceEvent& event) {
    EXPECT_EQ(event.kind, EventKind::Collective);
    ++calls.at(static_cast<std::size_t>(event.rank));
    stuck.at(static_cast<std::size_t>(event.rank)) += event.end_ns == *stuck_at ? 1 : 0;
  });
  EXPECT_EQ(calls, (std::array<int, 8>{10, 9, 10, 10, 10, 10, 10, 10}));
  EXPECT_EQ(stuck, (std::array<int, 8>{1, 0, 1, 1, 1, 1, 1, 1}));
  const auto by_trace = hang::examine({path});
  ASSERT_TRUE(by_trace) << by_trace.error().message;
  EXPECT_EQ(by_trace->verdict.best.kind, hang::Kind::MissingRank);
  EXPECT_EQ(by_trace->verdict.best.culprits, std::vector<int>{1});
}

// With real ranks, whose warnings replace the watchdogs' lines.
TEST(ScenarioRun, ARealHangLeavesLogsAndATrace) {
  const KeptRun run("killed-rank.yaml", true);
  EXPECT_EQ(run.count(hang::FileKind::Dump), 7);
  EXPECT_EQ(run.count(hang::FileKind::Log), 8);
  EXPECT_EQ(run.count(hang::FileKind::Trace), 1);
  const std::string dead = run.text("rank_1.log");
  EXPECT_NE(dead.find("Init COMPLETE"), std::string::npos);
  EXPECT_NE(dead.find("AllReduce: opCount 8 "), std::string::npos);
  EXPECT_EQ(dead.find("AllReduce: opCount 9 "), std::string::npos) << "it never came to that";
  EXPECT_NE(run.text("rank_2.log").find("NCCL WARN rank 1"), std::string::npos);
}

// Sends and receives connect while their call runs, after the log has reported the connections.
TEST(ScenarioRun, RealRanksThatLogExchangesHangAsWithoutALog) {
  const KeptRun run("ring-exchange-left-out.yaml", true, Seconds{3});
  EXPECT_EQ(run.count(hang::FileKind::Dump), 8);
  EXPECT_EQ(run.outcome.verdict->culprits, std::vector<int>{2});
}

// No tool asks a job that progresses for its status, and no watchdog logs a line.
TEST(ScenarioRun, ASimulatedRunThatFinishesLeavesLogsAndATrace) {
  const KeptRun run("late-rank.yaml");
  EXPECT_EQ(run.count(hang::FileKind::Dump), 8);
  EXPECT_EQ(run.count(hang::FileKind::Log), 8);
  EXPECT_EQ(run.count(hang::FileKind::Ras), 0);
  EXPECT_EQ(run.text("rank_0.log").find("ProcessGroupNCCL"), std::string::npos);
  EXPECT_NE(run.text("rank_0.log").find("AllReduce: opCount"), std::string::npos);
  for (const std::string& what : {run.folder, run.folder + "/run.rtrace"}) {
    const auto found = hang::examine({what});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->verdict.best.kind, hang::Kind::NotAHang) << what;
  }
}

/// Writes a run's trace without the dumps at its end, as other programs leave it; returns its path.
std::string trace_without_dumps(const KeptRun& run) {
  std::string bytes = run.text("run.rtrace");
  constexpr std::size_t kLess = 64;  // a dump is longer
  const auto has_dumps = [&] {
    const auto file = TraceFile::parse(std::as_bytes(std::span(bytes)), "run.rtrace");
    return file && file->counts().dumps > 0;
  };
  while (bytes.size() > kLess && has_dumps()) bytes.resize(bytes.size() - kLess);
  std::string path = run.folder + "/plain.rtrace";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Of a trace, only the collectives of the widest communicator are matched: where ranks also wait in others, it alone
// is no evidence.
TEST(ScenarioRun, ATraceAloneNamesNoCulpritWithoutEvidence) {
  for (const char* const name : {"pipeline-send-left-out.yaml", "crossed-order.yaml"}) {
    const KeptRun run(name);
    const auto found = hang::examine({trace_without_dumps(run)});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->verdict.best.kind, hang::Kind::Unknown) << hang::why_of(found->verdict.best);
    EXPECT_TRUE(found->verdict.best.culprits.empty());
  }
}

// A job whose watchdogs wait 3 s, as their lines show; its dead ranks have not been out of contact for the minute that
// ncclras requires.
TEST(ScenarioRun, LogsHaveTheWatchdogOfTheScenario) {
  const KeptRun run("straggler-past-watchdog.yaml");
  EXPECT_NE(run.text("rank_0.log").find("Timeout(ms)=3000)"), std::string::npos);
}

// An all-to-all among 1,024 ranks has 2 x 1,024 lines on each; traces keep the newest calls.
TEST(ScenarioRun, LimitsTheStepsAndEventsOfTheEvidence) {
  const auto program_of = [](const std::string& steps, int ranks) {
    const auto scenario =
        parse_scenario("ringside: scenario/1\nname: x\nranks: " + std::to_string(ranks) +
                           "\niterations: 10\nsteps:\n" + steps,
                       "x.yaml");
    EXPECT_TRUE(scenario) << scenario.error().message;
    hangs::Outline outline = scenario->outline;
    if (ranks > 4) outline.iterations = 1;
    return hangs::make_program(outline);
  };
  hangs::Program wide = program_of("- all_to_all: {on: world, count: 1024}\n", 1024);
  hangs::Play play = hangs::play(wide, {}, 1);
  EXPECT_FALSE(hangs::kept_case("x", std::move(wide), std::move(play)).evidence.has_calls);

  const hangs::Program small = program_of("- all_reduce: {on: world, count: 64}\n", 4);
  play = hangs::play(small, {}, 1, {.call = {}, .is_even = true});
  const std::string path =
      testing::TempDir() + "left_out_" + std::to_string(::getpid()) + ".rtrace";
  const auto written = write_trace(play, small, "x", path, 10);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->calls, 8U) << "two calls of all four, not two and a half";
  EXPECT_EQ(written->left_out, 32U);
  const auto trace = TraceFile::open(path);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->counts().events, 8U);
  EXPECT_FALSE(never_ended_at(trace->processes().front()));
  fs::remove(path);
}

// Two ranks with two kernels an iteration, 10 iterations. The first one runs on a stream of its own, during the second.
TEST(ScenarioRun, TheTraceHasTheTimesOfOtherKernels) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: x\nranks: 2\niterations: 10\nsteps:\n"
      "- kernel: {time: 1ms, stream: side, async: yes}\n- kernel: 2ms\n- join: {stream: side}\n"
      "- all_reduce: {on: world, count: 64}\n- join\n",
      "x.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const hangs::Program program = hangs::make_program(scenario->outline);
  const hangs::Play play = hangs::play(program, {}, 1, {.call = {}, .is_even = true});
  const std::string path = testing::TempDir() + "kernels_" + std::to_string(::getpid()) + ".rtrace";
  ASSERT_TRUE(write_trace(play, program, "x", path));
  const auto trace = TraceFile::open(path);
  ASSERT_TRUE(trace) << trace.error().message;
  std::vector<TraceEvent> compute;
  trace->for_each_event([&](const TraceEvent& event) {
    if (event.kind == EventKind::Compute) compute.push_back(event);
  });
  ASSERT_EQ(compute.size(), 20U) << "kernels that overlap are one event";
  for (const TraceEvent& event : compute) {
    EXPECT_EQ(event.channel, kComputeChannel);
    EXPECT_GE(event.end_ns - event.begin_ns, 2'000'000);
    EXPECT_LT(event.end_ns - event.begin_ns, 3'000'000);
  }
  fs::remove(path);
}

/// Returns the number of run folders below `below`.
int run_folders(const std::string& below) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(below)) {
    count += entry.path().filename().string().starts_with("ringside-run-") ? 1 : 0;
  }
  return count;
}

// Each stage sends activations on while the next one sends gradients back: neither waits for the other.
TEST(ScenarioRun, StagesOfAPipelineSendToEachOtherOnRealRanks) {
  for (const int stages : {2, 4}) {
    const auto scenario = parse_scenario(
        fmt::format(
            "ringside: scenario/1\nname: pipeline\nworkload: {{megatron: {{model: llama3-8b, gpu: "
            "h100, "
            "efficiency: 0.5, check_memory: no, tensor: 1, pipeline: {}, data: 1, microbatches: 8, "
            "sequence: 1024}}}}\n",
            stages),
        "pipeline.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto outcome =
        run_scenario({.scenario = *scenario, .is_real = true, .timeout = Seconds{20}});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, ScenarioOutcome::End::Finished) << outcome->failure;
  }
}

// Ctrl-C in the middle of a run with real ranks leaves nothing in the folder for temporary files.
TEST(ScenarioRun, ASignalLeavesNoFolder) {
  const std::string below =
      testing::TempDir() + "a_signal_leaves_no_folder_" + std::to_string(::getpid());
  fs::remove_all(below);
  fs::create_directories(below);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setpgid(0, 0);
    ::setenv("TMPDIR", below.c_str(), 1);
    const auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/hangs/late-rank.yaml");
    auto slow = *scenario;
    slow.outline.steps.front().time = Nanoseconds{2'000'000'000};  // long enough for a signal
    static_cast<void>(run_scenario({.scenario = slow, .is_real = true, .timeout = Seconds{30}}));
    ::_exit(0);
  }
  const auto wait_for = [&](int folders) {
    for (int i = 0; i < 400 && run_folders(below) != folders; ++i) ::usleep(50'000);
    return run_folders(below);
  };
  EXPECT_EQ(wait_for(1), 1);
  ::kill(-child, SIGINT);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(wait_for(0), 0);
  fs::remove_all(below);
}

/// Returns a fault that only keeps a job from being folded.
Fault fault_without_effect() {
  Fault late;
  late.kind = FaultKind::Late;
  late.rank = 0;
  late.call = 0;
  late.by = Seconds{0};
  return late;
}

// Compares the same job folded into kinds and rank by rank.
TEST(ScenarioRun, KindsTakeTheTimeOfAll) {
  auto scenario = load_scenario(std::string(RINGSIDE_SCENARIOS) + "/training/ddp-8.yaml");
  ASSERT_TRUE(scenario);
  const auto folded = run_scenario({.scenario = *scenario});
  scenario->faults.faults = {fault_without_effect()};
  const auto whole = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(folded && whole);
  EXPECT_EQ(folded->kinds, 1);
  EXPECT_EQ(whole->kinds, 8);
  EXPECT_NEAR(folded->times->step / whole->times->step, 1, 1e-3);
  EXPECT_NEAR(folded->times->compute / whole->times->compute, 1, 1e-3);
}

// 65,536 ranks of 704 steps each are 46 million, of which one kind's are played; rank by rank they are refused.
TEST(ScenarioRun, CountsOnlyPlayedSteps) {
  std::string text = "ringside: scenario/1\nname: many\nranks: 65536\nsteps:\n";
  for (int i = 0; i < 704; ++i) text += "- kernel: 100us\n";
  auto scenario = parse_scenario(text, "many.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto folded = run_scenario({.scenario = *scenario});
  ASSERT_TRUE(folded) << folded.error().message;
  EXPECT_EQ(folded->kinds, 1);
  EXPECT_NEAR(folded->times->step.count(), 70.4e-3, 1e-4);
  scenario->faults.faults = {fault_without_effect()};
  const auto whole = run_scenario({.scenario = *scenario});
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().message,
            "many: 46137344 steps of all ranks, which are played one by one, in an iteration, 1 "
            "iterations");
}

}  // namespace
}  // namespace ringside::study
