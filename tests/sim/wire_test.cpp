#include "sim/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/requests.h"

namespace ringside {
namespace {

template <typename Expected>
Expected there_and_back(const WireMessage& message) {
  const auto back = decode(encode(message));
  EXPECT_TRUE(back) << back.error().message;
  const auto* expected = back ? std::get_if<Expected>(&*back) : nullptr;
  EXPECT_NE(expected, nullptr);
  return expected == nullptr ? Expected{} : *expected;
}

bool is_same(const Channels::TreePlace& a, const Channels::TreePlace& b) {
  return a.parent == b.parent && a.children == b.children;
}

void expect_same(const std::vector<std::vector<Channels::TreePlace>>& a,
                 const std::vector<std::vector<Channels::TreePlace>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(std::equal(a[i].begin(), a[i].end(), b[i].begin(), b[i].end(), is_same));
  }
}

// A job with something of everything: NVLS and CollNet heads, trees of nodes, chains.
TEST(Wire, AJobSurvivesEncoding) {
  const auto one = job_case("dgx-h100", 3, Collective::AllReduce, 4_MiB);
  ASSERT_TRUE(one) << one.error().message;
  WireJob job{.caller = {.nranks = 24,
                         .version = "1.2",
                         .reports_progress = true,
                         .is_traced = true,
                         .command_line = "ringside sim",
                         .pid = 77},
              .request = one->request};
  job.request.choice.slots_per_chunk = 3;
  job.request.choice.protocol = Protocol::LL;
  job.request.call.root = Rank{5};
  job.request.call.counts = {1, 2, 1LL << 40};
  job.request.call.sends = {{Rank{1}, 10, 1LL << 50}, {Rank{2}, 30, 40}};
  job.request.call.recvs = {{Rank{3}, 50, 60}};
  job.request.trace_label = "three nodes";
  job.request.traces_slices = true;
  job.request.channels.collnet = {.heads = {Rank{1}, Rank{2}},
                                  .direct_heads = {Rank{2}},
                                  .rails = {{Rank{3}}, {}, {Rank{4}, Rank{5}}},
                                  .chain = {{Rank{1}, kNoRank}, {Rank{24}, Rank{0}}}};
  ASSERT_FALSE(job.request.channels.nvls.heads.empty());
  const WireJob back = there_and_back<WireJob>(job);
  EXPECT_EQ(back.caller.nranks, 24);
  EXPECT_EQ(back.caller.version, "1.2");
  EXPECT_TRUE(back.caller.reports_progress && back.caller.is_traced);
  EXPECT_EQ(back.caller.command_line, "ringside sim");
  EXPECT_EQ(back.caller.pid, 77U);
  const SimRequest& a = job.request;
  const SimRequest& b = back.request;
  EXPECT_EQ(b.trace_label, "three nodes");
  EXPECT_TRUE(b.traces_slices);
  EXPECT_EQ(b.choice, a.choice);
  EXPECT_EQ(b.call.count, a.call.count);
  EXPECT_EQ(b.call.type, a.call.type);
  EXPECT_EQ(b.call.root, a.call.root);
  EXPECT_EQ(b.call.counts, a.call.counts);
  ASSERT_EQ(b.call.sends.size(), 2U);
  EXPECT_EQ(b.call.sends[0].count, 1LL << 50);
  EXPECT_EQ(b.call.sends[1].peer, Rank{2});
  ASSERT_EQ(b.call.recvs.size(), 1U);
  EXPECT_EQ(b.call.recvs[0].offset, 50);
  EXPECT_EQ(b.costs.launch, a.costs.launch);
  EXPECT_EQ(b.costs.step, a.costs.step);
  EXPECT_EQ(b.costs.share, a.costs.share);
  EXPECT_EQ(b.costs.nvswitch, a.costs.nvswitch);
  EXPECT_EQ(b.costs.network_reduction, a.costs.network_reduction);
  EXPECT_EQ(b.costs.nvswitch_efficiency, a.costs.nvswitch_efficiency);
  EXPECT_EQ(b.channels.rings, a.channels.rings);
  expect_same(b.channels.trees, a.channels.trees);
  EXPECT_EQ(b.channels.tree_depth, a.channels.tree_depth);
  EXPECT_EQ(b.channels.nvls.heads, a.channels.nvls.heads);
  expect_same(b.channels.nvls.trees, a.channels.nvls.trees);
  EXPECT_EQ(b.channels.collnet.heads, a.channels.collnet.heads);
  EXPECT_EQ(b.channels.collnet.direct_heads, a.channels.collnet.direct_heads);
  EXPECT_EQ(b.channels.collnet.rails, a.channels.collnet.rails);
  EXPECT_EQ(b.channels.collnet.chain, a.channels.collnet.chain);
  EXPECT_EQ(b.channels.nodes, a.channels.nodes);
}

TEST(Wire, QuestionsAndRoutesArriveInTheirOrder) {
  const SwitchGroup group{.medium = SwitchGroup::Medium::Network,
                          .id = 9,
                          .senders = {Rank{1}, Rank{2}},
                          .receivers = {Rank{3}}};
  const auto question = there_and_back<WireQuestion>(WireQuestion{
      .pairs = {{Rank{4}, Rank{5}, 6}, {Rank{7}, Rank{8}, 0}}, .groups = {{group, 2}}});
  ASSERT_EQ(question.pairs.size(), 2U);
  EXPECT_EQ(question.pairs[0], (WireQuestion::Pair{Rank{4}, Rank{5}, 6}));
  ASSERT_EQ(question.groups.size(), 1U);
  EXPECT_EQ(question.groups[0].members, group);
  EXPECT_EQ(question.groups[0].channel, 2);

  const auto routes = there_and_back<WireRoutes>(
      WireRoutes{.pairs = {{.links = {1, 2}, .slowest = StepLink::Net, .beyond = Seconds{0.7}}, {}},
                 .groups = {{}, {3}},
                 .rates = {{1, BytesPerSecond{5e9}}},
                 .first_fabric_link = 2});
  ASSERT_EQ(routes.pairs.size(), 2U);
  EXPECT_EQ(routes.pairs[0].links, (std::vector{1, 2}));
  EXPECT_EQ(routes.pairs[0].slowest, StepLink::Net);
  EXPECT_EQ(routes.pairs[0].beyond.count(), 0.7);
  EXPECT_EQ(routes.first_fabric_link, 2);
  EXPECT_TRUE(routes.pairs[1].links.empty());
  EXPECT_EQ(routes.groups, (std::vector<std::vector<int>>{{}, {3}}));
  ASSERT_EQ(routes.rates.size(), 1U);
  EXPECT_EQ(routes.rates[0].second.value, 5e9);
}

TEST(Wire, ResultsAndFailuresArriveToTheLastDigit) {
  const auto result = there_and_back<SimResult>(SimResult{.time = Seconds{0.1},
                                                          .transfers = 1LL << 40,
                                                          .steps = 3,
                                                          .busiest_link = 4,
                                                          .busiest = Seconds{1.0 / 3},
                                                          .busiest_fabric_link = 6,
                                                          .busiest_fabric_part = 2.0 / 3,
                                                          .wall = Seconds{5}});
  EXPECT_EQ(result.time.count(), 0.1);
  EXPECT_EQ(result.transfers, 1LL << 40);
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(result.busiest_link, 4);
  EXPECT_EQ(result.busiest.count(), 1.0 / 3);
  EXPECT_EQ(result.busiest_fabric_link, 6);
  EXPECT_EQ(result.busiest_fabric_part, 2.0 / 3);
  EXPECT_EQ(result.wall.count(), 5);
  const auto failure =
      there_and_back<WireFailure>(WireFailure{Error{ErrorCode::Timeout, "stuck", "look"}});
  EXPECT_EQ(failure.error.code, ErrorCode::Timeout);
  EXPECT_EQ(failure.error.message, "stuck");
  EXPECT_EQ(failure.error.help, "look");
  const Error last{ErrorCode::Unreachable, "gone", "ping"};
  EXPECT_EQ(there_and_back<WireFailure>(WireFailure{last}).error.code, ErrorCode::Unreachable);
  EXPECT_EQ(there_and_back<WireDeath>(WireDeath{11}).signal, 11);
  EXPECT_EQ(there_and_back<WireHello>(WireHello{"1.2"}).version, "1.2");
  const std::vector<std::byte> block{std::byte{1}, std::byte{2}};
  EXPECT_EQ(there_and_back<WireTrace>(WireTrace{block}).block, block);
  EXPECT_EQ(encode_trace(block), encode(WireTrace{block}));
}

// A truncated message or a changed byte gives an error or another message, but no crash.
TEST(Wire, DamagedMessagesAreErrorsOrOtherMessages) {
  const auto one = job_case("dgx-h100", 2, Collective::AllReduce, 4_MiB);
  ASSERT_TRUE(one);
  const std::vector<std::byte> whole = encode_job({.nranks = 16}, one->request);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode(std::span(whole).first(size))) << size;
  }
  std::size_t refused = 0;
  for (std::size_t i = 4; i < whole.size(); i += 7) {
    std::vector<std::byte> changed = whole;
    changed[i] ^= std::byte{0xff};
    if (!decode(changed)) ++refused;
  }
  EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace ringside
