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

// The same number is a fault of a GPU in an Xid, and of something else in an SXid.
TEST(FactReader, AnSxidHasNoMeaningOfAnXid) {
  const auto warning_of = [](const std::string& line) {
    const Facts facts = facts_of_text(line, "dmesg");
    return facts.warnings.empty() ? Warning() : facts.warnings.front();
  };
  const std::string text = " (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, Link 30\n";
  EXPECT_EQ(warning_of("[ 12.345678] NVRM: Xid" + text).severity, Severity::Error);
  const Warning of_switch = warning_of("[ 12.345678] nvidia-nvswitch0: SXid" + text);
  EXPECT_EQ(of_switch.code, "79");
  EXPECT_EQ(of_switch.meaning, "");
  EXPECT_EQ(of_switch.severity, Severity::Warning);
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

TEST(FactReader, AHarmlessFormSuppressesTheMessagesMeaning) {
  const Facts facts = facts_of_text(
      "n01:411:980 [3] proxy.cc:1458 NCCL WARN [Service thread] Accept failed Resource temporarily "
      "unavailable\n",
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

TEST(FactReader, ANumberBeforeALineIsARankUnlessALineContradictsIt) {
  const std::string own =
      "0: n01:411:980 [4] misc/socket.cc:58 NCCL WARN Net : Call to recv from "
      "10.1.0.2<4> failed : Connection reset by peer\n";
  const Facts alone = facts_of_text("1: ValueError: x\n" + own, "a.log");
  ASSERT_FALSE(alone.link_faults.empty());
  EXPECT_EQ(alone.link_faults[0].subject.rank, 0);
  const Facts other = facts_of_text(
      own +
          "1: [rank12]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled "
          "system error (run with NCCL_DEBUG=INFO for details)\n",
      "a.log");
  ASSERT_FALSE(other.link_faults.empty());
  EXPECT_EQ(other.link_faults[0].subject.rank, -1);
}

TEST(FactReader, ATimedOutCallIsOfTheGroupThatItsStatusNames) {
  const Facts facts = facts_of_text(
      "[rank13]:[E715 10:20:30.1 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective "
      "operation timeout: WorkNCCL(SeqNum=216, OpType=ALLTOALL_BASE, NumelIn=8, NumelOut=8, "
      "Timeout(ms)=600000) ran for 600014 milliseconds before timing out.\n"
      "[rank13]:[E715 10:20:30.2 ProcessGroupNCCL.cpp:2271] [PG ID 7 PG GUID 119 Rank 1] failure "
      "detected by watchdog at work sequence id: 216 PG status: last enqueued work: 220, last "
      "completed work: 215\n",
      "a.log");
  ASSERT_EQ(facts.calls.size(), 2U);
  EXPECT_EQ(facts.calls[0].operation, "all_to_all");
  EXPECT_EQ(facts.calls[0].group, "119");
  EXPECT_EQ(facts.calls[0].last_enqueued, 220);
}

TEST(FactReader, ProgramOutputIsNotAPersonsClaim) {
  const Facts facts = facts_of_text(
      "it hangs forever after step 3\n"
      "[rank1]:[E1 10:20:30.1 ProcessGroupNCCL.cpp:1] the collective is stuck\n",
      "a.log");
  ASSERT_EQ(facts.progress.size(), 1U);
  EXPECT_TRUE(facts.progress[0].is_claimed_hang);
  EXPECT_EQ(facts.progress[0].source.line, 1);
}

}  // namespace
}  // namespace ringside::facts
