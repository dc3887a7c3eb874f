// Pairs are measured as bench measures, with ranks that are placed as bench places them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "engine/runtime/communicator.h"
#include "harness/job.h"
#include "harness/probe/pairs.h"
#include "harness/rank_binder.h"
#include "ringside/trace_reader.h"

namespace ringside::probe {
namespace {

struct Measured {
  std::int64_t calls = 0;  ///< of rank 0
  int status = -1;
};

/// Runs two ranks.
///
/// check  examines the matrix of rank 0
Measured measure(const PairOptions& options, const std::string& bind,
                 const std::function<bool(const PairMatrix&)>& check) {
  const std::string path =
      testing::TempDir() + "pairs_job_" + std::to_string(::getpid()) + ".rtrace";
  JobOptions job;
  job.local_ranks = 2;
  job.communicator.check_calls = false;
  job.trace_path = path;
  const auto binder = rank_binder(bind, true);
  EXPECT_TRUE(binder);
  if (binder) job.on_stage = *binder;
  const auto status = run_job(job, [&](JobRank& rank) -> Result<int> {
    const std::vector<HostReport> reports(2, HostReport{.host = "here", .identity = "here"});
    RINGSIDE_TRY(const PairMatrix matrix, measure_pairs(rank.communicator, options, reports));
    return check(matrix) ? 0 : 1;
  });
  Measured measured;
  EXPECT_TRUE(status) << status.error().message;
  if (status) measured.status = *status;
  const auto trace = TraceFile::open(path);
  EXPECT_TRUE(trace);
  if (trace) {
    trace->for_each_event([&](const TraceEvent& event) {
      measured.calls += event.kind == EventKind::Collective && event.rank == 0 ? 1 : 0;
    });
  }
  std::remove(path.c_str());
  return measured;
}

// With one pair and two leaders: messages there and back, for warm-up and timed, with the short and the long message.
TEST(ProbePairsJob, APairIsWarmedUpAndTimedByTheLoopOfBench) {
  const PairOptions options{.large = 64_KiB,
                            .turns = 3,
                            .round_trips = {.warmup = 4, .iterations = 10},
                            .transfers = {.warmup = 2, .iterations = 5}};
  const Measured measured = measure(options, "core", [](const PairMatrix& matrix) {
    return matrix.at(0, 1).gbs > 0 && matrix.at(1, 0).latency_us > 0;
  });
  EXPECT_EQ(measured.status, 0);
  EXPECT_EQ(measured.calls, 2 * 3 * 2 * ((4 + 10) + (2 + 5)));
}

TEST(ProbePairsJob, TheDefaultsWarmUpAsBenchDoes) {
  EXPECT_EQ(PairOptions().round_trips.warmup, TimedRuns().warmup);
  EXPECT_EQ(PairOptions().transfers.warmup, TimedRuns().warmup);
}

TEST(ProbePairsJob, RanksAreBoundToOneCoreEach) {
  const int cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const PairOptions few{.large = 64_B,
                        .turns = 1,
                        .round_trips = {.warmup = 1, .iterations = 1},
                        .transfers = {.warmup = 1, .iterations = 1}};
  const Measured bound = measure(few, "auto", [&](const PairMatrix& matrix) {
    return matrix.cores.size() == 2 && matrix.cores[0] && matrix.cores[1] &&
           (own_core() == matrix.cores[0] || own_core() == matrix.cores[1]) &&
           (cores < 2 || matrix.cores[0] != matrix.cores[1]);
  });
  EXPECT_EQ(bound.status, 0);
  if (cores < 2 || own_core()) GTEST_SKIP() << "needs 2 cores that this test may run on";
  const Measured free = measure(few, "none", [](const PairMatrix& matrix) {
    return matrix.cores.size() == 2 && !matrix.cores[0] && !matrix.cores[1];
  });
  EXPECT_EQ(free.status, 0);
}

}  // namespace
}  // namespace ringside::probe
