#include "engine/collectives/plan.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

Choice choice_of(Collective collective, int nchannels) {
  Choice choice = *choose_host(collective, 0_B, 1, {.nchannels = nchannels, .slot = 1_KiB});
  return choice;
}

// 1000 floats on 3 channels: 4000 bytes / 3 rounded up to 512 is 1536 = 384 floats; 384, 384, 232.
TEST(Plan, CutsTheDataAmongTheChannelsInWhole512Bytes) {
  const auto tasks = plan_channels(choice_of(Collective::Broadcast, 3), host_channels(4, 3),
                                   {.count = 1000}, Rank{2});
  ASSERT_TRUE(tasks) << tasks.error().message;
  ASSERT_EQ(tasks->size(), 3U);
  EXPECT_EQ((*tasks)[0].map.at(0, 0).count, 384);
  EXPECT_EQ((*tasks)[1].map.at(0, 0).input, 384);
  EXPECT_EQ((*tasks)[2].map.at(0, 0).count, 232);
  EXPECT_EQ((*tasks)[2].ring.index, 2);
}

// A chunk of 4 slots x 1 KiB is 1024 floats, or 512 doubles.
TEST(Plan, AChunkHoldsWhatItsSlotsHold) {
  const Choice choice = choice_of(Collective::Broadcast, 1);
  const auto floats = plan_channels(choice, host_channels(2, 1), {.count = 4096}, Rank{0});
  const auto doubles = plan_channels(choice, host_channels(2, 1),
                                     {.count = 4096, .type = DataType::Float64}, Rank{0});
  ASSERT_TRUE(floats && doubles);
  EXPECT_EQ(floats->front().map.loops(), 4);
  EXPECT_EQ(doubles->front().map.loops(), 8);
}

TEST(Plan, FindsRankAndRootByTheirPositionOnEachRing) {
  const Channels channels{{{Rank{0}, Rank{2}, Rank{1}}, {Rank{0}, Rank{1}, Rank{2}}}};
  const auto tasks = plan_channels(choice_of(Collective::Broadcast, 2), channels,
                                   {.count = 1000, .root = Rank{1}}, Rank{2});
  ASSERT_TRUE(tasks);
  EXPECT_EQ((*tasks)[0].ring.index, 1);
  EXPECT_EQ((*tasks)[0].root, 2);
  EXPECT_EQ((*tasks)[1].ring.index, 2);
  EXPECT_EQ((*tasks)[1].root, 1);
}

TEST(Plan, NothingToMoveIsNoLoop) {
  const auto tasks = plan_channels(choice_of(Collective::AllReduce, 2), host_channels(4, 2),
                                   {.count = 0}, Rank{0});
  ASSERT_TRUE(tasks);
  for (const ChannelTask& task : *tasks) EXPECT_EQ(task.map.loops(), 0);
}

TEST(Plan, RefusesWhatThereIsNoPlanFor) {
  const Channels channels = host_channels(4, 2);
  const auto code = [&](Collective collective, int nchannels, const CallShape& call, int rank) {
    const auto tasks = plan_channels(choice_of(collective, nchannels), channels, call, Rank{rank});
    return tasks ? ErrorCode::Aborted : tasks.error().code;
  };
  const CallShape call{.count = 8};
  EXPECT_EQ(code(Collective::Reduce, 2, call, 0), ErrorCode::Unsupported);
  EXPECT_EQ(code(Collective::AllReduce, 3, call, 0), ErrorCode::InvalidArgument);
  EXPECT_EQ(code(Collective::AllReduce, 2, call, 4), ErrorCode::InvalidArgument);
  EXPECT_EQ(code(Collective::AllReduce, 2, call, -1), ErrorCode::InvalidArgument);
  EXPECT_EQ(code(Collective::Broadcast, 2, {.count = 8, .root = Rank{4}}, 0),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(code(Collective::AllReduce, 2, {.count = -1}, 0), ErrorCode::InvalidArgument);
}

// An all-gather's size is that of the gathered result, as nccl-tests has it.
TEST(Plan, TheSizeOfACallIsItsLargerBuffer) {
  EXPECT_EQ(call_bytes(Collective::AllReduce, {.count = 10}, 4), 40_B);
  EXPECT_EQ(call_bytes(Collective::AllGather, {.count = 10}, 4), 160_B);
  EXPECT_EQ(call_bytes(Collective::ReduceScatter, {.count = 10, .type = DataType::Int8}, 4), 40_B);
}

}  // namespace
}  // namespace ringside
