#include "harness/overlap.h"

#include <gtest/gtest.h>

#include <numeric>

#include "harness/job.h"

namespace ringside {
namespace {

// Layers of 1 MiB: the first bucket is full with one, the others with three each, and the rest is left.
TEST(Buckets, EachIsClosedByTheLayerThatReachesItsCap) {
  const std::vector<std::int64_t> layers(8, 1 << 18);
  const auto buckets = bucket_elements(layers, 4_B, 1_MiB, 3_MiB);
  EXPECT_EQ(buckets, (std::vector<std::int64_t>{1 << 18, 3 << 18, 3 << 18, 1 << 18}));
}

TEST(Buckets, ALayerBeyondTheCapIsItsOwnBucket) {
  const std::vector<std::int64_t> layers{5, 100, 1, 1, 1};
  const auto buckets = bucket_elements(layers, 4_B, 8_B, 12_B);
  EXPECT_EQ(buckets, (std::vector<std::int64_t>{5, 100, 3}));
  EXPECT_TRUE(bucket_elements({}, 4_B, 1_B, 1_B).empty());
}

TEST(Overlap, TheTimesAddUpAndEveryLayerIsInABucket) {
  JobOptions job;
  job.local_ranks = 2;
  const auto status = run_job(job, [](JobRank& rank) -> Result<int> {
    OverlapOptions options;
    options.gradients = 1_MiB;
    options.layers = 4;
    options.compute = Seconds{0.02};
    options.first_bucket = 100_KiB;
    options.bucket_cap = 500_KiB;
    options.iterations = 2;
    RINGSIDE_TRY(const OverlapResult result, run_overlap(rank.communicator, options));
    const bool is_right = std::accumulate(result.buckets.begin(), result.buckets.end(),
                                          std::int64_t{0}) == (1 << 18) &&
                          result.buckets.size() == 3 && result.compute.count() >= 0.02 &&
                          result.total.count() >= 0.02 && result.communication.count() > 0;
    return is_right ? 0 : 1;
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 0);
}

TEST(Overlap, LayersWithoutAnElementAreRefused) {
  JobOptions job;
  job.local_ranks = 1;
  const auto status = run_job(job, [](JobRank& rank) -> Result<int> {
    OverlapOptions options;
    options.gradients = 8_B;
    options.layers = 3;
    RINGSIDE_TRY([[maybe_unused]] const OverlapResult result,
                 run_overlap(rank.communicator, options));
    return 0;
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace ringside
