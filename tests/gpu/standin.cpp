// Replaces ringside_gpu_test and ringside_gpu_processes_test in run_test.py: tests with names that run.sh knows, and
// one that does what RINGSIDE_STANDIN says.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ringside {
namespace {

/// Imitates an illegal access in a GPU's context, after which every later call of the process fails.
bool is_context_broken = false;

#define EXPECT_CONTEXT() \
  ASSERT_FALSE(is_context_broken) << "an illegal memory access was encountered"

TEST(CudaBits, EveryCollectiveAlgorithmAndProtocol) {}

TEST(CudaMiddle, DoesAsRequested) {
  const char* const mode = std::getenv("RINGSIDE_STANDIN");
  const std::string what = mode == nullptr ? "pass" : mode;
  if (what == "fail") FAIL() << "3 wrong | elements";
  if (what == "break_context") {
    is_context_broken = true;
    EXPECT_CONTEXT();
  }
  if (what == "crash") ::raise(SIGSEGV);
  if (what == "exit") std::exit(0);
  if (what == "exit_badly") std::atexit([] { ::_exit(9); });
  if (what == "deaf") ::signal(SIGTERM, SIG_IGN);
  if (what == "leave_child" && ::fork() == 0) {
    for (;;) ::pause();
  }
  while (what == "chatter") {
    std::puts("still here");
    std::fflush(stdout);
    ::usleep(100'000);
  }
  while (what == "flood") std::puts("wrong element wrong element wrong element wrong element");
  if (what == "hang" || what == "deaf") {
    for (;;) ::pause();
  }
}

TEST(CudaMiddle, FailsInCompanyAlone) {
  const char* const mode = std::getenv("RINGSIDE_STANDIN");
  const bool is_alone = testing::UnitTest::GetInstance()->test_to_run_count() == 1;
  EXPECT_TRUE(is_alone || mode == nullptr || std::string(mode) != "fail_in_company");
}

TEST(CudaBits, EveryTypeAndOperation) { EXPECT_CONTEXT(); }
TEST(CudaWaits, AWaitThatWillNotEndIsGivenUp) { EXPECT_CONTEXT(); }
TEST(CudaWaits, NeedsMore) { GTEST_SKIP() << "needs 4 GPUs"; }

class CudaProcessGrid : public testing::TestWithParam<const char*> {};
TEST_P(CudaProcessGrid, EveryAlgorithmGivesTheHostsBits) { EXPECT_CONTEXT(); }
INSTANTIATE_TEST_SUITE_P(Ways, CudaProcessGrid,
                         testing::Values("Files_all_reduce", "Ipc_all_reduce"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace ringside
