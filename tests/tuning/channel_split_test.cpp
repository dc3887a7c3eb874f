#include "engine/tuning/channel_split.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

std::uint64_t elements(const ChannelSplit& split) {
  if (split.nchannels() == 1) return split.lo;
  return split.lo + split.mid * static_cast<std::uint64_t>(split.nchannels() - 2) + split.hi;
}

SplitTask all_reduce(std::uint64_t count, int max_channels, Protocol protocol = Protocol::Simple) {
  return {.protocol = protocol, .count = count, .element = 4, .max_channels = max_channels};
}

// 1 MiB of LL: traffic 2 x 4 a byte, cells of 4096 bytes. 8 MiB / 24 channels are 349536 bytes, so 11
// cells each: 23 channels x 45056 bytes and 12288 on the last.
TEST(ChannelSplit, OneTaskFillsItsChannelsEvenly) {
  const std::vector<SplitTask> tasks{all_reduce(262144, 24, Protocol::LL)};
  const ChannelSplit split =
      split_channels(tasks, {.nranks = 8, .nnodes = 1, .nchannels = 24}).front();
  EXPECT_EQ(split.first, 0);
  EXPECT_EQ(split.last, 23);
  EXPECT_EQ(split.lo, 11264U);
  EXPECT_EQ(split.mid, 11264U);
  EXPECT_EQ(split.hi, 3072U);
}

// Cells of 16 KiB with 32 KiB traffic. Two tasks of 3 cells on 2 channels: 3 cells a channel.
TEST(ChannelSplit, TheNextTaskGoesOnWhereTheLastOneEnded) {
  const std::vector<SplitTask> tasks{all_reduce(3 * 4096, 1), all_reduce(3 * 4096, 1)};
  const auto splits = split_channels(tasks, {.nranks = 8, .nnodes = 1, .nchannels = 16});
  EXPECT_EQ(splits[0].first, 0);
  EXPECT_EQ(splits[0].last, 0);
  EXPECT_EQ(splits[1].first, 1);
  EXPECT_EQ(splits[1].last, 1);
}

TEST(ChannelSplit, CollNetSpreadsEveryTaskOverAllOfItsChannels) {
  SplitTask chain = all_reduce(1000, 8);
  chain.algorithm = Algorithm::CollNetChain;
  const std::vector<SplitTask> tasks{chain, chain};
  for (const ChannelSplit& split :
       split_channels(tasks, {.nranks = 16, .nnodes = 2, .nchannels = 16})) {
    EXPECT_EQ(split.nchannels(), 8);
    EXPECT_EQ(split.lo, 1000U);
  }
}

TEST(ChannelSplit, EveryElementIsHandedOutOnceOnChannelsThatAreThere) {
  constexpr std::uint64_t kCounts[] = {1, 3, 4095, 4096, 4097, 50'000, 262'144, 1'000'003};
  for (const int nchannels : {1, 2, 3, 7, 24}) {
    for (const std::uint64_t a : kCounts) {
      for (const std::uint64_t b : kCounts) {
        for (const std::uint64_t c : {std::uint64_t{1}, std::uint64_t{70'001}}) {
          SCOPED_TRACE(std::to_string(nchannels) + " channels: " + std::to_string(a) + ", " +
                       std::to_string(b) + ", " + std::to_string(c));
          const std::vector<SplitTask> tasks{all_reduce(a, nchannels),
                                             all_reduce(b, nchannels, Protocol::LL),
                                             all_reduce(c, 1, Protocol::LL128)};
          const auto splits =
              split_channels(tasks, {.nranks = 8, .nnodes = 1, .nchannels = nchannels});
          int at = 0;
          for (std::size_t i = 0; i < tasks.size(); ++i) {
            EXPECT_EQ(elements(splits[i]), tasks[i].count);
            EXPECT_GE(splits[i].first, at);
            EXPECT_LE(splits[i].first, at + 1);
            EXPECT_LE(splits[i].first, splits[i].last);
            EXPECT_LT(splits[i].last, nchannels);
            at = splits[i].last;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringside
