#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/sentences/hang_sentences.h"

// The owner of a line that names only a process, a bus or a list, or that is below a heading; and lines without an
// owner.

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Explanation verdict_of(const std::string& text) {
  Names names;
  const LogFacts facts = read_log_text(text, "paste.txt", names);
  const Job job(names, facts.dumps, {}, facts.world);
  return decide(job, facts).best;
}

/// Returns the next step that is advised.
std::string step_of(const std::string& text) {
  Names names;
  const LogFacts facts = read_log_text(text, "paste.txt", names);
  const Job job(names, facts.dumps, {}, facts.world);
  return next_of(decide(job, facts).best, job, facts);
}

std::string begun(const std::string& host, int pid, int rank, const std::string& bus) {
  const std::string p = std::to_string(pid);
  return host + ":" + p + ":" + p + " [0] NCCL INFO ncclCommInitRank comm 0x55 rank " +
         std::to_string(rank) + " nranks 16 cudaDev 0 nvmlDev 0 busId " + bus +
         " commId 0x9f1 - Init START\n";
}

constexpr const char* kKilled =
    "[Thu Jun 12 03:14:11 2025] Memory cgroup out of memory: Killed process 60012 (python3) "
    "total-vm:412331120kB\n";

TEST(LineOwners, AProcessThatTheKernelKilledIsTheRankThatLoggedWithItsId) {
  const Explanation best =
      verdict_of(begun("hgx1", 60011, 4, "9b000") + begun("hgx1", 60012, 5, "bb000") + kKilled);
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(5));
  EXPECT_THAT(why_of(best), HasSubstr("memory"));
}

TEST(LineOwners, AProcessThatTheKernelKilledIsTheRankOfALaunchersTable) {
  const Explanation best =
      verdict_of(std::string(kKilled) +
                 "Root Cause (first observed failure):\n[0]:\n  time      : 2025-06-12_03:14:13\n  "
                 "host      : "
                 "hgx1\n  rank      : 6 (local_rank: 2)\n  exitcode  : 1 (pid: 60012)\n");
  EXPECT_THAT(best.culprits, ElementsAre(6));
  EXPECT_THAT(why_of(best), HasSubstr("memory"));
}

TEST(LineOwners, AnUnknownProcessIdHasNoRank) {
  const Explanation best = verdict_of(begun("hgx1", 60011, 4, "9b000") + kKilled);
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, IsEmpty());
}

TEST(LineOwners, ALocalRankWhoseProcessIsKnownIsTheGlobalOne) {
  const Explanation best = verdict_of(
      begun("n02", 1527, 13, "bb000") +
      "torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -11) local_rank: 5 "
      "(pid: 1527) of binary: /usr/bin/python\n");
  EXPECT_THAT(best.culprits, ElementsAre(13));
}

// Both ranks ended in the same second: the table shows both, and the line before it names only the first.
TEST(LineOwners, ALaunchersTableOfSeveralRanksIsKept) {
  const auto fallen = [](int number, int rank, int pid) {
    return "[" + std::to_string(number) +
           "]:\n  time      : 2025-03-11_15:25:53\n  host      : n4\n" +
           "  rank      : " + std::to_string(rank) +
           " (local_rank: 2)\n  exitcode  : -9 (pid: " + std::to_string(pid) + ")\n";
  };
  const Explanation best = verdict_of(
      "torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9) local_rank: 2 "
      "(pid: 4234) of binary: /usr/bin/python\nFailures:\n" +
      fallen(1, 35, 4235) + "Root Cause (first observed failure):\n" + fallen(0, 34, 4234));
  EXPECT_THAT(best.culprits, ElementsAre(34, 35));
}

// The same bus is on both hosts.
TEST(LineOwners, AnXidIsOfTheGpuOfTheHostWhoseKernelReportsIt) {
  const std::string text = begun("dgx-a", 701, 3, "52000") + begun("dgx-b", 821, 11, "52000");
  const std::string fault = "NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.\n";
  EXPECT_THAT(verdict_of(text + "### dmesg of dgx-b\n[80211.402118] " + fault).culprits,
              ElementsAre(11));
  EXPECT_THAT(verdict_of(text + "Jul  9 02:11:40 dgx-a kernel: " + fault).culprits, ElementsAre(3));
  EXPECT_THAT(verdict_of(text + "[80211.402118] " + fault).culprits, IsEmpty());
}

TEST(LineOwners, AnErrorBelowAHeadingIsOfTheRankThatItNames) {
  const std::string waits =
      "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "
      "NumelIn=2, NumelOut=2, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n";
  const std::string error = "KeyError: 'caption_17'\n";
  for (const auto& [before, after] : {std::pair{"==> rank", ".log <==\n"},
                                      std::pair{"### rank ", "\n"}, std::pair{"rank ", ":\n"}}) {
    const auto head = [&](int rank) { return before + std::to_string(rank) + after; };
    const Explanation best =
        verdict_of(head(0) + waits + head(1) + error + head(2) + waits + head(3) + waits);
    EXPECT_EQ(best.kind, Kind::MissingRank) << before;
    EXPECT_THAT(best.culprits, ElementsAre(1)) << before;
  }
}

constexpr const char* kIncomplete =
    "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
    "    #  in group  per comm  per node  per comm  in group\n"
    "    0         1         3         8        24        24   RUNNING  INCOMPLETE\n\n"
    "#0-0 (c5e1) INCOMPLETE\n  Missing communicator data from 2 ranks\n";

TEST(LineOwners, RanksThatDidNotAnswerMayBeAListOrARange) {
  EXPECT_THAT(verdict_of(std::string(kIncomplete) + "  Ranks: 22-23\n").culprits,
              ElementsAre(22, 23));
  EXPECT_THAT(verdict_of(std::string(kIncomplete) + "  The missing ranks: 3,21\n").culprits,
              ElementsAre(3, 21));
}

