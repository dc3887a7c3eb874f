#include "engine/tuning/channel_split.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ringside {
namespace {

/// Reads each version's model once: a model is kilobytes of YAML.
const SchedulerModel& scheduler_of(const std::string& version) {
  static std::map<std::string, SchedulerModel> known;
  const auto [place, is_new] = known.try_emplace(version);
  if (is_new) place->second = load_tuning_model(version)->scheduler;
  return place->second;
}

std::vector<ChannelSplit> split_channels(std::span<const SplitTask> tasks, const SplitShape& shape,
                                         const char* version = "2.30") {
  return split_channels(tasks, shape, scheduler_of(version));
}

std::uint64_t elements(const ChannelSplit& split) {
  if (split.nchannels() == 1) return split.lo;
  return split.lo + split.mid * static_cast<std::uint64_t>(split.nchannels() - 2) + split.hi;
}

SplitTask all_reduce(std::uint64_t count, int max_channels, Protocol protocol = Protocol::Simple) {
  return {.protocol = protocol,
          .count = count,
          .element = 4,
          .max_channels = max_channels,
          .nthreads = 512};
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

// Cells of 16 KiB with 32 KiB of traffic. Two tasks of 3 cells on 2 channels: 3 cells per channel.
TEST(ChannelSplit, TheNextTaskStartsWhereTheLastOneEnded) {
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

// 1 MiB on 24 channels, by the version's rule: 2.29 counts LL's bytes four times and a cell as 32 KiB of traffic
// (above); 2.26 as 16 KiB: cells of 2 KiB, 349525 bytes of traffic a channel are 22 of them; 2.23 counts LL once:
// cells of 8 KiB, 87381 bytes are 6 of them; 2.22 has cells of 16 bytes: 2731 of them; 2.21 fills 43696 bytes in
// pieces of 8 x 512; 2.19 gives each loop to all.
TEST(ChannelSplit, EachSchedulerFillsInItsWay) {
  const std::vector<SplitTask> tasks{all_reduce(262144, 24, Protocol::LL)};
  const SplitShape shape{.nranks = 8, .nnodes = 1, .nchannels = 24};
  const auto lo_bytes = [&](const char* version) {
    return split_channels(tasks, shape, version).front().lo * 4;
  };
  EXPECT_EQ(lo_bytes("2.29"), 45056U);
  EXPECT_EQ(lo_bytes("2.26"), 22U * 2048);
  EXPECT_EQ(lo_bytes("2.23"), 6U * 8192);
  EXPECT_EQ(lo_bytes("2.22"), 2730U * 16);
  EXPECT_EQ(lo_bytes("2.21"), 11U * 4096);
  EXPECT_EQ(lo_bytes("2.19"), 1048576U);
}

TEST(ChannelSplit, EveryElementIsAssignedOnceToExistingChannels) {
  constexpr std::uint64_t kCounts[] = {1, 3, 4095, 4096, 4097, 50'000, 262'144, 1'000'003};
  for (const char* const version : {"2.30", "2.26", "2.22", "2.21"})
    for (const int nchannels : {1, 2, 3, 7, 24}) {
      for (const std::uint64_t a : kCounts) {
        for (const std::uint64_t b : kCounts) {
          for (const std::uint64_t c : {std::uint64_t{1}, std::uint64_t{70'001}}) {
            SCOPED_TRACE(std::string(version) + ": " + std::to_string(nchannels) + " channels: " +
                         std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c));
            const std::vector<SplitTask> tasks{all_reduce(a, nchannels),
                                               all_reduce(b, nchannels, Protocol::LL),
                                               all_reduce(c, 1, Protocol::LL128)};
            const auto splits =
                split_channels(tasks, {.nranks = 8, .nnodes = 1, .nchannels = nchannels}, version);
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
