#include "engine/collectives/record.h"

#include <gtest/gtest.h>

#include "base/algorithms.h"
#include "base/vocabulary.h"
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
TEST(Record, PortsThatAdvanceWithTheChunksAreOneRun) {
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

/// The program that the book has for the task, its chunk numbers turned.
std::vector<StepRun> turned(const SharedProgram& shared) {
  std::vector<StepRun> steps = shared.program->steps;
  for (StepRun& run : steps) {
    run.first_chunk = (run.first_chunk + shared.turned) % shared.program->chunks;
  }
  return steps;
}

TEST(ProgramBook, HasWhatEachTaskWouldRecordByItself) {
  int shared = 0;
  for (const AlgorithmFacts& facts : kAlgorithmFacts) {
    for (int kind = 0; kind < kCollectiveCount; ++kind) {
      const auto collective = static_cast<Collective>(kind);
      if (!facts.collectives.contains(collective)) continue;
      for (const int nranks : {1, 2, 3, 8, 13, 16}) {
        CallShape call{.count = 5000};
        call.counts.assign(
            collective == Collective::AllGatherV ? static_cast<std::size_t>(nranks) : 0, 700);
        PlannedCall planned{.collective = collective,
                            .algorithm = facts.algorithm,
                            .nranks = nranks,
                            .ranks_per_node = facts.needs_nodes ? 4 : 0,
                            .nchannels = 2,
                            .call = call};
        const Choice choice{.collective = collective,
                            .algorithm = facts.algorithm,
                            .nchannels = 2,
                            .slot = 1_KiB,
                            .chunk = 1_KiB};
        const Channels channels = host_channels(nranks, 2, planned.ranks_per_node);
        if (!plan_channels(choice, channels, call, Rank{0})) continue;
        ProgramBook book;
        const Program* first = nullptr;
        for (const auto& of_channel : plan_all(planned)) {
          for (const ChannelTask& task : of_channel) {
            const SharedProgram known = book.of(task);
            EXPECT_EQ(turned(known), record(task).steps)
                << facts.name << " " << to_string(collective) << " " << nranks;
            shared += known.program.get() == first ? 1 : 0;
            first = known.program.get();
          }
        }
      }
    }
  }
  EXPECT_GT(shared, 400);  // 2 channels x 37 further ranks x 6 kinds of ring and PAT
}

TEST(ProgramBook, KeepsOneProgramForARingOfAThousandRanks) {
  ProgramBook book;
  const auto first = book.of(ring_task(Collective::AllReduce, 0, 1024));
  for (int rank = 1; rank < 1024; ++rank) {
    const auto other = book.of(ring_task(Collective::AllReduce, rank, 1024));
    ASSERT_EQ(other.program, first.program);
    ASSERT_EQ(other.turned, rank);
  }
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