TEST(Barriers, MissingRanksAreAllButThoseThatArrived) {
  const std::string gave_up =
      "RuntimeError: Rank 0 timed out in monitoredBarrier after 30000 ms.\n Successfully processed "
      "ranks: 1, 2, 4, 6, 7\n";
  const Explanation known = verdict_of("INFO: world_size=8\n" + gave_up);
  EXPECT_EQ(known.kind, Kind::MissingRank);
  EXPECT_THAT(known.culprits, ElementsAre(3, 5));
  EXPECT_THAT(verdict_of(gave_up).culprits, IsEmpty()) << "nothing says how many there are";
}

// Names of rank 0's own line in addition to the ranks that arrived.
TEST(Barriers, RanksThatFailedToPassAreNamedInAnyWording) {
  const Explanation best = verdict_of(
      "[Rank 0]: Rank 3 failed to pass monitoredBarrier in 30000 ms\n[Rank 0]: Ranks 3, 5 failed "
      "to "
      "pass monitoredBarrier in 30000 ms\nSuccessfully processed ranks: 1, 2, 4\nRuntimeError: "
      "Rank "
      "2 successfully reached monitoredBarrier, but received errors while waiting for send/recv "
      "from rank 0. Please check rank 0 logs for faulty rank.\n");
  EXPECT_THAT(best.culprits, ElementsAre(3, 5));
}

TEST(Barriers, RankZeroIsNotAmongThoseThatItWaitedFor) {
  const std::string own =
      "[rank0]: RuntimeError: Rank 0 failed to pass monitoredBarrier in 900 ms\n";
  EXPECT_THAT(
      verdict_of(own + "[Rank 0]: Rank 6 failed to pass monitoredBarrier in 900 ms\n").culprits,
      ElementsAre(6));
  EXPECT_THAT(verdict_of(own).culprits, IsEmpty());
}

constexpr const char* kStoreLost =
    "[rank9]:[W120 04:12:02.101 TCPStore.cpp:122] [c10d] recvValue failed on SocketImpl(fd=41, "
    "addr=[worker-1]:39110, remote=[worker-0]:29400): failed to recv, got 0 bytes\n";

TEST(EndedFromOutside, ConnectionsThatEndThenGiveNoCulprit) {
  for (const std::string end :
       {"slurmstepd: error: *** JOB 81 ON n01 CANCELLED AT 2025-03-04T10:11:12 DUE TO TIME LIMIT "
        "***\n",
        "[WARNING] Received Signals.SIGTERM death signal, shutting down workers\n",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 2100 got signal: "
        "15\n"}) {
    const Explanation best = verdict_of(end + kStoreLost);
    EXPECT_THAT(best.culprits, IsEmpty()) << end;
    EXPECT_THAT(why_of(best), HasSubstr("ended the job")) << end;
  }
  EXPECT_THAT(verdict_of(kStoreLost).culprits, ElementsAre(0)) << "who holds the store went first";
}

std::string completion(int status) {
  return "n01:71:99 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
         "10.0.0.3<51102> with error " +
         std::to_string(status) + ", opcode 0, len 0, vendor err 129\n";
}

// srun ends the other tasks after task 11 fell: their ends show no cause.
TEST(EndedProcesses, AnEndAfterSrunEndedTheStepIsNotACause) {
  const Explanation best = verdict_of(
      "srun: error: b12: task 11: Segmentation fault (core dumped)\nsrun: Terminating "
      "StepId=771.0\nsrun: error: b11: tasks 0-7: Killed\nsrun: error: b12: tasks 8-10: "
      "Terminated\n");
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(11));
  EXPECT_EQ(best.exit_code, -11);
}

TEST(EndedProcesses, AnAbortIsAConsequenceAndGivesNoCulprit) {
  for (const char* line : {"n01.cluster: rank 3 died from signal 6 and dumped core\n",
                           "n01.cluster: rank 3 died from signal 15\n"})
    EXPECT_THAT(verdict_of(line).culprits, IsEmpty()) << line;
  const Explanation bus = verdict_of("n01.cluster: rank 3 died from signal 7 and dumped core\n");
  EXPECT_THAT(bus.culprits, ElementsAre(3));
  EXPECT_EQ(bus.exit_code, -7);
}

TEST(EndedProcesses, AContainerThatIsNotStartedAgainShowsNoDeath) {
  EXPECT_NE(
      verdict_of("[rank0]: step 1\nWarning  BackOff  Back-off restarting failed container\n").kind,
      Kind::DeadRank);
}

TEST(FailedTransfers, TheNextStepFitsTheStatus) {
  EXPECT_THAT(step_of(completion(12)), HasSubstr("ib_write_bw"));
  EXPECT_THAT(step_of(completion(4)), HasSubstr("NCCL_NET_GDR_LEVEL=LOC"));
  EXPECT_THAT(step_of(completion(10)), HasSubstr("peer's host"));
  EXPECT_THAT(step_of(completion(13)), HasSubstr("py-spy"));
}

TEST(FailedTransfers, AFlushedQueueIsAConsequence) {
  const Explanation best = verdict_of(completion(5));
  EXPECT_EQ(best.kind, Kind::NetworkStall);
  EXPECT_THAT(best.culprits, IsEmpty());
  EXPECT_THAT(step_of(completion(5)), HasSubstr("first failed completion"));
}

TEST(ExceptionsAlone, ARemoteProcessThatExitedGivesNoCulprit) {
  const Explanation best = verdict_of(
      "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote "
      "process "
      "exited or there was a network error, NCCL version 2.20.5\n");
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, IsEmpty());
}

}  // namespace
}  // namespace ringside::hang
