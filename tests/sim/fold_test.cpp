#include "sim/event/fold.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/sim/compare.h"
#include "tests/sim/requests.h"
#include "trace/sink.h"

namespace ringside {
namespace {

/// Simulates all ranks and channels individually, as a trace requires.
Result<SimResult> unfolded(SimRequest request) {
  TraceMemorySink sink;
  request.trace = &sink;
  return by("event", request);
}

void expect_the_same(const SimRequest& request, double tolerance, const std::string& what) {
  const auto all = unfolded(request);
  const auto folded = by("event", request);
  ASSERT_TRUE(all && folded) << what;
  EXPECT_NEAR(folded->time / all->time, 1, tolerance) << what;
  EXPECT_NEAR(folded->busiest / all->busiest, 1, tolerance) << what;
  EXPECT_EQ(folded->transfers, all->transfers) << what;
  EXPECT_EQ(folded->steps, all->steps) << what;
}

/// Folds one channel into its kinds.
FoldedShape shape_of(const SimRequest& request) {
  const auto planner = TaskPlanner::make(request.choice, request.channels, request.call);
  EXPECT_TRUE(planner);
  const auto job = wire_channel(request, *planner, 0);
  EXPECT_TRUE(job);
  auto shape = fold_shape(*job);
  EXPECT_TRUE(shape);
  return *std::move(shape);
}

// A parent waits for both its children at once, so their ports are interchangeable: of the 128 places in the tree, 8
// levels remain, each with 8 GPUs, and a few more where a level is not full.
TEST(Fold, ChildrenThatAreAwaitedTogetherAreEqual) {
  const auto one =
      forced_case("dgx-h100", 128, Collective::AllReduce, 1_GiB, Algorithm::Tree, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  const FoldedShape shape = shape_of(one->request);
  EXPECT_GE(shape.job.tasks.size(), 8U * 8U);
  EXPECT_LE(shape.job.tasks.size(), 10U * 8U);
}

// The root of a gather receives from one rank after the other: each has a round of its own, although all three send
// equally.
TEST(Fold, PortsThatHaveTheirTurnsAreDistinguished) {
  const Case one = ideal_case(4, Collective::Gather, 64'000);
  const FoldedShape shape = shape_of(one.request);
  EXPECT_EQ(shape.job.lines.size(), 3U);
}

TEST(Fold, ARingOfLikeRanksIsOneOfThem) {
  const Case one = ideal_case(64, Collective::AllReduce, 64'000);
  const auto job = wire_events(one.request);
  ASSERT_TRUE(job);
  const auto folded = fold(*job);
  ASSERT_TRUE(folded);
  ASSERT_EQ(folded->tasks.size(), 1U);
  EXPECT_EQ(folded->tasks[0].copies, 64);
  ASSERT_EQ(folded->lines.size(), 1U);
  EXPECT_EQ(folded->lines[0].copies, 64);
  expect_the_same(one.request, 1e-9, "64 ranks");
}

TEST(Fold, KeepsDifferentTasksApart) {
  // 15 or 16 elements each, and a part.
  const Case uneven = ideal_case(64, Collective::AllReduce, 1'000);
  const auto job = wire_events(uneven.request);
  ASSERT_TRUE(job);
  const auto folded = fold(*job);
  if (folded) {
    EXPECT_GT(folded->tasks.size(), 16U);
  }
  expect_the_same(uneven.request, 1e-9, "uneven");
  const Case broadcast = ideal_case(8, Collective::Broadcast, 1'000'000);
  expect_the_same(broadcast.request, 1e-9, "a chain has two ends");
}

TEST(Fold, RealJobsTakeTheSameTime) {
  for (const auto& [algorithm, protocol] :
       {std::pair{Algorithm::Ring, Protocol::Simple}, std::pair{Algorithm::Ring, Protocol::LL128},
        std::pair{Algorithm::Tree, Protocol::Simple}, std::pair{Algorithm::Nvls, Protocol::Simple},
        std::pair{Algorithm::NvlsTree, Protocol::Simple}}) {
    for (const int nodes : {1, 2, 3}) {
      const auto one =
          forced_case("dgx-h100", nodes, Collective::AllReduce, 32_MiB, algorithm, protocol);
      if (!one) continue;  // not on so many nodes
      // Shorter last chunks count as whole ones; ranks that wait for them then begin in another order.
      expect_the_same(one->request, 1e-2,
                      fmt::format("{} {} on {}", to_string(algorithm), to_string(protocol), nodes));
    }
  }
  for (const Collective collective :
       {Collective::AllToAll, Collective::AllGather, Collective::SendRecv}) {
    const auto one = job_case("dgx-a100", 2, collective, 32_MiB);
    ASSERT_TRUE(one) << one.error().message;
    expect_the_same(one->request, 1e-9, to_string(collective));
  }
}

TEST(Fold, ARankThatLeavesAStepOutIsFoundBefore) {
  const Case one = ideal_case(8, Collective::AllReduce, 64'000);
  auto job = wire_events(one.request);
  ASSERT_TRUE(job);
  EXPECT_TRUE(do_chunks_fit(*job));
  auto shortened = std::make_shared<Program>(job->tasks[3].program());
  shortened->steps.pop_back();
  job->tasks[3].steps_of.program = std::move(shortened);
  EXPECT_FALSE(do_chunks_fit(*job));
}

}  // namespace
}  // namespace ringside
