#include "diag/hangdetect/readers/log_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/readers/line_words.h"
#include "diag/hangdetect/readers/ras_text.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

/// A folder with one log; both go with the object.
class Log {
 public:
  explicit Log(const std::string& text)
      : folder_(std::filesystem::temp_directory_path() /
                (std::string("ringside-log-") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "job.log") << text;
  }
  ~Log() { std::filesystem::remove_all(folder_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] Explanation verdict() const {
    auto all = examine({folder_.string()});
    return all ? all->verdict.best : Explanation{};
  }
  [[nodiscard]] std::string why() const { return why_of(verdict()); }

 private:
  std::filesystem::path folder_;
};

/// The place of a line, for tests that do not read it.
std::pair<std::string, std::int64_t> nowhere(logs::Place /*place*/) { return {"job.log", 1}; }

TEST(Statements, AnImpossibleRankDoesNotEnlargeTheJob) {
  LogFacts facts;
  Statements statements(facts);
  statements.state({}, LogStatement::What::Analyser, {3, kMostRanks, kMostRanks + 5, -1});
  statements.finish(nowhere);
  EXPECT_EQ(facts.world, 4);
  EXPECT_THAT(facts.statements.at(0).ranks, ElementsAre(3));
}

TEST(Statements, ARankThatIsOver32BitsIsNoOtherRank) {
  Names names;
  const LogFacts facts = read_log_text(
      "Rank 4294967299 is running collective: CollectiveFingerPrint(SequenceNumber=7, "
      "OpType=ALLREDUCE, TensorShape=[4], TensorDtypes=Float)\n",
      "job.log", names);
  EXPECT_THAT(facts.statements, IsEmpty());
  EXPECT_EQ(rank_without_id("[4294967299] is setting up NCCL communicator and got error"), -1);
}

// Rank 1 logs step 10 after rank 0 has logged step 11.
TEST(Statements, TheFurthestStepDoesNotDependOnTheOrderOfTheLines) {
  LogFacts facts;
  Statements statements(facts);
  for (const auto& [rank, step] : {std::pair{0, 10}, {0, 11}, {1, 10}}) {
    statements.note_run({}, {RunLine::What::Step, step, 100}, rank);
  }
  statements.finish(nowhere);
  EXPECT_EQ(facts.run.last_step, 11);
  EXPECT_THAT(facts.run.at_last_step, ElementsAre(0));
}

/// Returns a line of one part of the input.
logs::Record line_of(std::uint32_t piece, std::string_view text) {
  logs::Record record;
  record.place.piece = piece;
  record.line = text;
  return record;
}

// Piece 0 has an alarming line before the step and a question after it, piece 1 an alarming line after the step. Then the
// connection of piece 0 is restored: only the first of the three lines is over.
TEST(Statements, ARestoredConnectionEndsOnlyTheAlarmsOfItsOwnPiece) {
  LogFacts facts;
  Statements statements(facts);
  const auto note = [&](std::uint32_t piece, std::string_view text) {
    statements.note_run(line_of(piece, text), read_run_line(text), -1);
  };
  note(0, "Connection to OST0012 was lost, the request has timed out");
  note(0, "step 12/100");
  ASSERT_EQ(facts.run.steps, 1U);
  note(0, "why has the request timed out?");
  note(1, "Connection to OST0044 was lost, the request has timed out");
  EXPECT_EQ(facts.run.alarming, 3U);
  note(0, "Connection restored to OST0012");
  EXPECT_EQ(facts.run.alarming_since_step, 1U);
  EXPECT_EQ(facts.run.alarming, 2U);
  note(1, "Connection restored to OST0044");
  EXPECT_EQ(facts.run.alarming_since_step, 0U);
  EXPECT_EQ(facts.run.alarming, 1U);
  EXPECT_EQ(facts.run.questions, 1U);
}

TEST(RasText, ARankBeyondTheLimitJoinsNoOtherFinding) {
  constexpr int kLimit = 4096;
  LogFacts facts;
  Statements statements(facts);
  RasText text;
  for (int rank = 0; rank <= kLimit; ++rank) {
    logs::Record record;
    auto& ras = record.make<logs::RasRank>();
    ras.rank = rank;
    ras.status = "ABORT";
    if (rank == kLimit) ras.state = logs::RasRank::State::Dead;
    text.take_rank(record);
  }
  text.state(statements);
  ASSERT_FALSE(facts.statements.empty());
  for (const LogStatement& one : facts.statements) {
    EXPECT_LT(one.ranks.front(), kLimit);
    EXPECT_EQ(one.ranks.size(), 1U);
  }
}

TEST(LogFacts, FilesThatAreTooLargeAreReported) {
  std::vector<BadFile> bad;
  LogFacts facts;
  read_stacks({{"stacks.txt", FileKind::Threads, std::uint64_t{1} << 30, nullptr}}, facts, bad);
  const auto reports =
      load_ras_reports({{"ras.json", FileKind::Ras, std::uint64_t{1} << 30, nullptr}}, bad);
  EXPECT_THAT(reports, IsEmpty());
  ASSERT_EQ(bad.size(), 2U);
  EXPECT_THAT(bad[0].error.message, StartsWith("stacks.txt: "));
  EXPECT_THAT(bad[1].error.message, StartsWith("ras.json: "));
}

std::string timeout_line(int rank, int sequence, int numel) {
  const std::string r = std::to_string(rank);
  const std::string s = std::to_string(sequence);
  const std::string n = std::to_string(numel);
  return "[rank" + r + "]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" + s +
         ", OpType=ALLREDUCE, NumelIn=" + n + ", NumelOut=" + n +
         ", Timeout(ms)=600000) ran for 600034 milliseconds before timing out.\n" + "[rank" + r +
         "]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID 0(default_pg) "
         "Rank " +
         r + "]  failure detected by watchdog at work sequence id: " + s +
         " PG status: last enqueued work: " + s +
         ", last completed work: " + std::to_string(sequence - 1) + "\n";
}

std::string signal_line(int rank, int enqueued, int completed) {
  const std::string r = std::to_string(rank);
  return "[rank" + r +
         "]:[E301 10:20:31.123456789 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID "
         "0(default_pg) Rank " +
         r +
         "] Received a dump signal due to a collective timeout from  rank 0 and we will try our "
         "best "
         "to dump the debug info. Last enqueued NCCL work: " +
         std::to_string(enqueued) + ", last completed NCCL work: " + std::to_string(completed) +
         ".\n";
}

// Ranks 0 and 2 wait in 812. Rank 1 obeyed the signal to dump, with 811 as its last call and all calls complete;
// nothing is known of rank 3. Either could be missing, and the one that is seen elsewhere is named.
TEST(LogFacts, NamesTheRankThatDumpsWithoutItsOwnTimeout) {
  const Explanation best =
      Log(timeout_line(0, 812, 64) + signal_line(0, 812, 811) + timeout_line(2, 812, 64) +
          signal_line(2, 812, 811) + signal_line(1, 811, 811) + timeout_line(3, 812, 64))
          .verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(1));
  EXPECT_LT(best.confidence, 0.8) << "it is a log, which may end too early";
}

