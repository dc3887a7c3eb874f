#include <gtest/gtest.h>

#include "tests/cuda/host_answer.h"
#include "tests/cuda/switch_cases.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

class CudaSwitchThreads : public testing::TestWithParam<int> {};

// One GPU for each thread of one process: the switch's file is passed from thread to thread.
TEST_P(CudaSwitchThreads, EveryCollectiveGivesTheHostsAnswer) {
  std::vector<DeviceCase> cases = nvls_cases(GetParam());
  const auto expected = host_answers(cases);
  const auto root = make_root(GetParam());
  const auto ended = run_threads(
      switch_job(GetParam(), MemoryAccess::Address), first_ranks(GetParam()), root->id(),
      [&](const ProcessRank& rank) { return run_switch_cases(rank, cases, expected); });
  for (const auto& status : ended) {
    RINGSIDE_ENDS_WELL_OR_SKIP(status);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, CudaSwitchThreads, testing::Values(2, 3, 4),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace ringside
