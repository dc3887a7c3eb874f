#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/readers/rank_timers.h"
#include "tests/diag/labelled_hangs.h"

// Tables that people make of the ranks' last calls, and those that programs make of their times.

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRows =
    "it hangs\nrank 0: seq 812 nccl:all_reduce [[4]] started\n"
    "rank 1: seq 812 nccl:all_reduce [[4]] started\n";

TEST(CallRows, ARankInAnotherCallThanMostIsNamed) {
  const Explanation behind =
      verdict_on(std::string(kRows) + "rank 2: seq 811 nccl:all_reduce [[4]] completed\n");
  EXPECT_EQ(behind.kind, Kind::MissingRank);
  EXPECT_THAT(behind.culprits, ElementsAre(2));
  const Explanation other =
      verdict_on(std::string(kRows) + "rank 2: seq 812 nccl:all_gather [[4]] started\n");
  EXPECT_EQ(other.kind, Kind::OpMismatch);
  EXPECT_THAT(other.culprits, ElementsAre(2));
  const Explanation longer =
      verdict_on(std::string(kRows) + "rank 2: seq 812 nccl:all_reduce [[5]] started\n");
  EXPECT_EQ(longer.kind, Kind::ShapeMismatch);
  const Explanation ahead =
      verdict_on(std::string(kRows) + "rank 2: seq 813 nccl:all_reduce [[4]] started\n");
  EXPECT_EQ(ahead.kind, Kind::DivergedControlFlow);
  const Explanation transfer =
      verdict_on(std::string(kRows) + "rank 2: nccl:recv 2<-1 [[4]] scheduled\n");
  EXPECT_EQ(transfer.kind, Kind::P2pUnmatched);
  EXPECT_THAT(transfer.culprits, ElementsAre(2));
}

TEST(CallRows, RanksInOneCallGiveNoCulprit) {
  const Explanation best =
      verdict_on(std::string(kRows) + "rank 2: seq 812 nccl:all_reduce [[4]] started\n");
  EXPECT_THAT(best.culprits, IsEmpty());
}

std::vector<int> slow_in(const std::string& text) {
  RankTimers timers;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    timers.take(text.substr(at, end - at), ++number);
    at = end + 1;
  }
  return slow_ranks(timers.timers());
}

TEST(RankTimers, ARankWithMuchLongerOwnWorkIsSlow) {
  EXPECT_THAT(slow_in("| timer (ms) | rank 42 | **rank 44** | rank 45 |\n|---|---|---|---|\n"
                      "| forward-compute | 1188.42 | **5610.33** | 1190.1 |\n"
                      "| all-grads-sync | 14204.5 | 210.4 | 14205.7 |\n"),
              ElementsAre(44));
  EXPECT_THAT(slow_in("forward-compute:\nrank  0: 1500.1\nrank  1: 4410.0\nrank  2: 1502.3\n"
                      "all-grads-sync:\nrank  0: 3010.5\nrank  1: 101.0\nrank  2: 3011.8\n"),
              ElementsAre(1));
}

TEST(RankTimers, CellsAreComparedInOneUnit) {
  const std::string head = "| timer | rank 0 | rank 1 | rank 2 |\n|---|---|---|---|\n";
  EXPECT_THAT(slow_in(head + "| forward | 900 ms | 1.0 s | 910 ms |\n"), IsEmpty());
  EXPECT_THAT(slow_in(head + "| forward | 900 ms | 5.0 s | 910 ms |\n"), ElementsAre(1));
  EXPECT_THAT(slow_in(head + "| forward | 900 ms | 5.0 | 910 ms |\n"), IsEmpty());
}

// Of rates, the lowest is the slowest rank's.
TEST(RankTimers, ATableOfRatesShowsTheRankWithTheLowest) {
  const std::string head = "| metric | rank 0 | rank 1 | rank 2 |\n|---|---|---|---|\n";
  EXPECT_THAT(slow_in(head + "| TFLOPS | 300 | 140 | 301 |\n"), ElementsAre(1));
  EXPECT_THAT(slow_in(head + "| throughput | 100 | 101 | 190 |\n"), IsEmpty());
}

TEST(RankTimers, WaitsAndNoiseShowNoSlowRank) {
  EXPECT_THAT(slow_in("all-grads-sync:\nrank  0: 10\nrank  1: 400\nrank  2: 11\n"), IsEmpty());
  EXPECT_THAT(slow_in("forward:\nrank  0: 1500.1\nrank  1: 1510.0\nrank  2: 1502.3\n"
                      "batch-generator:\nrank  0: 2.1\nrank  1: 9.7\nrank  2: 2.2\n"),
              IsEmpty());
  EXPECT_THAT(slow_in("rank  0: 15\nrank  1: 99\nrank  2: 15\n"), IsEmpty())
      << "a number without a unit or a name counts anything";
}

}  // namespace
}  // namespace ringside::hang