// Rank 1 has not timed out yet, but waits in the same call: 812 is enqueued and not completed.
TEST(LogFacts, ARankThatHasEnqueuedTheCallIsNotAbsent) {
  const Explanation best =
      Log(timeout_line(0, 812, 64) + timeout_line(2, 812, 64) + signal_line(1, 812, 811)).verdict();
  EXPECT_THAT(best.culprits, IsEmpty());
}

/// Stacks of four ranks, one file each; they go with the object.
class Stacks {
 public:
  Stacks(const std::string& busy, const std::string& waiting) {
    std::filesystem::create_directories(folder_);
    for (const int rank : {0, 1, 2, 3}) {
      std::ofstream(folder_ / ("stack_" + std::to_string(rank) + ".txt"))
          << (rank == 2 ? busy : waiting);
    }
  }
  ~Stacks() { std::filesystem::remove_all(folder_); }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  [[nodiscard]] Explanation verdict() const {
    auto all = examine({folder_.string()});
    return all ? all->verdict.best : Explanation{};
  }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  (std::string("ringside-stacks-") +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(StackFiles, TheRankThatWorksWhileTheOthersWaitIsNamed) {
  const std::string head = "Process 77: python train.py\nPython v3.11.4 (/usr/bin/python3)\n\n";
  const Explanation best =
      Stacks(head +
                 "Thread 77 (active): \"MainThread\"\n    read (tarfile.py:691)\n    load "
                 "(data.py:40)\n    main (train.py:12)\n",
             head +
                 "Thread 78 (idle): \"MainThread\"\n    all_reduce (distributed_c10d.py:2806)\n"
                 "    main (train.py:14)\n")
          .verdict();
  EXPECT_EQ(best.kind, Kind::Straggler);
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_LT(best.confidence, 0.8);
}

// The number in the name is the process's id.
TEST(StackFiles, TheProcessIdInTheNameOfAJsonFileIsNoRank) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "ringside-stack-of-a-pid";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "pyspy-77.json")
      << R"([{"pid":77,"thread_id":2,"thread_name":"MainThread","owns_gil":true,)"
         R"("frames":[{"name":"read","filename":"tarfile.py","line":7}]}])";
  const auto all = examine({folder.string()});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->facts.stacks.size(), 1U);
  EXPECT_THAT(all->facts.stacks.front().ranks, IsEmpty());
  EXPECT_THAT(all->facts.stacks.front().pids, ElementsAre(77));
}

