#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/cuda/host_answer.h"
#include "tests/cuda/process_job.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

/// The place of the slots between two threads.
struct Place {
  const char* name;
  MemoryAccess shares_by;  ///< the way in which other processes reach it
  MemorySettings memory;
};

/// Ranks that are threads of this process, each with a device and launches of its own, as in a program that uses
/// several GPUs.
class CudaThreads : public testing::TestWithParam<Place> {
 protected:
  static constexpr int kRanks = 3;

  void SetUp() override {
    if (device_count() < kRanks) {
      GTEST_SKIP() << fmt::format("needs {} GPUs, found {}", kRanks, device_count());
    }
    job_ = {.nranks = kRanks, .shares_by = GetParam().shares_by, .memory = GetParam().memory};
  }

  std::vector<Result<int>> run(const std::function<Result<int>(const ProcessRank& rank)>& main) {
    const auto root = make_root(kRanks);
    return run_threads(job_, first_ranks(kRanks), root->id(), main);
  }

  ProcessJob job_;
};

TEST_P(CudaThreads, EveryCollectiveAndAlgorithmGivesTheHostsBits) {
  std::vector<DeviceCase> cases = integer_grid(kRanks, GetParam().memory.may_open);
  const auto expected = host_answers(cases);
  const auto ended = run([&](const ProcessRank& rank) { return run_cases(rank, cases, expected); });
  for (const Result<int>& one : ended) {
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(*one, 0);
  }
}

TEST_P(CudaThreads, ARankThatDoesNotComeInTheKernelIsWaitedForNoLongerThanTheTimeOut) {
  job_.op_timeout = Seconds{0.5};
  job_.dead_rank = 1;
  const auto ended = run([&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(const auto output, run_case(rank, all_reduce_case(kRanks, Protocol::LL, 40000)));
    return 0;
  });
  for (const std::size_t rank : {0U, 2U}) {
    ASSERT_FALSE(ended[rank]);
    EXPECT_NE(ended[rank].error().message.find("waited in vain for"), std::string::npos)
        << ended[rank].error().message;
  }
}

// The time-out is an hour. The memory of the rank that aborts is released while the others' kernels may still store
// there.
TEST_P(CudaThreads, AnAbortOfOneRankEndsTheKernelsOfAll) {
  job_.op_timeout = Seconds{3600};
  std::atomic<int> stopped = 0;
  const auto ended = run([&](const ProcessRank& rank) -> Result<int> {
    const DeviceCase test = all_reduce_case(kRanks, Protocol::Simple, 40000);
    RINGSIDE_TRY(const auto first, run_case(rank, test));
    RINGSIDE_TRY(rank.communicator.barrier());  // all are connected, and in no call
    if (rank.rank == 1) return Error{ErrorCode::InvalidArgument, "rank 1 has had enough"};
    const auto second = run_case(rank, test);
    ++stopped;
    if (second) return 1;
    return second.error();
  });
  EXPECT_EQ(stopped, 2);
  for (const Result<int>& one : ended) {
    ASSERT_FALSE(one);
    EXPECT_NE(one.error().message.find("rank 1 has had enough"), std::string::npos)
        << one.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(Places, CudaThreads,
                         testing::Values(Place{"Pages", MemoryAccess::File, {.by_file = true}},
                                         Place{"Blocks", MemoryAccess::Ipc, {.by_file = false}},
                                         Place{"OfOneProcess", MemoryAccess::Address, {}},
                                         Place{
                                             "OfTheHost", MemoryAccess::File, {.may_open = false}}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ringside
