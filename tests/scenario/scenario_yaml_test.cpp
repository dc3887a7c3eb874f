#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/hangs/program.h"
#include "harness/scenario/scenario.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kWhole = R"(ringside: scenario/1
name: small
about: all keys at once
cluster: {on: dgx-h100, nodes: 2, set: {NCCL_ALGO: Ring}}
parallel: {tensor: 2, pipeline: 2, data: 2}
ranks_per_host: 4
iterations: 3
groups:
  pairs: [0-1, 2 3]
steps:
- compute: 1ms
- kernel: {time: 2ms, on: pipeline, at: 1}
- all_reduce: {on: tensor, count: 64, only: {on: pipeline, at: 0}}
- transfer: {on: pipeline, from: 0, to: 1, count: 16}
- broadcast: {on: pairs, root: 1, count: 8}
- join
- synchronize
seed: 9
faults:
- skip: {rank: 3, call: 2, on: tensor}
- kill
expect:
  hang: {kind: [missing_rank, straggler], culprits: [3, 1]}
)";

std::string refusal(const std::string& text) {
  const auto scenario = parse_scenario(text, "s.yaml");
  return scenario ? "accepted" : scenario.error().message + " | " + scenario.error().help;
}

/// Returns the complete scenario with one line replaced.
std::string with(const std::string& line, const std::string& other) {
  std::string text = kWhole;
  const auto at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), other);
}

TEST(ScenarioYaml, EveryKeyIsRead) {
  const auto scenario = parse_scenario(kWhole, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message << scenario.error().help;
  EXPECT_EQ(scenario->name, "small");
  EXPECT_EQ(scenario->on, "dgx-h100");
  EXPECT_EQ(scenario->nodes, 2);
  EXPECT_THAT(scenario->set, ElementsAre("NCCL_ALGO=Ring"));
  const hangs::Outline& outline = scenario->outline;
  EXPECT_EQ(outline.ranks, 8);
  EXPECT_EQ(outline.ranks_per_host, 4);
  EXPECT_EQ(outline.iterations, 3);
  ASSERT_EQ(outline.families.size(), 5U);
  EXPECT_EQ(outline.families[1].name, "tensor");
  // Innermost first: tensor neighbours are next to each other, data replicas 4 apart.
  EXPECT_THAT(outline.families[1].members[0], ElementsAre(0, 1));
  EXPECT_THAT(outline.families[2].members[1], ElementsAre(1, 3));
  EXPECT_THAT(outline.families[3].members[0], ElementsAre(0, 4));
  EXPECT_EQ(outline.steps.size(), 7U);
  EXPECT_EQ(outline.steps[1].at->family, 2);
  EXPECT_EQ(outline.steps[1].at->rank, 1);
  EXPECT_EQ(scenario->faults.seed, 9U);
  ASSERT_EQ(scenario->faults.faults.size(), 2U);
  EXPECT_EQ(scenario->faults.faults[0].rank, 3);
  EXPECT_EQ(scenario->expect.outcome, Expectation::Outcome::Hang);
  EXPECT_THAT(scenario->expect.kinds, ElementsAre("missing_rank", "straggler"));
  EXPECT_THAT(*scenario->expect.culprits, ElementsAre(1, 3));
}

constexpr const char* kMore = R"(ringside: scenario/1
name: more
cluster: {on: dgx-h100}
ranks: 8
steps:
- repeat:
    times: 3
    steps:
    - kernel: 1ms
    - repeat: {times: 2, steps: [all_reduce: {on: world, count: 64}]}
- synchronize
watchdog: 30s
absent: [7, 3, 7]
expect:
  findings: [socket_fallback]
  hang: {kind: missing_rank, call: {call: all_reduce, on: world, number: 12}}
)";

std::string more_with(const std::string& line, const std::string& other) {
  std::string text = kMore;
  const auto at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), other);
}