TEST(StackFiles, TheJsonOfPySpyIsReadToo) {
  const auto stack = [](const std::string& name, const std::string& file) {
    return R"([{"pid":77,"thread_id":1,"thread_name":"pt_autograd_0","owns_gil":false,"frames":[]},)"
           R"({"pid":77,"thread_id":2,"thread_name":"MainThread","owns_gil":true,"frames":[{"name":")" +
           name + R"(","filename":")" + file + R"(","line":7}]}])";
  };
  const Explanation best = Stacks(stack("fsync", "checkpoint.py"),
                                  stack("wait", "torch/distributed/distributed_c10d.py"))
                               .verdict();
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_THAT(details_of(best),
              testing::Contains("rank 2: fsync (checkpoint.py:7): saves a checkpoint"));
}

std::string nccl_line(int rank, const std::string& text) {
  const std::string pid = std::to_string(4200 + rank);
  return "node-0:" + pid + ":" + pid + " [" + std::to_string(rank) + "] NCCL INFO " + text + "\n";
}

std::string init_line(int rank, int group_rank, int nranks, const std::string& comm,
                      const std::string& id) {
  return nccl_line(rank, "ncclCommInitRank comm " + comm + " rank " + std::to_string(group_rank) +
                             " nranks " + std::to_string(nranks) +
                             " cudaDev 0 nvmlDev 0 busId 18000 commId " + id + " - Init COMPLETE");
}

std::string coll_line(int rank, const std::string& function, int root, const std::string& comm,
                      int nranks) {
  return nccl_line(rank, function +
                             ": opCount 1 sendbuff 0x7f00 recvbuff 0x7f00 count 64 datatype 7 "
                             "op 0 root " +
                             std::to_string(root) + " comm " + comm +
                             " [nranks=" + std::to_string(nranks) + "] stream 0x66");
}

// Lines of ringside's own engine: only some of its ways to lose a rank are time-outs.
TEST(LogFacts, ATimeOutOfOurEngineIsAWait) {
  const auto waits_in = [](const std::string& why) {
    Names names;
    const std::string line = nccl_line(0, "rank 0 lost rank 1 on channel 0: " + why);
    return read_log_text(line, "rank_0.log", names).run.waits;
  };
  EXPECT_EQ(waits_in("waited 5 s for a chunk of step 2"), 1);
  EXPECT_EQ(waits_in("no connection to 10.0.0.2:40001 arrived in time"), 1);
  EXPECT_EQ(waits_in("the connection was cut"), 0);
  EXPECT_EQ(waits_in("the peer closed"), 0);
}

