#include "sim/flow/flow.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/fidelity.h"
#include "sim/flow/channel_flow.h"
#include "sim/flow/coupled.h"
#include "sim/flow/link_users.h"
#include "tests/sim/compare.h"
#include "tests/sim/requests.h"
#include "trace/sink.h"

namespace ringside {
namespace {

using testing::HasSubstr;

void expect_near_events(const SimRequest& request, double tolerance, const std::string& what) {
  const auto event = by("event", request);
  const auto flow = by("flow", request);
  ASSERT_TRUE(event) << what << ": " << event.error().message;
  ASSERT_TRUE(flow) << what << ": " << flow.error().message;
  EXPECT_NEAR(flow->time / event->time, 1, tolerance) << what;
  EXPECT_NEAR(flow->busiest / event->busiest, 1, 0.01) << what;
  EXPECT_GE(flow->time, flow->busiest) << what;
  EXPECT_NEAR(static_cast<double>(flow->transfers), static_cast<double>(event->transfers),
              0.01 * static_cast<double>(event->transfers))
      << what;
  EXPECT_EQ(flow->steps, event->steps) << what;
  EXPECT_EQ(by("flow", request)->time, flow->time) << what;
}

TEST(Flow, LongCallsTakeTheTimeOfEvents) {
  for (const Collective collective :
       {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
        Collective::Broadcast, Collective::AllToAll}) {
    for (const auto& [on, nodes] :
         {std::pair{"dgx-h100", 1}, std::pair{"dgx-h100", 2}, std::pair{"2x-l4", 1}}) {
      const auto one = job_case(on, nodes, collective, 4_GiB);
      ASSERT_TRUE(one) << one.error().message;
      expect_near_events(one->request, 0.02,
                         fmt::format("{} on {} {}", to_string(collective), nodes, on));
    }
  }
  for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree, Algorithm::NvlsTree}) {
    for (const int nodes : {2, 3, 16}) {
      const auto one =
          forced_case("dgx-h100", nodes, Collective::AllReduce, 1_GiB, algorithm, Protocol::Simple);
      ASSERT_TRUE(one) << one.error().message;
      expect_near_events(one->request, 0.04, fmt::format("{} {}", to_string(algorithm), nodes));
    }
  }
}

// Latency decides: 2 (n - 1) steps of a ring, in step on all channels.
TEST(Flow, RingsOfManyRanksTakeTheTimeOfEvents) {
  for (const auto& [nodes, bytes] :
       {std::pair{4, 1_MiB}, std::pair{8, 16_MiB}, std::pair{16, 16_MiB}}) {
    const auto one = forced_case("dgx-h100", nodes, Collective::AllReduce, bytes, Algorithm::Ring,
                                 Protocol::LL128);
    ASSERT_TRUE(one) << one.error().message;
    expect_near_events(one->request, 0.03, fmt::format("{} nodes", nodes));
  }
}

// Flows that are in step but not equal are the method's limit.
TEST(Flow, CallsOfFewLoopsAreNearEvents) {
  for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree, Algorithm::NvlsTree}) {
    for (const Bytes bytes : {1_MiB, 16_MiB, 128_MiB}) {
      const auto one =
          forced_case("dgx-h100", 4, Collective::AllReduce, bytes, algorithm, Protocol::Simple);
      ASSERT_TRUE(one) << one.error().message;
      expect_near_events(one->request, 0.17,
                         fmt::format("{} {}", to_string(algorithm), bytes.value));
    }
  }
}

