// Plants faults in real jobs of 8 ranks: the files that they leave show the culprits, and Python can read them.

#include "tests/faulty/real_hang.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "engine/faults/fault_text.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class RealHangs : public testing::Test {
 protected:
  ~RealHangs() override { fs::remove_all(folder_); }

  const std::string folder_ =
      testing::TempDir() + "ringside_real_hangs_" + std::to_string(::getpid());
};

TEST_F(RealHangs, TheSameSeedDrawsTheSame) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const RealHang once = draw_real_hang(seed);
    const RealHang again = draw_real_hang(seed);
    EXPECT_EQ(once.plan, again.plan);
    EXPECT_EQ(once.workload, again.workload);
  }
}

// Each kind of fault once. tests/faulty/hang_runs.cpp scores hundreds (docs/lab/hang-accuracy.md).
TEST_F(RealHangs, DumpsNameTheRankThatTheFaultWasPlantedIn) {
  constexpr double kTimeout = 0.8;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const RealHang hang = draw_real_hang(seed);
    const auto verdict = run_and_examine(hang, folder_, kTimeout);
    ASSERT_TRUE(verdict) << verdict.error().message;
    const std::string what =
        fmt::format("{} {} {}: {} ({})", seed, hang.workload, to_string(hang.plan.faults[0]),
                    verdict->kind, verdict->why);
    EXPECT_EQ(verdict->culprits, hang.culprits) << what;
    EXPECT_NE(verdict->kind, "not_a_hang") << what;
    EXPECT_NE(verdict->kind, "no dumps") << what;
    EXPECT_FALSE(verdict->error.empty()) << what;
    EXPECT_LT(verdict->run_s + verdict->examine_s, kTimeout + 5) << what;
  }
}

// Neighbouring ranks, and a whole host of four, the inner two of which no survivor can miss.
TEST_F(RealHangs, AllRanksThatDieTogetherAreNamed) {
  RealHang one;
  for (std::uint64_t seed = 1; one.workload != "data"; seed += 15) one = draw_real_hang(seed);
  ASSERT_EQ(one.plan.faults[0].kind, FaultKind::Kill);
  for (const std::vector<int>& dead : {std::vector{0, 1}, {2, 6}, {3, 4, 5, 6}}) {
    RealHang hang = one;
    hang.culprits = dead;
    hang.plan.faults.clear();
    for (const int rank : dead) {
      hang.plan.faults.push_back(one.plan.faults[0]);
      hang.plan.faults.back().rank = rank;
    }
    const auto verdict = run_and_examine(hang, folder_, 20);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->culprits, dead) << verdict->why;
    EXPECT_EQ(verdict->kind, "dead_rank") << verdict->why;
  }
}

// The rank lives, and reports that it has not reached the call.
TEST_F(RealHangs, ARankThatCatchesAnExceptionIsMissingAndNotDead) {
  std::uint64_t seed = 1;
  while (draw_real_hang(seed).plan.faults[0].kind != FaultKind::Throw) ++seed;
  const RealHang hang = draw_real_hang(seed);
  const auto verdict = run_and_examine(hang, folder_, 0.8);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->culprits, hang.culprits) << verdict->why;
  EXPECT_NE(verdict->kind, "dead_rank") << verdict->why;
  const int rank = hang.culprits[0];
  EXPECT_TRUE(fs::exists(fmt::format("{}/comm_lib_trace_rank_{}", folder_, rank)));
}

TEST_F(RealHangs, AHealthyRunLeavesNoDumps) {
  RealHang hang = draw_real_hang(1);
  hang.plan.faults.clear();
  const auto verdict = run_and_examine(hang, folder_, 20);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->error, "");
  EXPECT_EQ(verdict->kind, "no dumps");
}

TEST_F(RealHangs, PythonsOwnPickleLoadsTheDumpsAndFindsTheKeys) {
  if (std::system("python3 -c 'import pickle' 2>/dev/null") != 0) GTEST_SKIP() << "needs python3";
  ASSERT_TRUE(run_and_examine(draw_real_hang(3), folder_, 0.5));
  const std::string command = fmt::format("python3 {} {} && python3 {} {}", RINGSIDE_CHECK_DUMPS,
                                          folder_, RINGSIDE_CHECK_KEYS, folder_);
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ringside
