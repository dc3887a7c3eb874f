#include "harness/scenario/fold_program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "harness/hangs/player.h"
#include "harness/hangs/roles.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/workload.h"

namespace ringside {
namespace {

std::int64_t end_of(const hangs::RankHistory& rank) {
  std::int64_t end = rank.end.host_time;
  for (const hangs::Record& record : rank.records) end = std::max(end, record.completed);
  for (const hangs::Kernel& kernel : rank.kernels) end = std::max(end, kernel.completed);
  return end;
}

/// Keyed by the group's family and the call, as a folded group has no size. Both ends of a transfer are one call.
Nanoseconds time_of(const hangs::Step& step, const hangs::Group& group) {
  const hangs::Op op = step.op == hangs::Op::Recv ? hangs::Op::Send : step.op;
  return Nanoseconds{1000 * (group.family + 1) + step.count / 64 + 17 * static_cast<int>(op)};
}

void expect_the_same(const hangs::Outline& outline, int most_kinds, const std::string& what) {
  const hangs::Program whole = hangs::make_program(outline);
  const auto folded = fold_program(whole);
  ASSERT_TRUE(folded) << what;
  EXPECT_LE(folded->program.ranks, most_kinds) << what;
  // Plays the same with one program of each role.
  const hangs::Roles roles = hangs::roles_of(outline);
  const auto of_roles = fold_program(hangs::make_program_of(outline, roles.first_of), roles.like);
  ASSERT_TRUE(of_roles) << what;
  EXPECT_EQ(of_roles->kind_of, folded->kind_of) << what;
  EXPECT_EQ(of_roles->group_of, folded->group_of) << what;
  for (std::size_t kind = 0; kind < folded->program.programs.size(); ++kind) {
    const auto& mine = of_roles->program.programs[kind].body;
    const auto& theirs = folded->program.programs[kind].body;
    ASSERT_EQ(mine.size(), theirs.size()) << what;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      EXPECT_EQ(mine[i].group, theirs[i].group) << what << ", step " << i;
      EXPECT_EQ(mine[i].peer, theirs[i].peer) << what << ", step " << i;
    }
  }
  const hangs::PlayTimes times{.call = time_of, .is_even = true};
  const hangs::Play all = hangs::play(whole, {}, 1, times);
  const hangs::Play kinds = hangs::play(folded->program, {}, 1, times);
  ASSERT_FALSE(all.is_hung()) << what;
  ASSERT_FALSE(kinds.is_hung()) << what;
  for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
    const auto kind = static_cast<std::size_t>(folded->kind_of[rank]);
    EXPECT_EQ(end_of(all.ranks[rank]), end_of(kinds.ranks[kind])) << what << ", rank " << rank;
    EXPECT_EQ(all.ranks[rank].records.size(), kinds.ranks[kind].records.size()) << what;
  }
}

TEST(FoldProgram, ReplicasAreOneAndTakeTheSameTime) {
  Random random(3);
  for (int i = 0; i < 12; ++i) {
    const int tensor = 1 << random.below(3);
    const int pipeline = static_cast<int>(random.between(1, 4));
    const int data = static_cast<int>(random.between(2, 5));
    const int context = 1 << random.below(3);
    WorkloadKeys keys{{"layers", std::to_string(random.between(4, 9))},
                      {"hidden", "512"},
                      {"heads", "8"},
                      {"vocabulary", "1000"},
                      {"sequence", "256"},
                      {"gpu", "a100"},
                      {"efficiency", "0.5"},
                      {"tensor", std::to_string(tensor)},
                      {"pipeline", std::to_string(pipeline)},
                      {"data", std::to_string(data)},
                      {"context", std::to_string(context)},
                      {"microbatches", std::to_string(random.between(1, 6))},
                      {"sequence_parallel", random.chance(50) ? "yes" : "no"}};
    if (context > 1 && random.chance(60)) keys["context_exchange"] = "ring";
    const auto outline = make_workload("megatron", keys);
    ASSERT_TRUE(outline) << outline.error().message;
    expect_the_same(*outline, pipeline, std::to_string(i));
  }
}

// The rank that a rank sends to is counted from its own place, in groups of different lengths as well.
TEST(FoldProgram, RingsOfSeveralLengthsTakeTheSameTime) {
  const auto scenario = parse_scenario(R"(ringside: scenario/1
name: rings
ranks: 14
iterations: 2
groups: {ring: [0-3, 4-7, 8-10, 11-13]}
steps:
- kernel: 1ms
- repeat: {times: 3, steps: [send_recv: {on: ring, count: 4096, async: yes}, kernel: 1ms, join: {on: ring}]}
- kernel: {time: 3ms, on: ring, at: 0}
- send_recv: {on: ring, by: -1, count: 100}
- grouped: {calls: [transfer: {on: ring, from: 0, to: 1, count: 64}, transfer: {on: ring, from: 1, to: 0, count: 64}]}
- kernel: {time: 2ms, stream: side, async: yes}
- grouped: {calls: [all_reduce: {on: world, count: 8}, all_gather: {on: world, count: 9}], stream: side, async: yes}
- join: {stream: side}
)",
                                       "rings.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  expect_the_same(scenario->outline, 7, "rings");
}