// The nodes of a double binary tree are of few kinds: one for each level, and more where the number is not a power of
// two.
TEST(Flow, ThousandsOfNodesAreAMatterOfMoments) {
  const auto one =
      forced_case("dgx-h100", 128, Collective::AllReduce, 1_GiB, Algorithm::Tree, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  const auto flow = by("flow", one->request);
  ASSERT_TRUE(flow) << flow.error().message;
  // 128 nodes x 8 ranks x 16 channels x 128 loops, up and down: 2 x 1,023 transfers a loop.
  EXPECT_EQ(flow->transfers, 16 * 128 * 2 * 1023);
}

// Channels of one kind are wired once and the others only routed: that makes no difference.
TEST(Flow, AnEqualChannelGivesTheSameResultAsAlone) {
  const auto one = forced_case("dgx-h100", 4, Collective::AllReduce, 256_MiB, Algorithm::NvlsTree,
                               Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  const auto planner =
      TaskPlanner::make(one->request.choice, one->request.channels, one->request.call);
  ASSERT_TRUE(planner);
  FlowShapes shapes;
  const auto first = shapes.channel(one->request, *planner, 0);
  ASSERT_TRUE(first);
  ASSERT_TRUE(planner->are_alike(0, 2));
  const auto itself = shapes.channel(one->request, *planner, 2);
  const auto like = shapes.channel_like(one->request, *planner, 2, *first);
  ASSERT_TRUE(itself && like);
  EXPECT_EQ(itself->shape, like->shape);
  EXPECT_EQ(itself->kinds, like->kinds);
  EXPECT_EQ(itself->links, like->links);
}

/// Each channel has links of its own, those of channel 1 at half the rate.
struct NetworkByChannel : IdealNetwork {
  [[nodiscard]] SimRoute route(Rank from, Rank to, int channel) const override {
    SimRoute route = IdealNetwork::route(from, to, channel);
    for (int& link : route.links) link += 2 * ranks * channel;
    return route;
  }
  [[nodiscard]] SimLink link(int id) const override {
    return {.rate = BytesPerSecond{rate.value / (id / (2 * ranks) == 1 ? 2 : 1)}, .name = "link"};
  }
};

TEST(Flow, AChannelOverSlowerLinksIsNotLikeTheOthers) {
  Case one = ideal_case(4, Collective::AllReduce, 1 << 22);
  NetworkByChannel network;
  network.ranks = 4;
  one.request.network = &network;
  one.request.channels = host_channels(4, 3);
  one.request.choice.nchannels = 3;
  const auto planner =
      TaskPlanner::make(one.request.choice, one.request.channels, one.request.call);
  ASSERT_TRUE(planner);
  ASSERT_TRUE(planner->are_alike(0, 1));
  FlowShapes shapes;
  const auto first = shapes.channel(one.request, *planner, 0);
  ASSERT_TRUE(first);
  const auto slow = shapes.channel_like(one.request, *planner, 1, *first);
  ASSERT_TRUE(slow);
  EXPECT_NE(slow->shape, first->shape);
  EXPECT_NE(slow->links, first->links);
}

TEST(Flow, ReportsHowFarItIs) {
  auto one =
      forced_case("dgx-h100", 4, Collective::AllReduce, 256_MiB, Algorithm::Tree, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  std::vector<double> shares;
  one->request.progress = [&shares](double share) { shares.push_back(share); };
  ASSERT_TRUE(by("flow", one->request));
  // The shares are reported at its begin, when the channels have been read, and at its end; in between, as often as
  // other cores allow.
  ASSERT_GE(shares.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
}

// Spans of 10, 4 and 2 s over the own one of 8: 8/8 of one, 2 x 3/8 of another, none of the one that is alike.
TEST(LinkUsers, MeetAsFarAsTheirSpansDo) {
  const std::vector<LinkUser> users{
      {.shape = 4, .kind = 0, .count = 3, .use = 7, .active = 1, .span = {2, 10}},
      {.shape = 4, .kind = 1, .count = 1, .use = 5, .active = 0.5, .span = {1, 11}},
      {.shape = 4, .kind = 2, .count = 2, .use = 1, .active = 1, .span = {7, 11}},
      {.shape = 4, .kind = 3, .count = 9, .use = 0, .active = 1, .span = {}}};
  const auto met = LinkUsers(users, true).sharing(4, 0, {2, 10});
  EXPECT_DOUBLE_EQ(met.together, 3);
  EXPECT_DOUBLE_EQ(met.others, 0.5 * 8 / 8 + 2 * 3.0 / 8);
  EXPECT_DOUBLE_EQ(met.elsewhere, 5 + 2);
  EXPECT_DOUBLE_EQ(LinkUsers(users, false).sharing(4, 2, {}).others, 3 + 0.5 + 9);
}

TEST(Flow, ATraceNeedsSteps) {
  const Case one = ideal_case(4, Collective::AllReduce, 80'000);
  SimRequest request = one.request;
  TraceMemorySink sink;
  request.trace = &sink;
  const auto refused = by("flow", request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().help, HasSubstr("--fidelity event"));
  EXPECT_TRUE(by("auto", request));
}

TEST(Auto, TakesEventsWhereTheyAreFew) {
  const Case brief = ideal_case(8, Collective::AllReduce, 80'000);
  const auto picked = pick_fidelity(brief.request);
  ASSERT_TRUE(picked);
  EXPECT_EQ(picked->fidelity->name, "event");
  EXPECT_EQ(by("auto", brief.request)->time, by("event", brief.request)->time);

  const auto large = job_case("dgx-h100", 64, Collective::AllReduce, 1_GiB);
  ASSERT_TRUE(large);
  const auto other = pick_fidelity(large->request);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->fidelity->name, "flow");
  EXPECT_THAT(other->why, HasSubstr("more than"));
}

// 8 x 15 rounds of 16 ranks, over separate links and over a fabric in which each transfer slows others.
TEST(Auto, TakesEventsForFewTransfersAndFewerWhereTheyMeet) {
  const auto few = job_case("dgx-h100", 8, Collective::AllToAll, 16_MiB);
  ASSERT_TRUE(few);
  EXPECT_EQ(pick_fidelity(few->request)->fidelity->name, "event");
  const auto many = job_case("dgx-h100", 64, Collective::AllToAll, 16_MiB);
  ASSERT_TRUE(many);
  EXPECT_EQ(pick_fidelity(many->request)->fidelity->name, "flow");
  const auto of_root = job_case("dgx-h100", 64, Collective::Scatter, 16_MiB);
  ASSERT_TRUE(of_root);
  EXPECT_EQ(pick_fidelity(of_root->request)->fidelity->name, "event");
}

// Links of 10 and 4: both flows grow to 2 each, where the second link is full; the first goes on to 10 - 2.
TEST(ShareCoupled, AFullLinkLimitsItsFlowsOnly) {
  const std::vector<CoupledFlow> flows{{{{0, 1.0}}}, {{{0, 1.0}, {1, 2.0}}}};
  const auto shares = share_coupled(flows, [](int link) { return link == 0 ? 10.0 : 4.0; });
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_DOUBLE_EQ(shares[1], 2);
  EXPECT_DOUBLE_EQ(shares[0], 8);
}

TEST(ShareCoupled, AFlowWithoutLoadIsNotLimited) {
  const std::vector<CoupledFlow> flows{{}, {{{3, 5.0}}}};
  const auto shares = share_coupled(flows, [](int) { return 10.0; });
  EXPECT_TRUE(std::isinf(shares[0]));
  EXPECT_DOUBLE_EQ(shares[1], 2);
}

}  // namespace
}  // namespace ringside