TEST(LogFacts, AFailedTransferNamesTheHostTheAdapterAndThePeer) {
  const auto failed = [](int rank, const std::string& status) {
    return nccl_line(rank, "NET/IB: Got completion from peer 10.1.0.2<41234> with status=" +
                               status + " opcode=129 len=0 vendor err 129 (Recv) hca mlx5_2");
  };
  // The flushed call comes first in the log, and is a consequence.
  const Explanation best =
      Log(failed(1, "5") + failed(0, "12") + timeout_line(0, 812, 64) + timeout_line(1, 812, 64))
          .verdict();
  EXPECT_EQ(best.kind, Kind::NetworkStall);
  ASSERT_THAT(details_of(best), testing::Not(IsEmpty()));
  EXPECT_EQ(
      details_of(best).front(),
      "node-0, adapter mlx5_2: completion 12 (transport retries exhausted) from peer 10.1.0.2");
  EXPECT_EQ(best.completion, 12);
  EXPECT_THAT(why_of(best), testing::HasSubstr("The peer's NIC did not answer: the peer died"));
}

// All three go on to the all-reduce: they differ in the broadcast before it.
TEST(LogFacts, ARootThatDiffersInAnEarlierCallIsFoundInTheLinesOfTheCalls) {
  std::string log;
  for (const int rank : {0, 1, 2}) {
    log += init_line(rank, rank, 3, "0x5500", "0xabc1");
    log += coll_line(rank, "AllReduce", 0, "0x5500", 3);
    log += coll_line(rank, "Broadcast", rank == 1 ? 2 : 0, "0x5500", 3);
    log += coll_line(rank, "AllReduce", 0, "0x5500", 3);
  }
  const Explanation best = Log(log).verdict();
  EXPECT_EQ(best.kind, Kind::RootMismatch);
  EXPECT_THAT(best.culprits, ElementsAre(1));
}

// Two communicators over the same ranks: their lines are not one sequence.
TEST(LogFacts, CallsOfTwoCommunicatorsOverTheWholeJobAreKeptApart) {
  std::string log;
  for (const int rank : {0, 1, 2}) {
    log +=
        init_line(rank, rank, 3, "0x5500", "0xabc1") + init_line(rank, rank, 3, "0x6600", "0xabc2");
    const std::string one = coll_line(rank, "AllReduce", 0, "0x5500", 3);
    const std::string other = coll_line(rank, "AllGather", 0, "0x6600", 3);
    log += rank == 1 ? other + one : one + other;  // two streams: the order does not matter
  }
  EXPECT_THAT(Log(log).verdict().culprits, IsEmpty());
}

TEST(LogFacts, NamesTheRankWithoutLinesIfTheJobsSizeIsKnown) {
  const std::string three =
      timeout_line(0, 812, 64) + timeout_line(1, 812, 64) + timeout_line(3, 812, 64);
  const Explanation best = Log("world_size=4\n" + three).verdict();
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_LT(best.confidence, 0.8) << "a missing log alone is no proof";
  // No line shows the number of ranks, so the log may have lost one.
  EXPECT_LT(Log(three).verdict().confidence, 0.5);
}

// The last line of each rank's log: three lines of three ranks are no progress.
TEST(LogFacts, ProgressIsSeenWithinOneRank) {
  const Explanation apart =
      Log("INFO rank=0 step=100\nINFO rank=1 step=100\nINFO rank=2 step=98\nINFO rank=3 step=100\n")
          .verdict();
  EXPECT_EQ(apart.kind, Kind::MissingRank);
  EXPECT_THAT(apart.culprits, ElementsAre(2));
  const Explanation moves =
      Log("INFO rank=0 step=99\nINFO rank=0 step=100\nINFO rank=1 step=99\n").verdict();
  EXPECT_EQ(moves.kind, Kind::NotAHang);
}