// There are four pairs, and the last one's ranks are far from each other: this gives two kinds of pairs, whose
// transfers take different paths. A root's data do not take such a path.
TEST(FoldProgram, RanksAreEquivalentIfTheirTransfersUseEqualPaths) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: pairs\nranks: 8\ngroups: {pair: [0-1, 2-3, 4-5, 6-7]}\n"
      "steps: [transfer: {on: pair, from: 0, to: 1, count: 64}, "
      "broadcast: {on: world, root: 0, count: 1}]\n",
      "pairs.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  hangs::Program program = hangs::make_program(scenario->outline);
  EXPECT_EQ(fold_program(program)->program.ranks, 2);
  const hangs::PathClassOf path_class_of = [](int a, int b) { return std::max(a, b) == 7 ? 5 : 3; };
  const auto folded = fold_program(program, {}, path_class_of);
  ASSERT_TRUE(folded);
  EXPECT_EQ(folded->program.ranks, 4);
  hangs::set_path_classes(program, path_class_of);
  for (const int rank : {0, 1, 2, 3, 6, 7}) {
    const auto kind = static_cast<std::size_t>(folded->kind_of[static_cast<std::size_t>(rank)]);
    const hangs::Step& own = program.programs[static_cast<std::size_t>(rank)].body[0];
    EXPECT_EQ(own.path_class, rank >= 6 ? 5 : 3);
    EXPECT_EQ(folded->program.programs[kind].body[0].path_class, own.path_class) << rank;
    EXPECT_EQ(folded->program.programs[kind].body[1].path_class, -1) << rank;
  }
}

TEST(FoldProgram, BuiltInWorkloadsTakeTheSameTime) {
  for (const std::string_view name : hangs::workload_names()) {
    for (const int ranks : {4, 8, 16}) {
      const auto outline = hangs::make_workload(name, ranks, 11);
      ASSERT_TRUE(outline);
      if (!fold_program(hangs::make_program(*outline))) continue;  // ranks that send to their like
      expect_the_same(*outline, ranks, std::string(name) + " " + std::to_string(ranks));
    }
  }
}

TEST(FoldProgram, ARankThatDiffersIsItsOwnClass) {
  const auto outline = make_workload("ddp", {{"model", "llama3-8b"},
                                             {"gpu", "h100"},
                                             {"efficiency", "0.5"},
                                             {"data", "6"},
                                             {"sequence", "64"}});
  ASSERT_TRUE(outline);
  hangs::Program program = hangs::make_program(*outline);
  EXPECT_EQ(fold_program(program)->program.ranks, 1);
  program.programs[4].odd_body(1).pop_back();
  const auto folded = fold_program(program);
  ASSERT_TRUE(folded);
  EXPECT_EQ(folded->program.ranks, 2);
  EXPECT_NE(folded->kind_of[4], folded->kind_of[0]);
}

// Stages that only differ in the ranks that they send to, and one that computes for longer.
TEST(FoldProgram, TimesAndPeersDistinguishRanks) {
  const auto outline = make_workload("ddp", {{"model", "llama3-8b"},
                                             {"gpu", "h100"},
                                             {"efficiency", "0.5"},
                                             {"data", "4"},
                                             {"sequence", "64"}});
  ASSERT_TRUE(outline);
  hangs::Program program = hangs::make_program(*outline);
  program.programs[2].body.front().time += Nanoseconds{1};
  EXPECT_EQ(fold_program(program)->program.ranks, 2);
  program.programs[2].body.front().time -= Nanoseconds{1};
  // Ranks 1 and 2 send to 0 and to 3, which only differ in what they compute.
  const auto send = [&](int from, int to) {
    hangs::Step step;
    step.kind = hangs::Step::Kind::Call;
    step.op = hangs::Op::Send;
    step.group = 0;
    step.peer = to;
    program.programs[static_cast<std::size_t>(from)].body.push_back(step);
  };
  send(1, 0);
  send(2, 3);
  EXPECT_EQ(fold_program(program)->program.ranks, 2);
  program.programs[3].body.front().time += Nanoseconds{1};
  EXPECT_EQ(fold_program(program)->program.ranks, 4);
}

}  // namespace
}  // namespace ringside
