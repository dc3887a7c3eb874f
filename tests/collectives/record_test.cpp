#include "engine/collectives/record.h"

#include <gtest/gtest.h>

#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

TEST(Record, ARunOfLikeStepsIsOneRecord) {
  const Program program = record(ring_task(Collective::AllReduce, 3, 8));
  const std::vector<StepRun> expected{{Primitive::Send, 2, 0, 1},
                                      {Primitive::RecvReduceSend, 1, 7, 6},
                                      {Primitive::RecvReduceCopySend, 3, 0, 1},
                                      {Primitive::RecvCopySend, 2, 7, 6},
                                      {Primitive::Recv, 4, 0, 1}};
  EXPECT_EQ(program.steps, expected);
}

TEST(Record, ExpandsToTheStepsThatWereTaken) {
  const Program program = record(ring_task(Collective::ReduceScatter, 0, 4));
  std::vector<std::pair<Primitive, int>> steps;
  for_each_step(program,
                [&](Primitive primitive, int chunk) { steps.emplace_back(primitive, chunk); });
  const std::vector<std::pair<Primitive, int>> expected{{Primitive::Send, 3},
                                                        {Primitive::RecvReduceSend, 2},
                                                        {Primitive::RecvReduceSend, 1},
                                                        {Primitive::RecvReduceCopy, 0}};
  EXPECT_EQ(steps, expected);
}

// 1,024 ranks x 8 channels x 5 records of 16 bytes, with their vectors: well under a megabyte each.
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
