#include <gtest/gtest.h>

#include "engine/collectives/prove.h"
#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

std::vector<ChannelTask> ring_of_four() {
  std::vector<ChannelTask> tasks =
      plan_all({.nranks = 4, .call = {.count = 3 * 4 * kTestChunk}}).front();
  return tasks;
}

// Shows that the proof can fail: each test breaks the programs in one place.
class BrokenPrograms : public testing::Test {
 protected:
  BrokenPrograms() {
    for (const ChannelTask& task : tasks_) programs_.push_back(record(task));
  }
  std::string verdict(int chunks_in_flight = 2) {
    const auto proof = prove(tasks_, programs_, {.chunks_in_flight = chunks_in_flight});
    return proof ? "" : proof.error().message;
  }
  std::vector<ChannelTask> tasks_ = ring_of_four();
  std::vector<Program> programs_;
};

// Every rank has sent one chunk and must send the next one before it returns the first one's slots. So a chunk may
// take at most half of a connection's slots.
TEST_F(BrokenPrograms, OneChunkInFlightIsNotEnoughForARing) {
  EXPECT_EQ(verdict(2), "");
  EXPECT_NE(verdict(1).find("deadlock"), std::string::npos);
}

TEST_F(BrokenPrograms, AMissingFirstSendIsADeadlock) {
  for (Program& program : programs_) program.steps.erase(program.steps.begin());
  EXPECT_NE(verdict().find("deadlock"), std::string::npos);
}

TEST_F(BrokenPrograms, AMissingLastRecvIsSeenByTheNextLoop) {
  programs_[2].steps.pop_back();
  EXPECT_NE(verdict().find("arrived"), std::string::npos);
}

TEST_F(BrokenPrograms, AForwardWithoutReductionLosesAContribution) {
  programs_[1].steps[1].primitive = Primitive::RecvCopySend;
  EXPECT_NE(verdict(), "");
}

TEST_F(BrokenPrograms, AnotherChunkThanExpectedIsSeen) {
  programs_[0].steps[0].first_chunk = 1;
  EXPECT_NE(verdict().find("arrived"), std::string::npos);
}

TEST_F(BrokenPrograms, APortThatLeadsNowhereIsSeen) {
  programs_[0].steps[0].to = port(1);
  EXPECT_NE(verdict().find("leads nowhere"), std::string::npos);
}

TEST_F(BrokenPrograms, APieceOfAnotherLengthIsSeen) {
  tasks_[1] = plan_all({.nranks = 4, .call = {.count = 3 * 4 * kTestChunk - 8}}).front()[1];
  EXPECT_NE(verdict().find("elements arrived"), std::string::npos);
}

// Each algorithm, one run of steps on one rank omitted at a time: no such program passes.
TEST(MissingSteps, AreSeenInEachAlgorithmOnEachRank) {
  using enum Collective;
  const std::vector<PlannedCall> calls{
      {.collective = AllReduce, .nranks = 6},
      {.collective = AllGather, .nranks = 6},
      {.collective = ReduceScatter, .nranks = 6},
      {.collective = Broadcast, .nranks = 6},
      {.collective = Reduce, .nranks = 6},
      {.collective = AllReduce, .algorithm = Algorithm::Tree, .nranks = 6},
      {.collective = AllReduce,
       .algorithm = Algorithm::CollNetChain,
       .nranks = 6,
       .ranks_per_node = 3},
      {.collective = AllReduce,
       .algorithm = Algorithm::CollNetDirect,
       .nranks = 6,
       .ranks_per_node = 3},
      {.collective = AllGather,
       .algorithm = Algorithm::CollNetDirect,
       .nranks = 6,
       .ranks_per_node = 3},
      {.collective = ReduceScatter,
       .algorithm = Algorithm::CollNetDirect,
       .nranks = 6,
       .ranks_per_node = 3},
      {.collective = AllReduce, .algorithm = Algorithm::Nvls, .nranks = 6},
      {.collective = AllReduce, .algorithm = Algorithm::Nvls, .nranks = 6, .ranks_per_node = 3},
      {.collective = AllGather, .algorithm = Algorithm::Nvls, .nranks = 6, .ranks_per_node = 3},
      {.collective = ReduceScatter, .algorithm = Algorithm::Nvls, .nranks = 6, .ranks_per_node = 3},
      {.collective = AllReduce, .algorithm = Algorithm::NvlsTree, .nranks = 6, .ranks_per_node = 2},
      {.collective = AllGather, .algorithm = Algorithm::Pat, .nranks = 6},
      {.collective = ReduceScatter, .algorithm = Algorithm::Pat, .nranks = 6},
      {.collective = AllToAll, .nranks = 6},
      {.collective = Gather, .nranks = 6},
      {.collective = Scatter, .nranks = 6},
  };
  for (PlannedCall planned : calls) {
    planned.call.count = 4 * 6 * kTestChunk;
    const std::vector<ChannelTask> tasks = plan_all(planned).front();
    std::vector<Program> programs;
    for (const ChannelTask& task : tasks) programs.push_back(record(task));
    const ProofOptions options{.chunks_in_flight = 8};
    ASSERT_TRUE(prove(tasks, programs, options));
    for (Program& program : programs) {
      const std::vector<StepRun> whole = program.steps;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_FALSE(prove(tasks, programs, options))
            << to_string(planned.collective) << " by " << to_string(planned.algorithm) << ", run "
            << i << " of rank " << &program - programs.data();
        program.steps = whole;
      }
    }
  }
}

}  // namespace
}  // namespace ringside
