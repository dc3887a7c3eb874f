#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "harness/hangs/player.h"
#include "harness/hangs/program.h"
#include "harness/scenario/scenario.h"
#include "study/interchange/chakra_export.h"
#include "study/interchange/chakra_import.h"
#include "study/interchange/import.h"

namespace ringside::study {
namespace {

using hangs::Step;
using testing::HasSubstr;

struct Files {
  std::vector<GivenFile> traces;
  GivenFile groups;
  std::vector<std::string> left_out;
};

Files exported(const hangs::Program& program) {
  Files files;
  const auto left_out =
      export_chakra(program, [&](const std::string& name, const std::string& bytes) -> Status {
        if (name.ends_with(".et")) {
          files.traces.push_back({name, bytes});
        } else {
          files.groups = {name, bytes};
        }
        return {};
      });
  EXPECT_TRUE(left_out);
  if (left_out) files.left_out = *left_out;
  return files;
}

hangs::Program there_and_back(const hangs::Program& program) {
  const Files files = exported(program);
  auto job = import_chakra(files.traces, &files.groups);
  EXPECT_TRUE(job) << job.error().message;
  const auto scenario = scenario_of(*std::move(job));
  EXPECT_TRUE(scenario) << scenario.error().message;
  // Reading a written file gives the same.
  const auto again = parse_scenario(to_yaml(*scenario), "imported");
  EXPECT_TRUE(again) << again.error().message;
  return hangs::make_program(again->outline);
}

/// Returns a rank's calls in order, in words that do not depend on how a program numbers its groups.
std::vector<std::string> calls_of(const hangs::Program& program, int rank) {
  std::vector<std::string> calls;
  const hangs::RankProgram& own = program.programs[static_cast<std::size_t>(rank)];
  for (int iteration = 0; iteration < own.iterations; ++iteration) {
    for (const Step& step : own.body_of(iteration)) {
      if (step.kind != Step::Kind::Call) continue;
      const hangs::Group& group = program.groups[static_cast<std::size_t>(step.group)];
      calls.push_back(fmt::format("{} {} {} {} of {}", hangs::to_string(step.op), step.count,
                                  to_string(step.type), step.peer, fmt::join(group.ranks, ",")));
    }
  }
  return calls;
}

/// Returns the time at which the last rank is done, with calls that take as long as their bytes need.
double played(const hangs::Program& program) {
  const hangs::PlayTimes times{
      .call = [](const Step& step,
                 const hangs::Group&) { return Nanoseconds{1000 + step.count / 10}; },
      .is_even = true};
  const hangs::Play play = hangs::play(program, {}, 1, times);
  EXPECT_FALSE(play.is_hung());
  std::int64_t end = 0;
  for (const hangs::RankHistory& rank : play.ranks) {
    for (const hangs::Kernel& kernel : rank.kernels) end = std::max(end, kernel.completed);
    for (const hangs::Record& record : rank.records) end = std::max(end, record.completed);
  }
  return static_cast<double>(end);
}

constexpr const char* kEverything = R"(ringside: scenario/1
name: everything
parallel: {tensor: 2, pipeline: 2, data: 2}
iterations: 3
steps:
- compute: 1ms
- kernel: {time: 2ms, on: pipeline, at: 1}
- all_reduce: {on: tensor, count: 64, only: {on: pipeline, at: 0}}
- transfer: {on: pipeline, from: 0, to: 1, count: 16}
- broadcast: {on: data, root: 1, count: 8, type: int32}
- reduce: {on: tensor, root: 1, count: 8, type: half}
- reduce_scatter: {on: data, count: 100000, async: yes}
- kernel: 300us
- all_gather: {on: tensor, count: 3, type: int8}
- join: {on: data}
- all_to_all: {on: world, count: 80, async: yes}
- kernel: 50us
- join
- barrier: {on: world}
- synchronize
)";

class ChakraRoundTrip : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ChakraRoundTrip, GivesTheSameCallsAndTakesTheSameTime) {
  const auto scenario = parse_scenario(GetParam().second, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message << scenario.error().help;
  const hangs::Program program = hangs::make_program(scenario->outline);
  const hangs::Program back = there_and_back(program);
  ASSERT_EQ(back.ranks, program.ranks);
  for (int rank = 0; rank < program.ranks; ++rank) {
    EXPECT_EQ(calls_of(back, rank), calls_of(program, rank)) << rank;
    ASSERT_FALSE(calls_of(program, rank).empty());
  }
  EXPECT_NEAR(played(back) / played(program), 1, 0.01);
}

std::string workload(const std::string& text) {
  return "ringside: scenario/1\nname: w\nworkload:\n  " + text + "\n";
}
const std::string kSmall =
    "layers: 4, hidden: 512, heads: 8, vocabulary: 1000, sequence: 512, gpu: h100, efficiency: 0.5";
INSTANTIATE_TEST_SUITE_P(
    Scenarios, ChakraRoundTrip,
    testing::Values(
        std::pair{"everything", kEverything},
        std::pair{"ring", workload("megatron: {" + kSmall +
                                   ", tensor: 2, context: 4, context_exchange: ring}")},
        std::pair{"exchanges",
                  std::string("ringside: scenario/1\nname: g\nranks: 4\niterations: 3\n"
                              "groups: {a: [0 1, 2 3]}\nsteps:\n"
                              "- send_recv: {on: a, count: 300}\n- kernel: 20us\n"
                              "- send_recv: {on: world, count: 4000, async: yes}\n- kernel: 1ms\n"
                              "- join\n- synchronize\n")},
        std::pair{"grouped",
                  std::string("ringside: scenario/1\nname: g\nranks: 4\nsteps:\n"
                              "- kernel: 1ms\n"
                              "- grouped: {calls: [transfer: {on: world, from: 0, to: 1, count: "
                              "1000}, transfer: {on: world, from: 1, to: 0, count: 1000}]}\n"
                              "- kernel: 1ms\n- all_reduce: {on: world, count: 64}\n")},
        std::pair{"ddp", workload("ddp: {" + kSmall + ", data: 4}")},
        std::pair{"fsdp", workload("fsdp: {" + kSmall + ", data: 4}")},
        std::pair{"megatron",
                  workload("megatron: {" + kSmall + ", tensor: 2, pipeline: 2, data: 2}")},
        std::pair{"moe",
                  workload("moe: {" + kSmall + ", experts: 4, top_k: 2, expert: 2, data: 4}")},
        std::pair{"inference",
                  workload("inference: {layers: 4, hidden: 512, heads: 8, vocabulary: 1000, gpu: "
                           "h100, efficiency: 0.5, memory_efficiency: 0.5, prompt: 64, tokens: 4, "
                           "tensor: 2, pipeline: 2}")}),
    [](const auto& one) { return one.param.first; });

// The data that other tools replay: bytes that a rank contributes, whole ranks of the job, and dependencies.
TEST(Chakra, PeersOfTransfersAreRanksOfTheJob) {
  const auto scenario = parse_scenario(kEverything, "s.yaml");
  ASSERT_TRUE(scenario);
  const Files files = exported(hangs::make_program(scenario->outline));
  EXPECT_EQ(files.traces.size(), 8U);
  EXPECT_THAT(files.groups.bytes, HasSubstr("[0, 1, 2, 3, 4, 5, 6, 7]"));
  EXPECT_THAT(files.groups.bytes, HasSubstr("[1, 5]"));
  auto job = import_chakra(files.traces, &files.groups);
  ASSERT_TRUE(job);
  // Rank 1 is the first of its pipeline group, which is [1, 3].
  const auto& calls = job->ranks[1].calls;
  const auto transfer = std::ranges::find_if(calls, [](const RecordedCall& call) {
    return call.step.kind == hangs::OutlineStep::Kind::Transfer;
  });
  ASSERT_NE(transfer, calls.end());
  EXPECT_THAT(job->groups[static_cast<std::size_t>(transfer->group)].members,
              testing::ElementsAre(1, 3));
  EXPECT_EQ(transfer->step.from, 0);
}

TEST(Chakra, AnOmittedRendezvousIsReported) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: r\nranks: 2\nsteps:\n- rendezvous: {on: world}\n- barrier: {on: "
      "world}\n",
      "s.yaml");
  ASSERT_TRUE(scenario);
  EXPECT_THAT(exported(hangs::make_program(scenario->outline)).left_out,
              testing::ElementsAre(HasSubstr("rendezvous")));
}

