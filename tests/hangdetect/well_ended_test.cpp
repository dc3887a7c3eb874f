#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/diag/labelled_hangs.h"

// Tests texts that look like a hang but are not: reports of a job that progresses, the end of a healthy job, a slow
// start.

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string counted(int others, int operation, int rank, int own) {
  return "#0-0 (77aa1c09d4e5f611) MISMATCH\n"
         "  Communicator ranks have different AllReduce operation counts\n  " +
         std::to_string(others) + " ranks have launched up to operation " +
         std::to_string(operation) + "\n  Rank " + std::to_string(rank) +
         " has launched up to operation " + std::to_string(own) +
         " -- GPU 6 managed by process 2217 on node 10.2.0.4\n\n";
}

TEST(RasTwice, AJobOfWhichTheLastRanksHaveGoneOnMoves) {
  const Explanation best = verdict_on(counted(15, 5120, 6, 5119) + counted(15, 5391, 2, 5390));
  EXPECT_EQ(best.kind, Kind::NotAHang);
  EXPECT_THAT(best.culprits, IsEmpty());
}

TEST(RasTwice, ARankStuckWhileOthersLaunchAFewMoreIsNamed) {
  const Explanation best = verdict_on(counted(15, 5120, 6, 5104) + counted(15, 5152, 6, 5104));
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(6));
}

TEST(RasTwice, ALagInBothReportsIsNotSkew) {
  EXPECT_THAT(verdict_on(counted(15, 5120, 6, 5104) + counted(15, 5220, 6, 5180)).culprits,
              ElementsAre(6));
}

constexpr const char* kStoreGone =
    "[rank1]:[W430 19:00:33.019415377 TCPStore.cpp:106] [c10d] sendBytes failed on "
    "SocketImpl(fd=67, "
    "addr=[localhost]:41210, remote=[localhost]:29500): Broken pipe\n";

TEST(EndsWell, ALostStoreAfterTheEndIsNotAFailure) {
  const std::string end = "{'train_runtime': 7867.4, 'train_loss': 0.8, 'epoch': 3.0}\n";
  EXPECT_EQ(verdict_on(end + kStoreGone + "99120   COMPLETED      0:0   02:13:40\n").kind,
            Kind::NotAHang);
  EXPECT_EQ(verdict_on(kStoreGone).kind, Kind::DeadRank) << "no line reports an end";
  EXPECT_EQ(verdict_on("INFO:     Application startup complete.\n" + std::string(kStoreGone)).kind,
            Kind::DeadRank)
      << "a server that is up has not ended";
}

TEST(EndsWell, AJobWithoutATimeoutAtItsTimeLimitDidNotHang) {
  const std::string steps = "step 51200 | loss 0.4\nstep 51250 | loss 0.4\nstep 51300 | loss 0.4\n";
  const std::string end =
      "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2025-02-14T08:00:12 DUE TO TIME LIMIT "
      "***\n";
  const std::string call =
      "[rank5]:[E214 08:00:13.118 ProcessGroupNCCL.cpp:552] [Rank 5] Collective "
      "WorkNCCL(SeqNum=51391, "
      "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) raised the following async "
      "exception: NCCL error: remote process exited or there was a network error, NCCL version "
      "2.21.5\n";
  EXPECT_EQ(verdict_on(steps + end + call).kind, Kind::NotAHang);
  EXPECT_EQ(verdict_on(steps + end).kind, Kind::Unknown) << "it may have hung for hours";
}

TEST(EndsWell, ASlowCompilationFollowedByStepsIsNotAHang) {
  const std::string alarm =
      "E external/xla/xla/service/slow_operation_alarm.cc:73]\n"
      "[Compiling module jit_train_step] Very slow compile? If you want to file a bug, run with\n";
  EXPECT_EQ(verdict_on("jax devices 64\n" + alarm +
                       "step 0 loss 11.0\nstep 1 loss 10.9\nstep 2 loss 10.8\n"
                       "are the processes hung? It was silent for 5 minutes.\n")
                .kind,
            Kind::NotAHang);
  EXPECT_EQ(verdict_on("jax devices 64\n" + alarm + "are the processes hung?\n").kind,
            Kind::Unknown);
}

std::string comm_line(const std::string& host, int rank, const std::string& event) {
  const std::string number = std::to_string(rank);
  return host + ":41" + number + ":41" + number + " [" + number + "] NCCL INFO comm 0x55aa1" +
         number + " rank " + number + " nranks 8 cudaDev " + number + " busId " + number +
         "000 commId 0x8f2c61d0b7a3e945 - " + event + "\n";
}

// source  docs/formats D.1: from 2.31 on the ranks of a host wait for each other in finalize and destroy
TEST(EndsWell, ARankThatNeverEndsTheCommunicatorHoldsThoseOfItsHost) {
  std::string text;
  for (int rank = 0; rank < 8; ++rank) {
    text += comm_line(rank < 4 ? "n01" : "n02", rank, "Init COMPLETE");
  }
  for (const char* const event : {"Destroy START", "Destroy COMPLETE"}) {
    for (int rank = 0; rank < 4; ++rank) text += comm_line("n01", rank, event);
  }
  const std::string finalized = text;
  for (const int rank : {4, 5, 7}) text += comm_line("n02", rank, "Destroy START");
  const Explanation best = verdict_on(text);
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(6));
  EXPECT_EQ(best.what,
            "no START of ncclCommFinalize or ncclCommDestroy, in which 3 other ranks of the same "
            "host wait");

  const std::string all = text + comm_line("n02", 6, "Destroy START");
  EXPECT_THAT(verdict_on(all).culprits, IsEmpty()) << "all have come";
  const std::string aborted = text + comm_line("n02", 4, "Abort START");
  EXPECT_THAT(verdict_on(aborted).culprits, IsEmpty()) << "an abort waits for no rank";
  const std::string early = finalized + comm_line("n02", 4, "Finalize START");
  EXPECT_THAT(verdict_on(early).culprits, IsEmpty()) << "one that is early";
}

}  // namespace
}  // namespace ringside::hang
