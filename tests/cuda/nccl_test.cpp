#include <gtest/gtest.h>

#include <string_view>

#include "engine/cuda/nccl_executor.h"
#include "harness/bench.h"
#include "harness/job.h"

namespace ringside {
namespace {

/// A job of 3 processes whose calls the tests' own libnccl runs, in memory of hosts.
struct NcclJob {
  std::function<Result<bool>()> is_idle = [] { return Result<bool>(true); };
  CallSettings settings = {};
  Seconds op_timeout{20};
};
Result<int> run_by_nccl(const NcclJob& asked,
                        const std::function<Result<int>(runtime::Communicator&)>& main) {
  NcclLibrary library;  // the library of each rank, in its process
  const NcclStream stream{nullptr, asked.is_idle};
  JobOptions job;
  job.local_ranks = 3;
  job.communicator.settings = asked.settings;
  job.communicator.op_timeout = asked.op_timeout;
  job.make_executor = [&](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
    RINGSIDE_TRY(library, NcclLibrary::open(RINGSIDE_FAKE_NCCL));
    return make_nccl_executor(library, stream, setup);
  };
  return run_job(job, [&](JobRank& rank) { return main(rank.communicator); });
}

TEST(Nccl, RunsTheCallsOfABenchmark) {
  const auto status = run_by_nccl({}, [](runtime::Communicator& communicator) -> Result<int> {
    BenchOptions options;
    options.sizes = {1200_B};
    options.warmup = 1;
    options.iterations = 2;
    options.shares_memory = false;
    for (const Collective collective :
         {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
          Collective::Broadcast, Collective::Reduce}) {
      options.collective = collective;
      options.root = Rank{collective == Collective::Reduce ? 1 : 2};
      RINGSIDE_TRY(const auto rows, run_bench(communicator, options, [](const BenchRow&) {}));
      if (rows.front().out_of_place.wrong != 0) return 1;
    }
    return 0;
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 0);
}

CollectiveCall all_reduce_of(const float* input, float* output, RedOp op) {
  return {.input = input, .output = output, .count = 1, .op = op};
}

TEST(Nccl, ReportsNcclsOwnErrorText) {
  const auto status = run_by_nccl({}, [](runtime::Communicator& communicator) -> Result<int> {
    const float input = 1;
    float output = 0;
    RINGSIDE_TRY(communicator.run(all_reduce_of(&input, &output, RedOp::Max)));
    return 0;
  });
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("invalid argument"), std::string::npos)
      << status.error().message;
}

TEST(Nccl, ACallThatDoesNotEndIsGivenUp) {
  NcclJob job;
  job.is_idle = [] { return Result<bool>(false); };
  job.op_timeout = Seconds{0.5};
  const auto status = run_by_nccl(job, [](runtime::Communicator& communicator) -> Result<int> {
    const float input = 1;
    float output = 0;
    RINGSIDE_TRY(communicator.run(all_reduce_of(&input, &output, RedOp::Sum)));
    return 0;
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Timeout) << status.error().message;
}

TEST(Nccl, ChoosesAlgorithmsItself) {
  NcclJob job;
  job.settings.algorithm = Algorithm::Ring;
  const auto status = run_by_nccl(job, [](runtime::Communicator&) -> Result<int> { return 0; });
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().help.find("NCCL_ALGO"), std::string::npos);
}

// Checks its functions and texts without a GPU: version 2.18 has the number 21800.
TEST(NcclLibrary, TheInstalledLibraryHasAllCalledFunctions) {
  const auto library = NcclLibrary::open();
  if (!library) GTEST_SKIP() << library.error().message;
  int version = 0;
  EXPECT_EQ(library->get_version(&version), NcclLibrary::kSuccess);
  EXPECT_GE(version, 21800);
  EXPECT_EQ(std::string_view(library->get_error_string(4)).rfind("invalid argument", 0), 0U);
}

TEST(NcclLibrary, ReportsAMissingLibraryOrFunction) {
  const auto none = NcclLibrary::open("libnccl-that-is-not-there.so");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::Unsupported);
  EXPECT_NE(none.error().message.find("no NCCL"), std::string::npos);
  const auto other = NcclLibrary::open("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("libm.so.6 has no ncclGetVersion"), std::string::npos);
}

}  // namespace
}  // namespace ringside
