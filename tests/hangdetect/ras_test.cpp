#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A communicator of a report: the ranks of the job that are in it, and the number of all-reduces that each launched;
/// -1 for a rank that did not answer, -2 for one that is considered dead.
struct Communicator {
  std::string hash;
  std::vector<std::pair<int, int>> members;
};

std::string rank_json(int place, int process, int launched) {
  return R"({"rank":)" + std::to_string(place) + R"(,"host":"10.0.0.1","pid":)" +
         std::to_string(100 + process) + R"(,"cuda_dev":)" + std::to_string(process) +
         R"(,"nvml_dev":0,"status":)" +
         (launched >= 0
              ? R"({"init_state":0,"async_error":0,"finalize_called":false,"destroy_flag":false,"abort_flag":false},"collective_counts":{"Broadcast":0,"Reduce":0,"AllGather":0,"ReduceScatter":0,"AllReduce":)" +
                    std::to_string(launched) + "}}"
              : std::string(R"({"unresponsive":true,"considered_dead":)") +
                    (launched == -2 ? "true}}" : "false}}"));
}

std::string report(const std::vector<Communicator>& communicators, const std::string& time) {
  std::string text = R"({"nccl_version":"2.28.7","timestamp":")" + time +
                     R"(","communicators_count":2,"communicators":[)";
  for (const Communicator& one : communicators) {
    std::string ranks;
    std::string missing;
    int place = 0;
    for (const auto& [process, launched] : one.members) {
      std::string& list = launched >= 0 ? ranks : missing;
      list += (list.empty() ? "" : ",") + rank_json(place++, process, launched);
    }
    if (&one != &communicators.front()) text += ",";
    text += R"({"hash":")" + one.hash + R"(","size":)" + std::to_string(one.members.size()) +
            R"(,"ranks":[)" + ranks + R"(],"missing_ranks":[)" + missing + "]}";
  }
  return text + R"(],"ras":{"collection_time_sec":0.1,"timeouts_count":0}})";
}

/// A folder of files; it goes with the object.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] Explanation verdict() const {
    auto all = examine({path_.string()});
    return all ? all->verdict.best : Explanation{};
  }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                (std::string("ringside-ras-") +
                                 testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// A dump of one rank that waits in all-reduce `sequence` of a world of 3.
std::string dump(int sequence) {
  const std::string n = std::to_string(sequence);
  return R"({"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1, 2]"}},)"
         R"("entries":[{"record_id":1,"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":)" +
         n +
         R"(,"profiling_name":"nccl:all_reduce","time_created_ns":1750000000000000000,)"
         R"("input_sizes":[[4]],"input_dtypes":["Float"],"output_sizes":[[4]],"output_dtypes":["Float"],)"
         R"("state":"started","retired":false,"is_p2p":false}]})";
}

// Rank 2 waits for rank 3 in their pair, 0 and 1 wait for 2 and 3 in the world: rank 3 is not blocked.
TEST(Ras, NamesTheRankThatLaunchedLessAndWaitsNowhere) {
  const Folder folder;
  folder.write("ras.json", report({{"0xa", {{0, 11}, {1, 11}, {2, 10}, {3, 10}}},
                                   {"0xb", {{0, 21}, {1, 21}}},
                                   {"0xc", {{2, 21}, {3, 20}}}},
                                  "2026-03-01 10:00:00"));
  const Explanation best = folder.verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(3));
  EXPECT_LT(best.confidence, 0.8) << "one report: the job may move";
}

// Three all-gathers and seven all-reduces, compared with four and six: ten operations each.
TEST(Ras, AsManyOperationsAndOtherOnesAreAMismatch) {
  RasCommunicator communicator;
  for (const int rank : {0, 1, 2}) {
    RasMember member;
    member.place = member.global = rank;
    member.counts = {0, 0, rank == 1 ? 4 : 3, 0, rank == 1 ? 6 : 7};
    communicator.members.push_back(member);
  }
  EXPECT_THAT(odd_launchers(communicator), ElementsAre(1));
}

