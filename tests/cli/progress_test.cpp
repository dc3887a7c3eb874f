#include "cli/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace ringside::cli {
namespace {

// 40 % in 8 s: 20 s in all, so 12 s are left. 12 of 30 cells.
TEST(Progress, TheLineShowsTheShareAndTheRemainingTime) {
  EXPECT_EQ(progress_line("bench", 0.4, Seconds{8}, "4M", 100),
            "bench [############                  ]  40 %, 12 s left, 4M");
}

TEST(Progress, LongWaitsAreShownInMinutesAndHours) {
  EXPECT_NE(progress_line("sim", 0.5, Seconds{125}, "", 100).find("2:05 min left"),
            std::string::npos);
  EXPECT_NE(progress_line("sim", 0.5, Seconds{3 * 3600 + 60}, "", 100).find("3:01 h left"),
            std::string::npos);
}

TEST(Progress, ShowsNoEstimateAtTheBeginningAndTheEnd) {
  EXPECT_EQ(progress_line("x", 0.01, Seconds{1}, "", 100).find("left"), std::string::npos);
  EXPECT_EQ(progress_line("x", 1, Seconds{1}, "", 100).find("left"), std::string::npos);
}

TEST(Progress, TheLineFitsTheTerminal) {
  EXPECT_EQ(progress_line("bench", 0.4, Seconds{8}, std::string(200, 'n'), 79).size(), 79U);
}

TEST(Progress, AnInterruptReportsTheCurrentWork) {
  EXPECT_EXIT(
      {
        const Progress progress("simulating 1G");
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "ringside: interrupted while simulating 1G");
}

TEST(Progress, AnInterruptReportsTheProgress) {
  EXPECT_EXIT(
      {
        Progress progress("simulating 1G");
        std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the first time it looks
        progress.show(0.4);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "interrupted after 1 s, 40 % into: simulating 1G");
}

// Progress may be shown late: the time is that of the interrupt.
TEST(Progress, AnInterruptReportsTheTimeSinceTheBeginning) {
  EXPECT_EXIT(
      {
        Progress progress("simulating 1G");
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        progress.show(0);
        std::this_thread::sleep_for(std::chrono::milliseconds(900));
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "ringside: interrupted after 1 s, 0 % into: simulating 1G");
}

TEST(Progress, AnInterruptAfterTheEndReportsNoProgress) {
  EXPECT_EXIT(
      {
        { const Progress progress("simulating 1G"); }
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "^$");
}

}  // namespace
}  // namespace ringside::cli