TEST(LogFacts, AJobThatDidItsStepsUntilItsTimeWasUpDidNotHang) {
  const std::string end =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-05-01T11:59:41 DUE TO TIME LIMIT ***\n";
  const auto steps = [](std::string_view minute) {
    std::string text;
    for (int step = 10; step < 14; ++step)
      text += fmt::format("2025-05-01 {}:{} iteration {}/ 10000 | loss: 2.3\n", minute,
                          10 + 8 * (step - 10), step);
    return text;
  };
  EXPECT_EQ(Log(steps("11:59") + end).verdict().kind, Kind::NotAHang);
  EXPECT_EQ(Log(steps("11:20") + end).verdict().kind, Kind::Unknown);  // quiet for 39 minutes
}

// A line that holds a watchdog's words forbids that all is well, in whatever form it is.
TEST(LogFacts, AWatchdogsWordsForbidThatAllIsWell) {
  const Explanation best =
      Log("step 1/10\nstep 2/10\nstep 3/10\nx|x Timeout at NCCL work: 301, and torn\n").verdict();
  EXPECT_NE(best.kind, Kind::NotAHang);
}

TEST(LogFacts, ARankThatTimedOutWithAnotherSizeIsTheOddOne) {
  const Explanation best = Log(timeout_line(0, 812, 64) + timeout_line(1, 812, 64) +
                               timeout_line(2, 812, 63) + timeout_line(3, 812, 64))
                               .verdict();
  EXPECT_EQ(best.kind, Kind::ShapeMismatch);
  EXPECT_THAT(best.culprits, ElementsAre(2));
}

TEST(LogFacts, EqualTimeoutsOfSomeRanksDoNotPointToTheNetwork) {
  const Explanation best = Log(timeout_line(0, 812, 64) + timeout_line(1, 812, 64)).verdict();
  EXPECT_EQ(best.kind, Kind::Unknown);
  EXPECT_THAT(best.culprits, IsEmpty());
}

// The watchdog of one group reported before that of the previous call: find() searches by number, not by line.
TEST(LogFacts, FindsTimeoutsInAnyOrder) {
  const Explanation best = Log(timeout_line(0, 813, 64) + timeout_line(0, 812, 64) +
                               timeout_line(1, 813, 64) + timeout_line(1, 812, 64))
                               .verdict();
  EXPECT_EQ(best.kind, Kind::Unknown);
  EXPECT_THAT(best.culprits, IsEmpty());
}

std::string status_line(int rank, int at, int enqueued) {
  const std::string r = std::to_string(rank);
  return "[rank" + r + "]:[E301 10:20:30.123456790 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID " +
         "0(default_pg) Rank " + r +
         "]  failure detected by watchdog at work sequence id: " + std::to_string(at) +
         " PG status: last enqueued work: " + std::to_string(enqueued) +
         ", last completed work: " + std::to_string(at - 1) + "\n";
}

// Without a status line nothing shows which of the two has made a call too many.
TEST(LogFacts, RanksThatTimeOutInDifferentCallsAreOutOfStep) {
  const Explanation best = Log("[rank0]: Watchdog caught collective operation timeout: "
                               "WorkNCCL(SeqNum=425, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
                               "Timeout(ms)=1000) ran for 1001 milliseconds before timing out.\n"
                               "[rank1]: Watchdog caught collective operation timeout: "
                               "WorkNCCL(SeqNum=423, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
                               "Timeout(ms)=1000) ran for 1001 milliseconds before timing out.\n")
                               .verdict();
  EXPECT_EQ(best.kind, Kind::DivergedControlFlow);
  EXPECT_THAT(best.culprits, IsEmpty());
}

TEST(LogFacts, NamesTheRankThatHasNotEnqueuedThePendingCall) {
  std::string text = timeout_line(5, 411, 64) + status_line(5, 411, 411);
  for (const int rank : {0, 1, 2, 3, 4})
    text += timeout_line(rank, 412, 64) + status_line(rank, 412, 412);
  const Explanation best = Log(text).verdict();
  EXPECT_EQ(best.kind, Kind::DivergedControlFlow);
  EXPECT_THAT(best.culprits, ElementsAre(5));
}

