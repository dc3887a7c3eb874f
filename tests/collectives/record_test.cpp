#include "engine/collectives/record.h"

#include <gtest/gtest.h>

#include "engine/collectives/plan.h"
#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

TEST(Record, ARunOfLikeStepsIsOneRecord) {
  const Program program = record(ring_task(Collective::AllReduce, 3, 8));
  const auto run = [](Primitive primitive, int first, int stride, int repeat) {
    const PrimitiveParts parts = parts_of(primitive);
    return StepRun{.primitive = primitive,
                   .first_chunk = first,
                   .stride = stride,
                   .repeat = repeat,
                   .from = parts.receives ? port(0) : kNoPorts,
                   .to = parts.sends ? port(0) : kNoPorts};
  };
  const std::vector<StepRun> expected{
      run(Primitive::Send, 2, 0, 1), run(Primitive::RecvReduceSend, 1, 7, 6),
      run(Primitive::RecvReduceCopySend, 3, 0, 1), run(Primitive::RecvCopySend, 2, 7, 6),
      run(Primitive::Recv, 4, 0, 1)};
  EXPECT_EQ(program.steps, expected);
}

TEST(Record, ExpandsToTheStepsThatWereTaken) {
  const Program program = record(ring_task(Collective::ReduceScatter, 0, 4));
  std::vector<std::pair<Primitive, int>> steps;
  for_each_step(program, 0, 0,
                [&](const Step& step) { steps.emplace_back(step.primitive, step.chunk); });
  const std::vector<std::pair<Primitive, int>> expected{{Primitive::Send, 3},
                                                        {Primitive::RecvReduceSend, 2},
                                                        {Primitive::RecvReduceSend, 1},
                                                        {Primitive::RecvReduceCopy, 0}};
  EXPECT_EQ(steps, expected);
}

// Slices 0 .. 7 to ports 0 .. 7: one record on each of the two sides.
TEST(Record, PortsThatGoOnWithTheChunksAreOneRecord) {
  const auto tasks = plan_channels({.algorithm = Algorithm::Nvls, .slot = 1_KiB, .chunk = 1_KiB},
                                   host_channels(8, 1), {.count = 8}, Rank{0});
  ASSERT_TRUE(tasks) << tasks.error().message;
  const Program program = record(tasks->front());
  ASSERT_EQ(program.steps.size(), 3U);  // scatter, the own slice's reduction, gather
  EXPECT_EQ(program.steps[0].repeat, 8);
  EXPECT_EQ(program.steps[0].to_stride, 1);
  EXPECT_EQ(program.steps[2].from_stride, 1);
  EXPECT_EQ(program.steps[2].strand, 3);
}

// 1,024 ranks x 8 channels x (5 records of 28 bytes + the program itself): about 1.8 MB.
TEST(Record, AThousandRanksOnEightChannelsFitInAMegabyteOrTwo) {
  constexpr int kRanks = 1024;
  std::size_t bytes = 0;
  for (int channel = 0; channel < 8; ++channel) {
    for (int rank = 0; rank < kRanks; ++rank) {
      const Program program = record(ring_task(Collective::AllReduce, rank, kRanks, 64 << 20));
      bytes += sizeof program + program.steps.capacity() * sizeof(StepRun);
    }
  }
  EXPECT_LE(bytes, std::size_t{2} << 20);
}

}  // namespace
}  // namespace ringside
