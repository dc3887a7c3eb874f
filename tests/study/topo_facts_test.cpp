#include "study/explain/topo_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "study/asked_job.h"

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

AskedJob job_on(const std::string& on, std::optional<int> nodes = {}) {
  Result<AskedJob> asked = load_job({.on = on, .nodes = nodes});
  RINGSIDE_ASSERT(asked, "{}", asked.error().message);
  return *std::move(asked);
}

TEST(TopoFacts, EqualNodesAreOneKind) {
  const AskedJob asked = job_on("dgx-h100:2,dgx-a100:1");
  const TopoFacts facts = topo_facts(asked.job);
  ASSERT_THAT(facts.kinds, SizeIs(2));
  EXPECT_THAT(facts.kinds[0].nodes, ElementsAre(0, 1));
  EXPECT_EQ(facts.kinds[0].first_rank, 0);
  EXPECT_THAT(facts.kinds[1].nodes, ElementsAre(2));
  EXPECT_EQ(facts.kinds[1].first_rank, 16);
  ASSERT_THAT(facts.node_of_rank, SizeIs(24));
  EXPECT_EQ(facts.node_of_rank[7], 0);
  EXPECT_EQ(facts.node_of_rank[8], 1);
  EXPECT_EQ(facts.node_of_rank[23], 2);
  EXPECT_TRUE(facts.kinds[0].link_rates.contains(LinkKind::Nvl));
  EXPECT_FALSE(facts.kinds[0].link_rates.contains(LinkKind::Net));
}

// Each visit has the 8 ranks of one node, in either direction: 2 nodes, 2 visits.
TEST(TopoFacts, ARingVisitsEachNodeOnce) {
  const AskedJob asked = job_on("dgx-h100", 2);
  const std::vector<RingVisit> visits = visits_of(asked.job, topo_facts(asked.job), 0);
  ASSERT_THAT(visits, SizeIs(2));
  EXPECT_EQ(visits[0].node, 0);
  EXPECT_EQ(visits[0].ranks.front(), 0);
  EXPECT_THAT(visits[0].ranks, SizeIs(8));
  EXPECT_EQ(visits[1].node, 1);
  EXPECT_THAT(visits[1].ranks, SizeIs(8));
}

TEST(TopoFacts, ATreesParentsBeginWithItsRoot) {
  std::vector<Channels::TreePlace> tree(4);
  tree[0].parent = Rank{2};
  tree[0].children = {Rank{1}};
  tree[1].parent = Rank{0};
  tree[2].parent = kNoRank;
  tree[2].children = {Rank{0}, Rank{3}};
  tree[3].parent = Rank{2};
  EXPECT_THAT(parents_of(tree), ElementsAre(2, 0));
}

TEST(TopoFacts, HostsThatComeAgainAreCounted) {
  const AskedJob mixed = job_on("dgx-h100:2,dgx-a100:1,dgx-h100:3");
  const std::vector<HostRun> distinct = distinct_hosts(mixed.hosts);
  ASSERT_THAT(distinct, SizeIs(2));
  EXPECT_EQ(distinct[0].count, 5);
  EXPECT_FALSE(only_host_of(mixed.hosts));
  const Result<Host> only = only_host_of(job_on("dgx-h100", 4).hosts);
  ASSERT_TRUE(only);
  EXPECT_EQ(only->name, distinct[0].host.name);
}

}  // namespace
}  // namespace ringside::study