TEST(LogFacts, ARankThatHasEnqueuedThePendingCallIsNotBehind) {
  std::string text = timeout_line(5, 411, 64) + status_line(5, 411, 420);
  for (const int rank : {0, 1, 2, 3, 4})
    text += timeout_line(rank, 412, 64) + status_line(rank, 412, 420);
  EXPECT_NE(Log(text).verdict().kind, Kind::DivergedControlFlow);
}

TEST(LogFacts, ALineAboutManyRanksCountsForEach) {
  const Explanation best = Log("[Rank 1-7] Watchdog caught collective operation timeout: "
                               "WorkNCCL(SeqNum=70003, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
                               "Timeout(ms)=1000) ran for 1001 milliseconds before timing out.\n")
                               .verdict();
  EXPECT_THAT(best.culprits, ElementsAre(0));
}

TEST(LogFacts, ShapesOfOldReleasesAreCompared) {
  const auto line = [](int rank, const std::string& shape) {
    return "[E ProcessGroupNCCL.cpp:828] [Rank " + std::to_string(rank) +
           "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=511, "
           "OpType=ALLREDUCE, TensorShape=[" +
           shape + "], Timeout(ms)=1800000) ran for 1800100 milliseconds before timing out.\n";
  };
  const Explanation best =
      Log(line(0, "16, 64") + line(1, "16, 64") + line(2, "16, 128")).verdict();
  EXPECT_EQ(best.kind, Kind::ShapeMismatch);
  EXPECT_THAT(best.culprits, ElementsAre(2));
}

TEST(LogFacts, AReceiveThatWaitsAloneGivesNoCulprit) {
  const Explanation best = Log("[rank4]: Watchdog caught collective operation timeout: "
                               "WorkNCCL(SeqNum=5510, OpType=RECV, NumelIn=64, NumelOut=64, "
                               "Timeout(ms)=1000) ran for 1001 milliseconds before timing out.\n")
                               .verdict();
  EXPECT_EQ(best.kind, Kind::P2pUnmatched);
  EXPECT_THAT(best.culprits, IsEmpty());
}

TEST(LogFacts, MonitoredBarrierNamesTheMissingRanks) {
  const Explanation best = Log("[rank0]: RuntimeError: [Rank 0]: Ranks 3, 5 failed to pass "
                               "monitoredBarrier in 60000 ms\n")
                               .verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(3, 5));
}

TEST(LogFacts, TheFirstProcessThatEndedBySignalIsDead) {
  const Explanation best =
      Log("Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-14_11:20:03\n"
          "  host      : node-b\n  rank      : 13 (local_rank: 5)\n  exitcode  : -9 (pid: 51877)\n"
          "  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 51877\n")
          .verdict();
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(13));
}

std::string failure(int rank, const std::string& time) {
  const std::string r = std::to_string(rank);
  return "  time      : 2026-03-14_" + time + "\n  host      : node-b\n  rank      : " + r +
         " (local_rank: " + r + ")\n  exitcode  : -9 (pid: 5187" + r + ")\n";
}

// Rank 5 dies half a minute later: the launcher ended it.
TEST(LogFacts, ProcessesThatFellBySignalInTheSameSecondFellTogether) {
  const Explanation best =
      Log("Failures:\n[1]:\n" + failure(3, "11:20:03") + "[2]:\n" + failure(5, "11:20:33") +
          "Root Cause (first observed failure):\n[0]:\n" + failure(2, "11:20:03"))
          .verdict();
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(2, 3));
}