// A watchdog ends the ranks that wait, and the stopped one runs again: the newest report misses the others.
TEST(Ras, RanksThatDisappearLaterAreNotCulprits) {
  const Folder folder;
  folder.write("1.json", report({{"0xa", {{0, 11}, {1, 11}, {2, -1}}}}, "2026-03-01 10:00:00"));
  folder.write("2.json", report({{"0xa", {{0, -1}, {1, -1}, {2, 10}}}}, "2026-03-01 10:00:30"));
  EXPECT_EQ(folder.verdict().kind, Kind::DeadRank);
  EXPECT_THAT(folder.verdict().culprits, ElementsAre(2));
}

TEST(Ras, EqualCountsAreNoEvidence) {
  const Folder folder;
  folder.write("ras.json", report({{"0xa", {{0, 11}, {1, 11}}}}, "2026-03-01 10:00:00"));
  EXPECT_EQ(folder.verdict().kind, Kind::Unknown) << "idle, or all inside one call";
  EXPECT_LT(folder.verdict().confidence, 0.5);
}

TEST(Ras, LaunchesBetweenTwoReportsAreOfAJobThatMoves) {
  const Folder folder;
  folder.write("a.json", report({{"0xa", {{0, 11}, {1, 10}}}}, "2026-03-01 10:00:00"));
  folder.write("b.json", report({{"0xa", {{0, 14}, {1, 13}}}}, "2026-03-01 10:00:20"));
  EXPECT_EQ(folder.verdict().kind, Kind::NotAHang);
  EXPECT_GE(folder.verdict().confidence, 0.8);
}

TEST(Ras, AProcessThatIsConsideredDeadIs) {
  const Folder folder;
  folder.write("ras.json", report({{"0xa", {{0, 11}, {1, 11}, {2, -2}}}}, "2026-03-01 10:00:00"));
  EXPECT_EQ(folder.verdict().kind, Kind::DeadRank);
}

// Ranks 0 and 1 wait in call 7; the dump of rank 2 is lost. It has launched as much as they have: it is in the call
// too, and there is no culprit.
TEST(Ras, ARankWithoutADumpThatLaunchedAsMuchIsInTheSameCall) {
  const Folder folder;
  folder.write("nccl_trace_rank_0", dump(7));
  folder.write("nccl_trace_rank_1", dump(7));
  folder.write("ras.json", report({{"0xa", {{0, 7}, {1, 7}, {2, 7}}}}, "2026-03-01 10:00:00"));
  const Explanation best = folder.verdict();
  EXPECT_EQ(best.kind, Kind::NetworkStall);
  EXPECT_THAT(best.culprits, IsEmpty());
}

TEST(Ras, ARankWithoutADumpThatLaunchedLessNeverCame) {
  const Folder folder;
  folder.write("nccl_trace_rank_0", dump(7));
  folder.write("nccl_trace_rank_1", dump(7));
  folder.write("ras.json", report({{"0xa", {{0, 7}, {1, 7}, {2, 6}}}}, "2026-03-01 10:00:00"));
  const Explanation best = folder.verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(2));
}

TEST(Ras, ServerOutputBeforeTheReportIsIgnored) {
  const auto read = parse_ras_report("SERVER PROTOCOL 2\nOK\n" + report({{"0xa", {{0, 1}}}}, "t"));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->communicators.size(), 1U);
  EXPECT_EQ(read->communicators[0].hash, 0xaU);
}

TEST(Ras, RefusesTruncatedAndOtherFiles) {
  EXPECT_FALSE(parse_ras_report(""));
  EXPECT_FALSE(parse_ras_report("OK\n"));
  EXPECT_FALSE(parse_ras_report(R"({"communicators":7})"));
  const std::string whole = report({{"0xa", {{0, 1}, {1, -1}}}}, "t");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_ras_report(whole.substr(0, size)));
  }
  EXPECT_FALSE(parse_ras_report(std::string(1'000'000, '[')));
}

