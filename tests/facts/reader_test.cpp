#include "diag/facts/reader.h"

#include <gtest/gtest.h>

namespace ringside::facts {
namespace {

TEST(FactReader, ACudaErrorInShmIsOfSharedMemory) {
  const Facts facts = facts_of_text(
      "n01:411:980 [0] transport/shm.cc:590 NCCL WARN Cuda failure 'invalid argument'\n"
      "n01:411:980 [0] transport/shm.cc:590 NCCL WARN Cuda failure 999 'unknown error'\n",
      "a.log");
  ASSERT_FALSE(facts.warnings.empty());
  for (const Warning& one : facts.warnings) {
    EXPECT_EQ(one.domain, Domain::SharedMemory) << one.id;
    EXPECT_EQ(one.location, "transport/shm.cc:590");
  }
}

TEST(FactReader, RepeatedWarningsAreOneFactThatCounts) {
  std::string text;
  for (int i = 0; i < 34; ++i)
    text +=
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [n01]:29500 "
        "(errno: 113 - No route to host).\n";
  const Facts facts = facts_of_text(text, "a.log");
  ASSERT_EQ(facts.warnings.size(), 1U);
  EXPECT_EQ(facts.warnings[0].times, 34U);
  EXPECT_EQ(facts.warnings[0].code, "113");
  EXPECT_EQ(facts.warnings[0].severity, Severity::Error);
}

TEST(FactReader, HarmlessFormsSilenceTheGeneralMeaning) {
  const Facts facts = facts_of_text(
      "[W socket.cpp:426] [c10d] The server socket cannot be initialized on [::]:29500 (errno: 97 "
      "- Address family not supported by protocol).\n",
      "a.log");
  ASSERT_EQ(facts.warnings.size(), 1U);
  EXPECT_EQ(facts.warnings[0].severity, Severity::Info);
}

TEST(FactReader, AProcessIsTheRankThatItsCommunicatorStates) {
  const Facts facts = facts_of_text(
      "n01:411:980 [0] NCCL INFO comm 0x55d0 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 1b000 "
      "commId 0x7f1 - Init COMPLETE\n"
      "[  77.000001] Out of memory: Killed process 411 (python3) total-vm:1kB\n"
      "n01:411:980 [0] misc/socket.cc:58 NCCL WARN Net : Connection reset by peer\n",
      "a.log");
  ASSERT_EQ(facts.members.size(), 1U);
  EXPECT_EQ(facts.members[0].size, 8);
  ASSERT_FALSE(facts.warnings.empty());
  EXPECT_EQ(facts.warnings[0].subject.rank, 3);
}

TEST(FactReader, TorchrunsSummaryNamesRankHostAndSignal) {
  const Facts facts = facts_of_text(
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2025-03-01_10:20:30\n"
      "  host      : n01\n"
      "  rank      : 3 (local_rank: 1)\n"
      "  exitcode  : -9 (pid: 15527)\n",
      "a.log");
  ASSERT_EQ(facts.deaths.size(), 1U);
  const Died& death = facts.deaths[0];
  EXPECT_EQ(death.subject.rank, 3);
  EXPECT_EQ(death.subject.host, "n01");
  EXPECT_EQ(death.code, 9);
  EXPECT_TRUE(death.is_first);
  EXPECT_NE(death.time_us, 0);
  EXPECT_EQ(death.source.line, 6);
}

TEST(FactReader, AnExceptionOfTheProgramIsADeathAndOneOfCommunicationIsNot) {
  const Facts facts = facts_of_text(
      "[rank2]: ValueError: batch of 0\n"
      "[rank1]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1, remote process exited "
      "or there was a network error, NCCL version 2.21.5\n",
      "a.log");
  ASSERT_EQ(facts.deaths.size(), 1U);
  EXPECT_EQ(facts.deaths[0].subject.rank, 2);
  EXPECT_EQ(facts.deaths[0].cause, DeathCause::Exception);
  EXPECT_EQ(facts.deaths[0].reason, "ValueError: batch of 0");
}

}  // namespace
}  // namespace ringside::facts