// 2.4 prints the description of a group and the rank's place in it, but no name: several groups share a description,
// and the numbers of their calls cannot be compared.
TEST(LogFacts, DoesNotCompareCallsAcrossUnnamedGroups) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string r = std::to_string(rank);
    const std::string n = std::to_string(rank < 2 ? 64 : 32);
    text += "[rank" + r + "]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [Rank " +
            std::to_string(rank % 2) +
            "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
            "OpType=ALLREDUCE, NumelIn=" +
            n + ", NumelOut=" + n +
            ", Timeout(ms)=600000) ran for 600034 milliseconds before timing out.\n[rank" + r +
            "]:[E301 10:20:30.123456790 ProcessGroupNCCL.cpp:1785] [PG 1 (tensor) Rank " +
            std::to_string(rank % 2) +
            "] Exception (either an error or timeout) detected by watchdog at work: 7, last "
            "enqueued NCCL work: 7, last completed NCCL work: 6.\n";
  }
  const Explanation best = Log(text).verdict();
  EXPECT_NE(best.kind, Kind::ShapeMismatch);
  EXPECT_LT(best.confidence, 0.8);
}

TEST(LogFacts, AQuietLogGivesNoCulprit) {
  const Explanation best = Log("step 180 loss 2.2394\nstep 181 loss 2.2336\n").verdict();
  EXPECT_THAT(best.culprits, IsEmpty());
  EXPECT_LT(best.confidence, 0.5);
}

// A cut takes the tag of a paste's first line; faulthandler's list of threads follows it.
TEST(LogFacts, ACrashBelongsToTheRankWhoseThreadsFollow) {
  const std::string thread = "Thread 0x00007f2a (most recent call first):\n";
  for (const std::string tag : {"[rank5]: Current ", "rank 5: "}) {
    const Explanation best = Log("Fatal Python error: Bus error\n" + tag + thread).verdict();
    EXPECT_EQ(best.kind, Kind::DeadRank) << tag;
    EXPECT_THAT(best.culprits, ElementsAre(5)) << tag;
  }
  EXPECT_THAT(Log("Fatal Python error: Bus error\n[rank5]: other\n").verdict().culprits, IsEmpty());
}

// SGLang and others tag the first line of a traceback alone.
TEST(LogFacts, ATracebackBelongsToTheRankThatBeganIt) {
  const Explanation best =
      Log("[2025-04-11 08:08:08 TP3] Worker hit an exception: Traceback (most recent call last):\n"
          "  File \"/sgl/tp_worker.py\", line 110, in forward\n"
          "RuntimeError: CUDA error: an illegal memory access was encountered\n")
          .verdict();
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(3));
}

// The ended pod, node or process is named though no line shows which rank it was.
TEST(LogFacts, ADeathIsWhereTheLinesPutIt) {
  const auto why = [](const std::string& text) {
    return Log("[rank0]: it hangs\n\n" + text).why();
  };
  EXPECT_THAT(why("sft-worker-2    0/1     OOMKilled   0          3h\n"),
              StartsWith("Pod sft-worker-2 "));
  EXPECT_THAT(why("12m  Warning  NodeNotReady  pod/ft-worker-5  Node is not ready\n"),
              StartsWith("Pod ft-worker-5 "));
  EXPECT_THAT(why("srun: error: Node failure on n117\n"), StartsWith("Node n117 "));
  EXPECT_THAT(why("node-1:\n[ 4021.771203] Out of memory: Killed process 40912 (pt_main_thread) "
                  "total-vm:5kB, anon-rss:2kB, file-rss:0kB, shmem-rss:1kB, UID:0 pgtables:4kB "
                  "oom_score_adj:0\n"),
              StartsWith("Process 40912 (pt_main_thread) on node-1 "));
}

// A checkpoint that cannot be restored is the program's error, and evidence against its rank; a lost store is no such.
TEST(LineWords, OnlyTheStoreItselfIsCommunication) {
  EXPECT_FALSE(is_of_communication("RuntimeError", "failed to restore the checkpoint"));
  EXPECT_TRUE(is_of_communication("RuntimeError", "the store was closed"));
  EXPECT_TRUE(is_of_communication(
      "RuntimeError", "ringside: all_reduce: rank 2 lost rank 0 on channel 0: waited 4 s for it"));
  EXPECT_FALSE(
      is_of_communication("RuntimeError", "ringside: recv with tag -1; tags are not negative"));
  EXPECT_TRUE(is_of_communication("DistStoreError", "1/2 clients joined"));
}

}  // namespace
}  // namespace ringside::hang