// As in an issue, the report is surrounded by text, quoted, and wrapped at the terminal's width.
TEST(Ras, AReportBetweenOtherLinesIsRead) {
  const std::string text = report({{"0xa", {{0, 4}, {1, 4}, {2, -1}}}}, "2026-03-01 10:00:00");
  std::string paste = "What does it mean?\n\n```json\n";
  constexpr std::size_t kWidth = 80;
  for (std::size_t at = 0; at < text.size(); at += kWidth) paste += text.substr(at, kWidth) + "\n";
  Names names;
  const LogFacts facts = read_log_text(paste + "```\nThanks!\n", "issue.md", names);
  ASSERT_EQ(facts.reports.size(), 1U);
  ASSERT_EQ(facts.reports[0].communicators.size(), 1U);
  EXPECT_EQ(facts.reports[0].communicators[0].members.size(), 3U);
  EXPECT_TRUE(read_log_text("{\"a\": 1}\n", "issue.md", names).reports.empty());
}

/// With completed calls, as ringside's own service reports them: all but the last all-reduce.
std::string with_completions(std::string text, int launched) {
  const std::string counts = R"("AllReduce":)" + std::to_string(launched) + "}";
  const std::string more =
      counts + R"(,"completed_counts":{"AllReduce":)" + std::to_string(launched - 1) + "}";
  for (std::size_t at = 0; (at = text.find(counts, at)) != std::string::npos; at += more.size()) {
    text.replace(at, counts.size(), more);
  }
  return text;
}

// No rank differs from another, and two reports show no completed call in between: all ranks are in one call.
TEST(Ras, IfAllAreInOneCallItIsNamedWithoutACulprit) {
  const Folder folder;
  const std::vector<Communicator> all{{"0xa", {{0, 11}, {1, 11}, {2, 11}}}};
  for (const char* const second : {"00", "02"}) {
    const std::string time = std::string("2026-01-01 00:00:") + second;
    folder.write(std::string("ras") + second + ".json", with_completions(report(all, time), 11));
  }
  const Explanation verdict = folder.verdict();
  EXPECT_EQ(verdict.kind, Kind::NetworkStall) << why_of(verdict);
  EXPECT_THAT(verdict.culprits, IsEmpty());
  EXPECT_NE(why_of(verdict).find("all_reduce 11"), std::string::npos) << why_of(verdict);
}

/// The report with another text in the status of one rank of a single communicator.
std::string with_status(std::string text, int rank, const std::string& was, const std::string& is) {
  const std::size_t begin = text.find(R"({"rank":)" + std::to_string(rank) + ",");
  return text.replace(text.find(was, begin), was.size(), is);
}

// source  ecosystem-facts 2.7: 8 is the timeout that is new in 2.31
TEST(Ras, AResultThatARankHoldsHasTheNameOfTheHeader) {
  const Folder folder;
  const std::string whole = report({{"0xa", {{0, 11}, {1, 11}, {2, 11}}}}, "2026-03-01 10:00:00");
  folder.write("ras.json", with_status(whole, 1, R"("async_error":0)", R"("async_error":8)"));
  const Explanation best = folder.verdict();
  EXPECT_EQ(best.kind, Kind::DeadRank) << why_of(best);
  EXPECT_THAT(best.culprits, ElementsAre(1));
  EXPECT_NE(why_of(best).find("ncclTimeout (8)"), std::string::npos) << why_of(best);
}

TEST(Ras, ARankThatDoesNotFinalizeWhileMostDoIsMissing) {
  const Folder folder;
  const std::string was = R"("finalize_called":false)", is = R"("finalize_called":true)";
  std::string text = report({{"0xa", {{0, 11}, {1, 11}, {2, 11}, {3, 11}}}}, "2026-03-01 10:00:00");
  text = with_status(text, 3, was, is);
  folder.write("ras.json", text);
  EXPECT_EQ(folder.verdict().kind, Kind::Unknown) << "one that is early";
  for (const int rank : {0, 1}) text = with_status(text, rank, was, is);
  folder.write("ras.json", text);
  const Explanation best = folder.verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank) << why_of(best);
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_NE(why_of(best).find("ncclCommFinalize"), std::string::npos) << why_of(best);
}

