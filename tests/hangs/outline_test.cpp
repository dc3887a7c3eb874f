#include "harness/hangs/outline.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside::hangs {
namespace {

const std::string kProgram = R"(ringside: hang-program/1
ranks: 8
ranks_per_host: 4
iterations: 3
groups:
  tensor: [0-3, 4-7]
  data: [0 4, 1 5, 2 6, 3 7]
steps:
- compute: 2ms
- all_reduce: {on: tensor, count: 4096, type: bfloat16}
- all_reduce: {on: data, count: 1048576, async: yes}
- transfer: {on: data, from: 0, to: 1, count: 4096}
- broadcast: {on: world, root: 3, count: 262144}
- join
- barrier: {on: world}
- rendezvous: {on: world}
- synchronize
)";

std::string error_of(const std::string& from, const std::string& to) {
  std::string text = kProgram;
  text.replace(text.find(from), from.size(), to);
  const auto outline = parse_outline(text, "p.yaml");
  return outline ? "fine" : outline.error().message + " | " + outline.error().help;
}

// World, 2 tensor groups, 4 data groups. Rank 5 is rank 1 of the tensor group 4-7 and of the data group
// 1,5: it receives. Its 9 steps are all 9 lines.
TEST(OutlineYaml, EachRankGetsItsOwnPart) {
  const auto outline = parse_outline(kProgram, "p.yaml");
  ASSERT_TRUE(outline) << outline.error().message;
  const Program program = make_program(*outline);
  ASSERT_EQ(program.groups.size(), 7U);
  EXPECT_EQ(program.groups[1].desc, "TENSOR_PARALLEL_GROUP");
  EXPECT_EQ(program.groups[4].ranks, (std::vector<int>{1, 5}));
  const std::vector<Step>& body = program.programs[5].body;
  ASSERT_EQ(body.size(), 9U);
  EXPECT_EQ(body[1].group, 2);
  EXPECT_EQ(body[1].type, DataType::Bfloat16);
  EXPECT_TRUE(body[2].async);
  EXPECT_EQ(body[3].op, Op::Recv);
  EXPECT_EQ(body[3].peer, 0);
  EXPECT_EQ(body[4].peer, 3);
  EXPECT_FALSE(play(program, {}, 1).is_hung());
}

TEST(OutlineYaml, InvalidInputIsReportedWithItsLine) {
  EXPECT_EQ(error_of("hang-program/1", "hang-program/2").substr(0, 9), "p.yaml:1:");
  EXPECT_EQ(error_of("- compute: 2ms", "- compute: 2 sheep").substr(0, 10), "p.yaml:9: ");
  EXPECT_NE(error_of("- all_reduce: {on: tensor", "- all_reduse: {on: tensor").find("all_reduce"),
            std::string::npos);
  EXPECT_NE(error_of("on: tensor", "on: tenser").find("tensor"), std::string::npos);
  EXPECT_NE(error_of("root: 3", "root: 8").find("p.yaml:13"), std::string::npos);
  EXPECT_NE(error_of("4-7]", "3-7]").find("rank 3 is in two groups of 'tensor'"),
            std::string::npos);
  EXPECT_NE(error_of("async: yes", "async: maybe").find("yes or no"), std::string::npos);
  EXPECT_NE(error_of("from: 0", "form: 0").find("from"), std::string::npos);
  EXPECT_NE(error_of("count: 262144", "count: -1").find("'-1' is not a number of elements"),
            std::string::npos);
  EXPECT_NE(error_of("- join", "- jion").find("join"), std::string::npos);
}

TEST(Workload, EveryOneRunsToItsEndOnAnyNumberOfRanks) {
  for (const std::string_view name : workload_names()) {
    for (const int ranks : {2, 3, 4, 6, 8, 12, 16, 31, 64}) {
      const auto outline = make_workload(name, ranks, static_cast<std::uint64_t>(ranks));
      ASSERT_TRUE(outline) << name;
      const Program program = make_program(*outline);
      EXPECT_FALSE(play(program, {}, 1).is_hung()) << name << " on " << ranks;
    }
  }
}

TEST(Workload, AnUnknownOneNamesTheNearest) {
  EXPECT_NE(make_workload("pipelin", 4, 1).error().help.find("pipeline"), std::string::npos);
}

}  // namespace
}  // namespace ringside::hangs
