#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/fd.h"
#include "base/one_line.h"
#include "harness/hangs/outline_yaml.h"
#include "harness/hangs/program.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/workload.h"

namespace ringside {
namespace {

bool is_same(const hangs::Step& a, const hangs::Step& b) {
  return a.kind == b.kind && a.op == b.op && a.type == b.type && a.async == b.async &&
         a.group == b.group && a.peer == b.peer && a.bundle == b.bundle && a.stream == b.stream &&
         a.is_shift == b.is_shift && a.count == b.count && a.time == b.time;
}

/// Expects that a written job is read back as the same job.
void expect_kept(const Scenario& scenario) {
  const std::string text = to_yaml(scenario);
  const auto read = parse_scenario(text, "written.yaml");
  ASSERT_TRUE(read) << read.error().message << "\n" << text;
  EXPECT_EQ(read->name, scenario.name);
  EXPECT_EQ(read->about, scenario.about);
  EXPECT_EQ(read->on, scenario.on);
  EXPECT_EQ(read->nodes, scenario.nodes);
  EXPECT_EQ(read->set, scenario.set);
  EXPECT_EQ(read->faults, scenario.faults);
  EXPECT_EQ(read->expect.outcome, scenario.expect.outcome);
  EXPECT_EQ(read->expect.kinds, scenario.expect.kinds);
  EXPECT_EQ(read->expect.culprits, scenario.expect.culprits);
  EXPECT_EQ(read->expect.at_least, scenario.expect.at_least);
  EXPECT_EQ(read->expect.at_most, scenario.expect.at_most);
  EXPECT_EQ(read->expect.call, scenario.expect.call);
  EXPECT_EQ(read->expect.busbw, scenario.expect.busbw);
  EXPECT_EQ(read->expect.findings, scenario.expect.findings);
  EXPECT_EQ(read->watchdog, scenario.watchdog);
  EXPECT_EQ(read->absent, scenario.absent);
  EXPECT_EQ(read->broken, scenario.broken);
  const hangs::Program before = hangs::make_program(scenario.outline);
  const hangs::Program after = hangs::make_program(read->outline);
  ASSERT_EQ(before.ranks, after.ranks);
  EXPECT_EQ(before.ranks_per_host, after.ranks_per_host);
  for (std::size_t rank = 0; rank < before.programs.size(); ++rank) {
    EXPECT_EQ(before.programs[rank].iterations, after.programs[rank].iterations);
    ASSERT_EQ(before.programs[rank].body.size(), after.programs[rank].body.size()) << rank;
    for (std::size_t i = 0; i < before.programs[rank].body.size(); ++i) {
      EXPECT_TRUE(is_same(before.programs[rank].body[i], after.programs[rank].body[i]))
          << rank << " " << i;
    }
  }
}

TEST(ScenarioText, FilesOfTheTreeAreReadBack) {
  for (const auto& entry : std::filesystem::directory_iterator(RINGSIDE_SCENARIOS "/hangs")) {
    const auto scenario = load_scenario(entry.path().string());
    ASSERT_TRUE(scenario) << scenario.error().message;
    expect_kept(*scenario);
  }
}

TEST(ScenarioText, EveryKindOfStepIsReadBack) {
  const auto scenario = parse_scenario(R"(ringside: scenario/1
name: "all: of \"them\""
about: "a back\\slash"
cluster: {on: dgx-h100, nodes: 3, set: {NCCL_ALGO: Ring, NCCL_PROTO: LL}}
parallel: {tensor: 2, pipeline: 3}
iterations: 5
steps:
- compute: 1500ns
- kernel: {time: 2ms, on: pipeline, at: 2}
- all_reduce: {on: tensor, count: 7, type: half, async: yes, only: {on: pipeline, at: 1}}
- transfer: {on: pipeline, from: 2, to: 0, count: 16}
- send_recv: {on: pipeline, by: -1, count: 16, async: yes, stream: side}
- repeat: {times: 2, steps: [send_recv: {on: tensor, count: 16}]}
- grouped: {calls: [transfer: {on: pipeline, from: 0, to: 1, count: 5}, transfer: {on: pipeline, from: 1, to: 0, count: 6}], stream: side, only: {on: tensor, at: 0}}
- grouped: {calls: [all_gather: {on: tensor, count: 5}, reduce_scatter: {on: tensor, count: 6}], async: yes}
- kernel: {time: 2ms, async: yes, stream: other}
- join: {stream: other}
- join: {on: tensor, stream: side, only: {on: pipeline, at: 1}}
- broadcast: {on: world, root: 3, count: 8}
- barrier: {on: world}
- rendezvous: {on: world}
- join: {on: tensor}
- join
- synchronize
seed: 12
faults: [kill: {rank: 1, call: 2}, blackhole: {from: 2, after: 1M}]
expect:
  finished: {at_least: 2ms, at_most: 1.5s}
)",
                                       "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  expect_kept(*scenario);
}

TEST(ScenarioText, EveryExpectationIsReadBack) {
  for (const char* const expect :
       {"{finished: yes}", "{finished: {busbw: [{call: all_reduce, on: data, at_most: 2.5GB/s}]}}",
        "{finished: yes, findings: [socket_fallback, gdr_missing]}",
        "{hang: {kind: straggler, call: {on: data, number: 2}}}"}) {
    const auto scenario = parse_scenario(
        std::string("ringside: scenario/1\nname: x\ncluster: {on: dgx-h100, broken: "
                    "ib-disable}\nparallel: {data: 8}\n"
                    "steps: [barrier: {on: data}]\nwatchdog: 1500ms\nabsent: [2]\nexpect: ") +
            expect + "\n",
        "s.yaml");
    ASSERT_TRUE(scenario) << scenario.error().message;
    expect_kept(*scenario);
  }
}

TEST(ScenarioText, AWorkloadIsItsSteps) {
  Scenario scenario;
  auto outline = make_workload("megatron", {{"layers", "4"},
                                            {"hidden", "64"},
                                            {"heads", "4"},
                                            {"vocabulary", "100"},
                                            {"gpu", "h100"},
                                            {"efficiency", "0.5"},
                                            {"tensor", "2"},
                                            {"pipeline", "2"},
                                            {"data", "2"}});
  ASSERT_TRUE(outline);
  scenario.name = "steps";
  scenario.outline = *std::move(outline);
  expect_kept(scenario);
}

/// Returns texts with which a dump's fields could become keys, ends of comments, or control sequences of a terminal.
std::vector<std::string> hostile_texts() {
  const std::string keys = "faults: [kill: {rank: 0, call: 0}]";
  return {"x\n" + keys,
          "x\r" + keys,
          "x\r\n" + keys,
          "x\xc2\x85" + keys,  // "next line" and the two separators: line breaks of YAML 1.1
          "x\xe2\x80\xa8" + keys,
          "x\xe2\x80\xa9" + keys,
          "\"\n" + keys + "\n#\"",
          "'\n" + keys,
          "x\n---\n" + keys,
          "x\n...\n%YAML 1.2\n---\n" + keys,
          "}, " + keys + ", y: {",
          "x\"}\n" + keys,
          "# " + keys,
          ": ",
          "- a",
          "? a",
          "&a *a",
          "!!binary x",
          "null",
          "~",
          "{[",
          "\\",
          "\\n" + keys,
          "\x1b[2J\x7f\xc2\x9b",
          "\xff\xfe\xc0\xaf",
          std::string("\0x", 2),
          std::string(100'000, 'a') + "\n" + keys,
          std::string(2'000, ':') + " " + keys};
}

TEST(ScenarioText, TextsOfOthersBecomeNoKeys) {
  for (const std::string& text : hostile_texts()) {
    Scenario scenario;
    scenario.name = text;
    scenario.about = text;
    scenario.on = "dgx-h100";
    scenario.set = {"NCCL_ALGO=" + text};
    scenario.outline = hangs::outline_of("x", 2, 2, 1);
    hangs::OutlineStep call;
    call.count = 4;
    scenario.outline.steps = {call};
    const std::vector<std::string> notes{text, "a second one"};
    const std::string written = to_yaml(scenario, notes);
    const auto read = parse_scenario(written, "written.yaml");
    ASSERT_TRUE(read) << read.error().message << "\n" << written.substr(0, 2000);
    EXPECT_TRUE(read->faults.faults.empty()) << written.substr(0, 2000);
    EXPECT_EQ(read->outline.steps.size(), 1U);
    EXPECT_EQ(read->set, std::vector<std::string>{"NCCL_ALGO=" + one_line(text)});
    // Protects other readers of YAML, and a terminal that shows the file.
    const auto is_odd = [](unsigned char c) { return (c < ' ' && c != '\n') || c == 127; };
    EXPECT_EQ(std::ranges::count_if(written, is_odd), 0) << written.substr(0, 2000);
    EXPECT_EQ(written.find("\xc2\x85"), std::string::npos);
    EXPECT_EQ(written.find("\xe2\x80\xa8"), std::string::npos);
    const auto line_begins = [&](const std::string& start) {
      return written.starts_with(start) || written.find("\n" + start) != std::string::npos;
    };
    EXPECT_TRUE(line_begins("# not known: a second one\n"));
    EXPECT_TRUE(written.ends_with("\n"));
    EXPECT_FALSE(line_begins("faults"));
    EXPECT_FALSE(line_begins("---"));
    EXPECT_FALSE(line_begins("%"));
  }
}

// Keys of `set` and names of groups may come from others, too; their readers refuse invalid names.
TEST(ScenarioText, NamesOfOthersBecomeNoKeys) {
  for (const std::string& text : hostile_texts()) {
    Scenario scenario;
    scenario.name = "x";
    scenario.on = "dgx-h100";
    scenario.set = {text.substr(0, text.find('=')) + "=1"};
    scenario.outline = hangs::outline_of("x", 2, 2, 1);
    scenario.outline.families.push_back({text, "", {{0, 1}}});
    hangs::OutlineStep call;
    call.count = 4;
    call.family = 1;
    scenario.outline.steps = {call};
    const auto read = parse_scenario(to_yaml(scenario), "written.yaml");
    EXPECT_TRUE(!read || read->faults.faults.empty()) << text.substr(0, 200);
  }
}

}  // namespace
}  // namespace ringside