// Launches from before rank 2 fell silent are no progress: the job moves only if the others go on without it.
TEST(Ras, WhatMovedBeforeARankFellSilentIsNoProgress) {
  const Folder folder;
  folder.write("1.json", report({{"0xa", {{0, 4}, {1, 4}, {2, 4}}}}, "2026-03-01 10:00:00"));
  folder.write("2.json", report({{"0xa", {{0, 9}, {1, 9}, {2, -1}}}}, "2026-03-01 10:00:05"));
  EXPECT_NE(folder.verdict().kind, Kind::NotAHang);
  EXPECT_THAT(folder.verdict().culprits, ElementsAre(2));
  folder.write("3.json", report({{"0xa", {{0, 10}, {1, 10}, {2, -1}}}}, "2026-03-01 10:00:10"));
  EXPECT_EQ(folder.verdict().kind, Kind::NotAHang);
}

/// The verdict on ranks 0 and 1, which wait, and rank 2, which does not answer, as a person reads it.
struct Words {
  Explanation best;
  std::string why, next;
};

Words words_of(const std::string& processes) {
  const auto folder = std::filesystem::temp_directory_path() /
                      (std::string("ringside-words-") +
                       testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("nccl_trace_rank_0", dump(7));
  write("nccl_trace_rank_1", dump(7));
  write("ras.json", report({{"0xa", {{0, 7}, {1, 7}, {2, -1}}}}, "2026-03-01 10:00:00"));
  if (!processes.empty()) write("processes.log", processes);
  const auto all = examine({folder.string()});
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(all) << all.error().message;
  const Explanation& best = all->verdict.best;
  // One cause is listed once, whatever evidence it has.
  for (const Explanation& other : all->verdict.others)
    EXPECT_FALSE(other.kind == best.kind && other.culprits == best.culprits);
  return {best, why_of(best), next_of(best, *all->job, all->facts)};
}

TEST(Ras, ARankThatDoesNotAnswerIsNotCalledDead) {
  const Words words = words_of("");
  EXPECT_THAT(words.best.culprits, ElementsAre(2));
  EXPECT_NE(words.best.kind, Kind::DeadRank);
  EXPECT_THAT(words.why, testing::HasSubstr("does not answer ncclras"));
  EXPECT_THAT(words.why, testing::Not(testing::HasSubstr("died")));
  // The report names its process.
  EXPECT_THAT(words.next, testing::HasSubstr("ps -o stat= -p 102"));
  EXPECT_THAT(words.next, testing::HasSubstr("kill -CONT 102"));
}

TEST(Ras, AStoppedProcessIsCalledStopped) {
  const Words words = words_of(
      "attach: rank 0 of 3 is process 100 on n1, state S (sleeps)\n"
      "attach: rank 1 of 3 is process 101 on n1, state R (runs)\n"
      "attach: rank 2 of 3 is process 102 on n1, state T (stopped by a signal or a debugger)\n");
  EXPECT_THAT(words.best.culprits, ElementsAre(2));
  EXPECT_EQ(words.best.kind, Kind::Straggler);
  EXPECT_THAT(words.why, testing::HasSubstr("stopped by a signal"));
  EXPECT_THAT(words.next, testing::HasSubstr("kill -CONT 102"));
}

TEST(Ras, AProcessThatIsGoneIsDead) {
  const Words words = words_of(
      "attach: rank 0 of 3 is process 100 on n1, state S (sleeps)\n"
      "attach: rank 1 of 3 is process 101 on n1, state R (runs)\n"
      "attach: rank 2 of 3 has no process on n1: process 102 has ended\n");
  EXPECT_THAT(words.best.culprits, ElementsAre(2));
  EXPECT_EQ(words.best.kind, Kind::DeadRank);
}

}  // namespace
}  // namespace ringside::hang