TEST(Chakra, OnlyPositiveNumbersNameASet) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: g\nranks: 2\nsteps:\n- grouped: {calls: [transfer: {on: world, "
      "from: 0, to: 1, count: 10}, transfer: {on: world, from: 1, to: 0, count: 10}]}\n",
      "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  Files files = exported(hangs::make_program(scenario->outline));
  const auto has_set = [&] {
    const auto job = import_chakra(files.traces, &files.groups);
    EXPECT_TRUE(job) << job.error().message;
    return job && job->ranks[0].calls.front().is_of_set;
  };
  EXPECT_TRUE(has_set());
  const std::string written = "group_call\x48\x01";   // int64_val: 1
  const std::string negative = "group_call\x78\x03";  // sint32_val: -2
  for (GivenFile& file : files.traces) {
    ASSERT_NE(file.bytes.find(written), std::string::npos) << file.name;
    for (auto at = file.bytes.find(written); at != std::string::npos;
         at = file.bytes.find(written)) {
      file.bytes.replace(at, written.size(), negative);
    }
  }
  EXPECT_FALSE(has_set());
}

TEST(Chakra, RefusesOtherFilesAndNamesThePlace) {
  const auto scenario = parse_scenario(kEverything, "s.yaml");
  ASSERT_TRUE(scenario);
  const Files whole = exported(hangs::make_program(scenario->outline));
  const auto refusal = [](const Files& files) {
    const auto job = import_chakra(files.traces, &files.groups);
    return job ? std::string("accepted") : job.error().message + " | " + job.error().help;
  };
  ASSERT_EQ(refusal(whole), "accepted");
  Files files = whole;
  files.traces[2].bytes.resize(files.traces[2].bytes.size() - 3);
  EXPECT_THAT(refusal(files), HasSubstr("ringside.2.et: byte"));
  files = whole;
  files.traces.pop_back();
  files.traces[0].name = "ringside.9.et";
  EXPECT_THAT(refusal(files), HasSubstr("all ranks"));
  files = whole;
  files.traces[0].name = "ringside.1.et";
  EXPECT_THAT(refusal(files), HasSubstr("second file"));
  files = whole;
  files.groups.bytes = R"({"0": [0, 99]})";
  EXPECT_THAT(refusal(files), HasSubstr("rank that is not one of"));
  files = whole;
  files.groups.bytes = R"({"0": [0, 1]})";
  EXPECT_THAT(refusal(files), HasSubstr("has not rank"));
  files = whole;
  files.groups.bytes.replace(files.groups.bytes.find("[0, 4]"), 6, "[0, 2]");
  EXPECT_THAT(refusal(files), HasSubstr("the root is rank 4"));
  files = whole;
  files.groups.bytes = "no";
  EXPECT_THAT(refusal(files), HasSubstr("no JSON"));
}

// Without the file of the groups: the ranks that call in a group are its members.
TEST(Chakra, GroupsAreTheRanksThatCallInThem) {
  const auto scenario = parse_scenario(kEverything, "s.yaml");
  ASSERT_TRUE(scenario);
  const hangs::Program program = hangs::make_program(scenario->outline);
  const Files files = exported(program);
  auto job = import_chakra(files.traces, nullptr);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(job->unknown, testing::Contains(HasSubstr("members of groups")));
  const auto made = scenario_of(*std::move(job));
  ASSERT_TRUE(made);
  const hangs::Program back = hangs::make_program(made->outline);
  EXPECT_EQ(calls_of(back, 5), calls_of(program, 5));
}

}  // namespace
}  // namespace ringside::study
