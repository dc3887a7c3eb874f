#include "tests/harness/grid.h"

#include <cstring>

#include "base/fnv.h"

namespace ringside {
namespace {

// The counts are 0, one element for some ranks, odd ones, and more than 8 slots of every protocol hold.
TEST(Grid, EveryTwoFactorsMeetOverSharedMemory) {
  run_grid(pairwise({.types = kAllTypes,
                     .ops = kAllOps,
                     .nranks = {1, 2, 3, 4, 5, 8},
                     .sizes = {0_B, 8_B, 1001_B, 70'001_B, 1500'000_B}}),
           *parse_transport("shm"));
}

TEST(Grid, EveryTwoFactorsMeetOverTcp) {
  run_grid(pairwise({.types = {DataType::Int8, DataType::Float64},
                     .ops = {RedOp::Sum, RedOp::Avg},
                     .nranks = {2, 3},
                     .sizes = {0_B, 8_B, 300'001_B}}),
           *parse_transport("tcp"));
}

/// Returns FNV-1a over the bits.
std::uint64_t digest(const std::vector<float>& data) {
  std::uint64_t hash = kFnvBegin;
  for (const float value : data) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = fnv_with(hash, bits);
  }
  return hash;
}

// Sums of thirds are not exact: a different order on another rank would show.
TEST(Grid, AllRanksHoldTheSameBitsAfterAnAllReduce) {
  JobOptions job;
  job.local_ranks = 5;
  const auto status = run_job(job, [](JobRank& rank) -> Result<int> {
    std::vector<float> input(30'011);
    std::vector<float> output(input.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<float>(i % 97 + 1) /
                 static_cast<float>(3 * (to_int(rank.communicator.rank()) + 1));
    }
    for (const auto& [collective, algorithm] : grid_pairs()) {
      if (collective != Collective::AllReduce) continue;
      rank.communicator.set_settings({.algorithm = algorithm});
      const CollectiveCall call{.input = input.data(),
                                .output = output.data(),
                                .count = static_cast<std::int64_t>(input.size())};
      if (!check_reduction(collective, algorithm, call.type, call.op)) continue;
      RINGSIDE_TRY(rank.communicator.run(call));
      const std::uint64_t mine = digest(output);
      RINGSIDE_TRY(const std::vector<std::byte> all,
                   rank.communicator.all_gather_bytes(std::as_bytes(std::span(&mine, 1))));
      for (std::size_t i = 0; i < all.size(); i += sizeof mine) {
        if (std::memcmp(all.data() + i, &mine, sizeof mine) != 0) {
          return Error{ErrorCode::Corrupt, std::string(to_string(algorithm)) + " differs"};
        }
      }
    }
    return 0;
  });
  ASSERT_TRUE(status) << status.error().message;
}

TEST(Grid, AnUnsupportedAlgorithmIsRefusedWithTheSupportedOnes) {
  BenchOptions options;
  options.collective = Collective::Broadcast;
  const Status checked = check_bench(options, {.algorithm = Algorithm::Tree});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(checked.error().help, "there is ring");
}

}  // namespace
}  // namespace ringside