TEST(ScenarioYaml, AcceptsSeveralExpectations) {
  const auto scenario = parse_scenario(kMore, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message << scenario.error().help;
  EXPECT_EQ(scenario->watchdog, Seconds{30});
  EXPECT_THAT(scenario->absent, ElementsAre(3, 7));
  EXPECT_THAT(scenario->expect.findings, ElementsAre("socket_fallback"));
  EXPECT_EQ(scenario->expect.call,
            (ExpectedCall{.call = "all_reduce", .on = "world", .number = 12}));
  const auto finished = parse_scenario(
      more_with("hang: {kind: missing_rank, call: {call: all_reduce, on: world, number: 12}}",
                "finished: {busbw: [{call: all_reduce, on: world, at_least: 300GB/s}]}"),
      "s.yaml");
  ASSERT_TRUE(finished) << finished.error().message;
  ASSERT_EQ(finished->expect.busbw.size(), 1U);
  EXPECT_EQ(finished->expect.busbw[0].at_least, BytesPerSecond{300e9});
}

TEST(ScenarioYaml, LoopsAreWrittenOut) {
  const auto scenario = parse_scenario(kMore, "s.yaml");
  ASSERT_TRUE(scenario);
  std::string kinds;
  for (const hangs::OutlineStep& step : scenario->outline.steps) {
    kinds += step.kind == hangs::OutlineStep::Kind::Kernel ? 'k'
             : step.kind == hangs::OutlineStep::Kind::Call ? 'c'
                                                           : 's';
  }
  EXPECT_EQ(kinds, "kcckcckccs");
}

TEST(ScenarioYaml, LoopsAndMoreExpectationsAreCheckedToo) {
  EXPECT_THAT(refusal(more_with("times: 3", "times: 0")), HasSubstr("s.yaml:7"));
  EXPECT_THAT(refusal(more_with("times: 3", "tiems: 3")), HasSubstr("times"));
  EXPECT_THAT(refusal(more_with("times: 3", "times: 99999999")), HasSubstr("s.yaml:7"));
  EXPECT_THAT(refusal(more_with("{times: 2, steps: [all_reduce: {on: world, count: 64}]}",
                                "{times: 2, steps: []}")),
              HasSubstr("a loop without steps"));
  std::string deep = "[kernel: 1ms]";
  for (int i = 0; i < 9; ++i) deep = "[repeat: {times: 1, steps: " + deep + "}]";
  EXPECT_THAT(refusal("ringside: scenario/1\nname: x\nranks: 2\nsteps: " + deep + "\n"),
              HasSubstr("too many loops"));
  std::string wide = "[kernel: 1ms]";
  for (int i = 0; i < 4; ++i) wide = "[repeat: {times: 100, steps: " + wide + "}]";
  EXPECT_THAT(refusal("ringside: scenario/1\nname: x\nranks: 2\nsteps: " + wide + "\n"),
              HasSubstr("steps at most"));
  std::string many = "[kernel: 1ms";
  for (int i = 0; i < 11; ++i) many += ", repeat: {times: 100000, steps: [join]}";
  EXPECT_THAT(refusal("ringside: scenario/1\nname: x\nranks: 2\nsteps: " + many + "]\n"),
              HasSubstr("steps at most in all"));
  EXPECT_THAT(refusal(more_with("watchdog: 30s", "watchdog: 1ms")), HasSubstr("s.yaml:12"));
  EXPECT_THAT(refusal(more_with("absent: [7, 3, 7]", "absent: [8]")), HasSubstr("s.yaml:13"));
  EXPECT_THAT(refusal(more_with("call: all_reduce, on", "call: allreduce, on")),
              HasSubstr("all_reduce"));
  EXPECT_THAT(refusal(more_with("on: world, number", "on: wrold, number")),
              HasSubstr("did you mean 'world'"));
  EXPECT_THAT(refusal(more_with("cluster: {on: dgx-h100}\n", "")),
              HasSubstr("no cluster is given"));
  EXPECT_THAT(refusal(more_with("[socket_fallback]", "socket_fallback")), HasSubstr("list of ids"));
}

TEST(ScenarioYaml, AHangProgramIsAScenario) {
  const auto scenario = parse_scenario(
      "ringside: hang-program/1\nranks: 4\niterations: 2\nsteps:\n- barrier: {on: world}\n",
      "p.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->outline.ranks, 4);
  EXPECT_FALSE(scenario->expect.outcome);
}

TEST(ScenarioYaml, StepsOfOnePlaceBelongOnlyToThoseRanks) {
  const auto scenario = parse_scenario(kWhole, "s.yaml");
  ASSERT_TRUE(scenario);
  const hangs::Program program = hangs::make_program(scenario->outline);
  const auto count = [&](int rank, hangs::Step::Kind kind) {
    return std::ranges::count(program.programs[static_cast<std::size_t>(rank)].body, kind,
                              &hangs::Step::kind);
  };
  EXPECT_EQ(count(0, hangs::Step::Kind::Kernel), 0);  // stage 0
  EXPECT_EQ(count(2, hangs::Step::Kind::Kernel), 1);  // stage 1
}

TEST(ScenarioYaml, InvalidInputIsRefusedWithItsLineAndTheFix) {
  struct Bad {
    std::string text, line, says;
  };
  const std::vector<Bad> all{
      {with("about: all", "abuot: all"), "s.yaml:3", "about"},
      {with("on: dgx-h100, nodes: 2", "on: dgx-h100, nodes: 0"), "s.yaml:4", "nodes"},
      {with("tensor: 2, pipeline", "tensor: 0, pipeline"), "s.yaml:5", "dimension"},
      {with("data: 2}", "data: 99999999}"), "s.yaml:5", "dimension"},
      {with("ranks_per_host: 4", "ranks_per_host: 99"), "s.yaml:6", "ranks_per_host"},
      {with("iterations: 3", "iterations: 0"), "s.yaml:7", "iterations"},
      {with("[0-1, 2 3]", "[0-1, 2 9]"), "s.yaml:9", "rank"},
      {with("- compute: 1ms", "- compute: soon"), "s.yaml:11", "compute"},
      {with("- compute: 1ms", "- compute: 99999999h"), "s.yaml:11", "compute"},
      {with("at: 1}", "at: 7}"), "s.yaml:12", "at"},
      {with("on: tensor, count: 64", "on: tenser, count: 64"), "s.yaml:13", "tensor"},
      {with("from: 0, to: 1", "from: 1, to: 1"), "s.yaml:14", "itself"},
      {with("root: 1, count", "root: 2, count"), "s.yaml:15", "root"},
      {with("- join", "- jion"), "s.yaml:16", "join"},
      {with("rank: 3, call: 2", "rank: 8, call: 2"), "s.yaml:20", "rank 8"},
      {with("on: tensor}", "on: tensors}"), "s.yaml:20", "tensor"},
      {with("- kill", "- kil"), "s.yaml:21", "kill"},
      {with("[missing_rank, straggler]", "[missing]"), "s.yaml:23", "missing_rank"},
      {with("culprits: [3, 1]", "culprits: [3, 8]"), "s.yaml:23", "culprit"},
      {with("hang: {kind", "hangs: {kind"), "s.yaml:23", "hang"},
      {"ringside: scenario/2\nname: x\n", "s.yaml:1", "scenario/1"},
      {"ringside: scenario/1\nname: x\nranks: 4\n", "s.yaml", "steps"},
      {"name: x\n", "s.yaml", "ringside"},
      {"[1, 2]", "s.yaml", "mapping"},
      {"a: b: c", "s.yaml:1", "needs quotes"},
      {std::string(kWhole) + "---\nringside: scenario/1\n", "s.yaml:25", "second document"},
      {"ringside: scenario/1\nname: x\nworkload:\n  ddp:\n    model: llama3-8b\n    gpu: h100\n"
       "    efficiency: 2\n    data: 8\n",
       "s.yaml:7", "efficiency"},
      {"ringside: scenario/1\nname: x\nworkload:\n  megatron:\n    tensr: 2\n", "s.yaml:5",
       "tensor"},
      {"ringside: scenario/1\nname: x\nworkload:\n  ddp:\n    gpu: h100\n", "s.yaml:4", "model"},
  };
  for (const Bad& one : all) {
    const std::string answer = refusal(one.text);
    EXPECT_THAT(answer, HasSubstr(one.line)) << one.text;
    EXPECT_THAT(answer, HasSubstr(one.says)) << one.text;
  }
}

// 70.6e9 weights x (2 + 4 + 12) bytes and activations, on a GPU of 80 GB.
TEST(ScenarioYaml, AStepThatDoesNotFitIntoAGpuIsRefusedWithBothNumbers) {
  const std::string head =
      "ringside: scenario/1\nname: x\nworkload:\n  megatron: {model: llama3-70b, "
      "gpu: h100, efficiency: 0.5, data: 512";
  const std::string answer = refusal(head + "}\n");
  EXPECT_THAT(answer, HasSubstr("s.yaml:4: megatron: a GPU needs 1362"));
  EXPECT_THAT(answer, HasSubstr("has 80.0 GB (h100)"));
  EXPECT_EQ(refusal(head + ", check_memory: no}\n"), "accepted");
  EXPECT_EQ(refusal(head + ", gpu_memory_gb: 1400}\n"), "accepted");
  EXPECT_THAT(refusal(head + ", gpu_memory_gb: 40, tensor: 8, pipeline: 2}\n"),
              HasSubstr("has 40.0 GB"));
}

TEST(ScenarioYaml, ATooLargeStepIsHelpedByKeysThatItsWorkloadHas) {
  const auto help = [](const std::string& workload) {
    const auto scenario =
        parse_scenario("ringside: scenario/1\nname: x\nworkload:\n  " + workload + "\n", "s.yaml");
    return scenario ? std::string("accepted") : scenario.error().help;
  };
  const std::string keys = "model: llama3-405b, gpu: h100, efficiency: 0.5, data: 8";
  EXPECT_THAT(help("fsdp: {" + keys + "}"), testing::Not(HasSubstr("tensor")));
  EXPECT_THAT(help("fsdp: {" + keys + "}"), HasSubstr("raise data"));
  EXPECT_THAT(help("fsdp: {" + keys + ", recompute: yes}"), testing::Not(HasSubstr("recompute")));
  EXPECT_THAT(help("ddp: {" + keys + "}"), HasSubstr("take fsdp"));
  EXPECT_THAT(help("megatron: {" + keys + "}"), HasSubstr("set zero: yes"));
  EXPECT_THAT(help("megatron: {" + keys + ", zero: yes}"), HasSubstr("gradients stay whole"));
}

TEST(ScenarioYaml, ASweepAndATextWithAColonAreHelped) {
  const auto error = [](const std::string& text) {
    const auto scenario = parse_scenario(text, "s.yaml");
    return scenario ? Error{} : scenario.error();
  };
  EXPECT_EQ(error("ringside: sweep/1\nname: x\n").help, "ringside sweep s.yaml");
  EXPECT_THAT(error("ringside: scenario/1\nname: x\nabout: slow: 4 NICs\n").help,
              HasSubstr("needs quotes"));
  EXPECT_THAT(load_scenario("no/such.yaml").error().help, HasSubstr("from any folder"));
}

TEST(ScenarioYaml, AWorkloadMakesItsOwnSteps) {
  const std::string head = "ringside: scenario/1\nname: x\nworkload:\n  ";
  EXPECT_THAT(refusal(head + "fsdp: {model: llama3-8b, gpu: h100, efficiency: 0.5, data: 8}\n"),
              "accepted");
  EXPECT_THAT(refusal(head + "dpp: {model: llama3-8b}\n"), HasSubstr("did you mean 'ddp'"));
  EXPECT_THAT(refusal(head + "ddp: {modle: llama3-8b}\n"), HasSubstr("model"));
  EXPECT_THAT(refusal(head + "ddp: {model: llama3-9b, gpu: h100, efficiency: 0.5, data: 8}\n"),
              HasSubstr("llama3-8b"));
  EXPECT_THAT(refusal(head + "ddp: {model: llama3-8b, gpu: h100, efficiency: 2, data: 8}\n"),
              HasSubstr("efficiency"));
  EXPECT_THAT(refusal(head + "ddp: {model: llama3-8b, gpu: h100, data: 8}\n"),
              HasSubstr("'efficiency' is missing"));
  EXPECT_THAT(
      refusal(head + "ddp: {model: llama3-8b, gpu: h100, efficiency: 0.5, data: 8}\nranks: 8\n"),
      HasSubstr("'ranks' together with a workload"));
  EXPECT_THAT(
      refusal(head + "megatron: {layers: 9999, hidden: 8, heads: 1, vocabulary: 1, gpu: h100, "
                     "efficiency: 1, microbatches: 4096, data: 2}\n"),
      HasSubstr("layers x"));
}

}  // namespace
}  // namespace ringside
