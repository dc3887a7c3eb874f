#include "study/explain/connection_sends.h"

#include <gtest/gtest.h>

#include <set>

#include "study/simulation.h"

namespace ringside::study {
namespace {

/// Returns the data that rank `from` of 16 sends in an all-reduce of 64 MiB.
std::vector<SentOn> sends_by(const std::string& algorithm, int from) {
  SimQuestion question{.job = {.on = "dgx-h100", .nodes = 2},
                       .calls = {.collective = "all_reduce", .sizes = "64M"},
                       .algorithm = algorithm,
                       .protocol = "simple"};
  const SimPlan plan = plan_simulation(question).value();
  const SimCall call = tune_call(plan, plan.calls.sizes[0]).value();
  auto sends = sends_of(call.tuned.choice, plan.channels, call.shape, Rank{from});
  EXPECT_TRUE(sends);
  return sends ? *std::move(sends) : std::vector<SentOn>{};
}

std::uint64_t sum_of(const std::vector<SentOn>& sends) {
  std::uint64_t bytes = 0;
  for (const SentOn& one : sends) bytes += one.bytes.value;
  return bytes;
}

// 2 x 15 / 16 of the buffer leave each rank of a ring, by one connection on each channel.
TEST(ConnectionSends, ARankOfARingSendsToOneOtherOnEachChannel) {
  const std::vector<SentOn> sends = sends_by("ring", 0);
  EXPECT_EQ(sum_of(sends), (std::uint64_t{64} << 20) * 30 / 16);
  std::set<int> channels;
  for (const SentOn& one : sends) {
    EXPECT_TRUE(channels.insert(one.channel).second) << one.channel;
    EXPECT_GT(one.messages, 0);
    EXPECT_NE(one.to, 0);
  }
}

// An NVSwitch receives a rank's data, and is not a rank.
TEST(ConnectionSends, ReductionsInASwitchAreSentToNoRank) {
  SimQuestion question{.job = {.on = "dgx-h100", .nodes = 1},
                       .calls = {.collective = "all_reduce", .sizes = "64M"},
                       .algorithm = "nvls"};
  const SimPlan plan = plan_simulation(question).value();
  const SimCall call = tune_call(plan, plan.calls.sizes[0]).value();
  const auto sends = sends_of(call.tuned.choice, plan.channels, call.shape, Rank{0});
  ASSERT_TRUE(sends);
  EXPECT_TRUE(sends->empty());
}

}  // namespace
}  // namespace ringside::study
