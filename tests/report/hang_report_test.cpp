#include "diag/report/hang_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/call_table.h"
#include "diag/report/sentences/hang_sentences.h"
#include "tests/hangdetect/small_job.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Ranks 0, 1 and 3 wait in the third call of all; rank 2 did not make it.
Examination rank_2_is_missing(const std::string& group = "default_pg") {
  SmallJob job(4);
  const int world = job.add_group(group, {0, 1, 2, 3});
  job.all_call(world, "nccl:all_reduce", 64, 2);
  for (const int rank : {0, 1, 3}) job.call(rank, world, "nccl:all_reduce", 64);
  return std::move(job).examination();
}

TEST(HangReport, TheVerdictIsTheFirstLineAndTheSameInAll) {
  const Examination all = rank_2_is_missing();
  const std::string text = report_text(all);
  const std::string kind = to_string(all.verdict.best.kind);
  EXPECT_EQ(text.rfind(kind + ": rank 2", 0), 0U) << text;
  const Json document = report_json(all);
  EXPECT_EQ(document["schema"], "ringside.hang/1");
  EXPECT_EQ(document["verdict"]["kind"], kind);
  EXPECT_THAT(document["verdict"]["culprits"].get<std::vector<int>>(), ElementsAre(2));
  EXPECT_EQ(document["ndumps"], 4);
  const std::string page = report_html(all);
  EXPECT_THAT(page, HasSubstr("<h1>Rank 2 hung the job at "));
  EXPECT_THAT(page, HasSubstr("<p>" + kind + ": "));
}

TEST(HangReport, ATableShowsWhoNeverEnteredWhichCall) {
  const Examination all = rank_2_is_missing();
  const std::vector<CallTable> tables = call_tables(all, 2);
  ASSERT_EQ(tables.size(), 1U);
  const CallTable& table = tables.front();
  ASSERT_EQ(table.numbers.size(), 2U);
  EXPECT_EQ(table.numbers[1], table.numbers[0] + 1);
  EXPECT_THAT(table.operations, ElementsAre("all_reduce", "all_reduce"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(table.rows[0].ranks, ElementsAre(0, 1, 3));
  EXPECT_THAT(table.rows[0].cells, ElementsAre("done", "waits"));
  EXPECT_THAT(table.rows[1].ranks, ElementsAre(2));
  EXPECT_THAT(table.rows[1].cells, ElementsAre("done", "never"));
  EXPECT_THAT(call_tables_text(all), HasSubstr("0-1,3"));
  EXPECT_EQ(call_tables_json(all)[0]["rows"][1]["cells"].back(), "never");
}

// Rank 1 waits for a send that rank 0 did not make: the table has the transfers of both.
TEST(HangReport, ATableShowsTransfersInWhichARankWaits) {
  SmallJob job(2);
  const int world = job.add_group("default_pg", {0, 1});
  job.all_call(world, "nccl:all_reduce", 64, 2);
  job.call(1, world, "nccl:recv 1<-0", 64);
  const Examination all = std::move(job).examination();
  const std::vector<TransferTable> tables = transfer_tables(all);
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables.front().rows.size(), 2U);
  EXPECT_THAT(tables.front().rows[0].cells, ElementsAre("no send or receive"));
  EXPECT_THAT(tables.front().rows[1].cells, ElementsAre("recv 1 from 0: waits"));
  EXPECT_THAT(call_tables_text(all), HasSubstr("recv 1 from 0: waits"));
  EXPECT_EQ(transfer_tables_json(all)[0]["rows"][1]["cells"][0], "recv 1 from 0: waits");
  EXPECT_TRUE(transfer_tables(rank_2_is_missing()).empty());
}

// The send was buffered: rank 0 ended its later calls, and does not wait.
TEST(HangReport, AMessageThatWasNotReceivedIsATransferWithoutItsOtherHalf) {
  SmallJob job(3);
  const int world = job.add_group("default_pg", {0, 1, 2});
  job.all_call(world, "nccl:all_reduce", 64);
  job.call(0, world, "nccl:send 0->2", 64);
  job.all_call(world, "nccl:all_reduce", 64);
  const Examination all = std::move(job).examination();
  const std::string text = report_text(all);
  EXPECT_THAT(text, testing::StartsWith("p2p_unmatched: rank 2, at send 1 of group default_pg"));
  EXPECT_THAT(text, HasSubstr("which rank 0 made before other"));
  EXPECT_THAT(text, HasSubstr("send 1 of group default_pg        pending   2\n"));
  EXPECT_THAT(text, HasSubstr("Compare the sends and receives of rank 2 with those of rank 0"));
}

// A number in a box has the box's tip: a text that lies over a rectangle hides the rectangle's own one.
TEST(HangReport, TheTipOfABoxIsThatOfItsNumber) {
  const std::string page = report_html(rank_2_is_missing());
  EXPECT_THAT(page, HasSubstr("<g><title>all_reduce 3 of group default_pg"));
  EXPECT_THAT(page, Not(HasSubstr("<rect><title>")));
  EXPECT_THAT(page, HasSubstr("<title>rank 2, a culprit: "));
}

// A call that differs is named in its cell, without control characters of the file.
TEST(HangReport, ATableNamesCallsThatDiffer) {
  SmallJob job(3);
  const int world = job.add_group("default_pg", {0, 1, 2});
  for (const int rank : {0, 1}) job.call(rank, world, "nccl:all_reduce", 64);
  job.call(2, world, "nccl:broad\x1b[31mcast", 32);
  const Examination all = std::move(job).examination();
  const std::string text = call_tables_text(all);
  EXPECT_THAT(text, HasSubstr("waits: "));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

/// A stack of a training script, whose forward() is at `line`, in a call of PyTorch.
ProcessStack stack_of(int rank, int line) {
  const std::string torch = "/usr/lib/python3/dist-packages/torch/";
  ProcessStack stack;
  stack.ranks = {rank};
  for (int i = 0; i < 20; ++i) stack.frames.push_back({"wrapper", torch + "fsdp.py", i});
  stack.frames.push_back({"forward", "train.py", line});
  stack.frames.push_back({"call", torch + "module.py", 1784});
  stack.frames.push_back({"<module>", "train.py", 12});
  return stack;
}

TEST(HangReport, ShowsTheProgramsOwnFramesAndWhereStacksPart) {
  Examination all = rank_2_is_missing();
  for (const int rank : {0, 1, 2, 3}) {
    all.facts.stacks.push_back(stack_of(rank, rank == 2 ? 301 : 300));
  }
  all.verdict.best.stack = all.facts.stacks[2].frames;
  const std::string text = report_text(all);
  EXPECT_THAT(text, HasSubstr("... 17 of installed packages\n    forward (train.py:301)\n"
                              "    ... 1 of installed packages\n    <module> (train.py:12)\n"));
  EXPECT_THAT(text, HasSubstr("their stacks part at\n    rank 2: forward (train.py:301)\n"
                              "    ranks 0-1,3: forward (train.py:300)\n"));
  for (ProcessStack& one : all.facts.stacks) one.frames = all.facts.stacks[0].frames;
  EXPECT_THAT(report_text(all), Not(HasSubstr("stacks part")));
}

/// Rank 2 waits in a call of another size than ranks 0, 1 and 3.
Examination rank_2_passes_another_size() {
  SmallJob job(4);
  const int world = job.add_group("default_pg", {0, 1, 2, 3});
  job.all_call(world, "nccl:all_reduce", 64, 2);
  for (const int rank : {0, 1, 2, 3}) job.call(rank, world, "nccl:all_reduce", rank == 2 ? 3 : 289);
  return std::move(job).examination();
}

TEST(HangReport, TheNextStepNamesTheTwoPlacesWhereStacksPart) {
  Examination all = rank_2_passes_another_size();
  EXPECT_THAT(report_text(all), HasSubstr("next\n  Compare what rank 2 runs there"));
  for (const int rank : {0, 1, 2, 3}) {
    all.facts.stacks.push_back(stack_of(rank, rank == 2 ? 284 : 280));
  }
  all.verdict.best.stack = all.facts.stacks[2].frames;
  const std::string text = report_text(all);
  EXPECT_THAT(text, HasSubstr("  stack of rank 2\n"));
  EXPECT_THAT(text, HasSubstr("another branch is as likely as a wrong size.\n"));
  EXPECT_THAT(text, HasSubstr("next\n  Look at train.py:284 (rank 2) and at train.py:280 (ranks "
                              "0-1,3), and at the condition that chooses\n"));
  for (ProcessStack& one : all.facts.stacks) one.frames = all.facts.stacks[0].frames;
  EXPECT_THAT(report_text(all),
              HasSubstr("next\n  Compare the values that rank 2 and another rank"));
}

/// Sets the stack of a rank's call `at` in its dump: one line of the script.
void set_stack(Examination& all, std::size_t rank, std::size_t at, int line) {
  const auto made = [&] { return Stack{{"<module>", "train.py", line}}; };
  all.dumps[rank].calls.at(at).stack = all.names->add_stack(static_cast<std::uint64_t>(line), made);
}

TEST(HangReport, TwoLinesOfTheScriptItselfAreWhereStacksPart) {
  Examination all = rank_2_passes_another_size();
  for (const std::size_t rank : {0U, 1U, 2U, 3U}) set_stack(all, rank, 2, rank == 2 ? 8 : 5);
  all.verdict.best.stack = {{"<module>", "train.py", 8}};
  EXPECT_THAT(report_text(all), HasSubstr("next\n  Look at train.py:8 (rank 2) and at train.py:5 "
                                          "(ranks 0-1,3)"));
}

// A rank that only sends its data may be past the call that differs, and the others still wait in it.
TEST(HangReport, TheStackOfACallThatHasEndedIsLabelledAndCompared) {
  SmallJob job(3);
  const int world = job.add_group("default_pg", {0, 1, 2});
  job.all_call(world, "nccl:reduce", 64);
  for (const int rank : {0, 1}) job.call(rank, world, "nccl:reduce", 40);
  job.call(2, world, "nccl:reduce", 37, true);
  job.call(2, world, "nccl:reduce", 64, true);
  Examination all = std::move(job).examination();
  for (const std::size_t rank : {0U, 1U, 2U}) {
    for (std::size_t i = 0; i < all.dumps[rank].calls.size(); ++i) set_stack(all, rank, i, 7);
  }
  all.verdict.best.stack = {{"<module>", "train.py", 7}};
  ASSERT_THAT(all.verdict.best.culprits, ElementsAre(2));
  const std::string text = report_text(all);
  EXPECT_THAT(text,
              HasSubstr("  stack of rank 2 at reduce 2 of group default_pg, which has ended\n"));
  EXPECT_THAT(text,
              HasSubstr("next\n  Compare the values that rank 2 and another rank pass there"));
}

TEST(HangReport, RanksWhoseCallDiffersHaveARowAndWaitForTheOthers) {
  const std::vector<PlaceRow> rows = place_rows(rank_2_passes_another_size());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0].ranks, ElementsAre(0, 1, 3));
  EXPECT_EQ(rows[0].waits, "2");
  EXPECT_THAT(rows[1].ranks, ElementsAre(2));
  EXPECT_EQ(rows[1].waits, "0-1,3");
}

TEST(HangReport, RecordsCountFromOneAsCallsDo) {
  EXPECT_THAT(report_text(rank_2_passes_another_size()),
              HasSubstr("dump_2, 3rd record: all_reduce"));
}

TEST(HangReport, AJobThatDoesNotHangShowsWhatSupportsIt) {
  SmallJob job(2);
  const int world = job.add_group("default_pg", {0, 1});
  job.all_call(world, "nccl:all_reduce", 64, 3);
  Examination all = std::move(job).examination();
  const std::string done = "all 3 calls of each of 2 ranks are done, in the same order.";
  EXPECT_THAT(why_of(all.verdict.best), HasSubstr(done));
  LogFacts logs;
  logs.stacks = {stack_of(0, 369), stack_of(1, 369)};
  logs.run.has_finished = true;
  logs.run.shown = {{"rank_0.log", -1, 3, "training loop finished"}};
  const Explanation best = decide(*all.job, logs).best;
  EXPECT_THAT(details_of(best), ElementsAre(testing::StartsWith("ranks 0-1: ")));
  EXPECT_THAT(why_of(best), HasSubstr("The log reports that the program finished"));
  ASSERT_EQ(best.evidence.size(), 1U);
  EXPECT_EQ(best.evidence[0].text, "training loop finished");
}

TEST(HangReport, CallsThatDifferAreNotInTheSameOrder) {
  SmallJob job(2);
  const int world = job.add_group("default_pg", {0, 1});
  for (const int rank : {0, 1}) job.call(rank, world, "nccl:all_reduce", rank == 0 ? 64 : 65, true);
  const std::string why = why_of(std::move(job).examination().verdict.best);
  EXPECT_THAT(why, Not(HasSubstr("same order"))) << why;
}

TEST(HangReport, AsksOnlyForWhatIsMissing) {
  SmallJob job(3);
  job.add_group("default_pg", {0, 1, 2});
  const Examination all = std::move(job).examination();
  Explanation one;
  one.missing = {{Need::What::Stacks}, {Need::What::Dumps}};
  all.job->rank(0).notes.has_stack = true;
  EXPECT_THAT(missing_of(one, all.job.get()),
              ElementsAre("stacks of ranks 1-2 (py-spy dump --pid PID)"));
  for (const int rank : {1, 2}) all.job->rank(rank).notes.has_stack = true;
  EXPECT_TRUE(missing_of(one, all.job.get()).empty());
}

// 255 is what ssh and srun return, and no signal.
TEST(HangReport, AProcessIsKilledByASignalAndEndsWithAStatus) {
  Explanation one;
  one.kind = Kind::DeadRank;
  one.culprits = {1};
  one.add(Feature::Exited);
  one.exit_code = 255;
  EXPECT_EQ(why_of(one), "Rank 1 ended with exit status 255.");
  one.exit_code = -6;
  EXPECT_EQ(why_of(one), "Rank 1 was killed by signal 6.");
}

// os._exit(0): the kernel has nothing to report on it.
TEST(HangReport, ARankThatEndsWithStatusZeroIsNotKilledByTheKernel) {
  Examination all = rank_2_is_missing();
  Explanation& one = all.verdict.best;
  one = {};
  one.kind = Kind::DeadRank;
  one.culprits = {2};
  one.call = "all_reduce 3 of default_pg";
  one.add(Feature::Exited);
  one.cause = facts::DeathCause::ExitCode;
  EXPECT_EQ(why_of(one), "Rank 2 ended with exit status 0 before all_reduce 3 of default_pg.");
  one.features = {Feature::DeathSeenByPeers};
  EXPECT_EQ(why_of(one), "Rank 2 ended with exit status 0 before all_reduce 3 of default_pg.");
  const std::string text = report_text(all);
  EXPECT_THAT(text, HasSubstr("next\n  Find where the program of rank 2 ends before this call"));
  EXPECT_THAT(text, Not(HasSubstr("oom")));
}

TEST(HangReport, EachKindRefersToTheCommandThatExplainsIt) {
  for (int kind = 0; kind <= static_cast<int>(Kind::Unknown); ++kind) {
    EXPECT_THAT(reference_of(static_cast<Kind>(kind)),
                testing::StartsWith("ringside hang --about "));
  }
}

TEST(HangReport, RanksAtOnePositionAreOneRow) {
  const std::vector<PlaceRow> rows = place_rows(rank_2_is_missing());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0].ranks, ElementsAre(0, 1, 3));
  EXPECT_EQ(rows[0].state, "waits");
  EXPECT_EQ(rows[0].waits, "2");
  EXPECT_THAT(rows[1].ranks, ElementsAre(2));
  EXPECT_EQ(rows[1].state, "idle");
}

// The highest rank that lines name is not the size of a job: lower ranks may not exist.
TEST(HangReport, RanksWithoutEvidenceHaveNoRow) {
  const std::string work =
      "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for "
      "600088 milliseconds before timing out.\n";
  const auto file = std::filesystem::temp_directory_path() / "ringside-hang-report-rows.log";
  std::ofstream(file) << "[rank4]: [Rank 4] Watchdog caught collective operation timeout: " << work
                      << "[rank5]: [Rank 5] Watchdog caught collective operation timeout: " << work;
  const auto all = examine({file.string()});
  std::filesystem::remove(file);
  ASSERT_TRUE(all);
  const std::vector<PlaceRow> rows = place_rows(*all);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(rows[0].ranks, ElementsAre(4, 5));
  EXPECT_EQ(rows[0].waits, "");
}

TEST(HangReport, LinesKeepToAHundredColumnsAndSteerNoTerminal) {
  const std::string text = report_text(rank_2_is_missing("a\x1b[31mred\nnot_a_hang\x9b"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\nnot_a_hang")));
  EXPECT_THAT(text, HasSubstr("red\\x0anot_a_hang\\x9b"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(HangReport, ThePageHasTheNextStepAndThePageOfItsKind) {
  const Examination all = rank_2_passes_another_size();
  const std::string kind = to_string(all.verdict.best.kind);
  const std::string page = report_html(all);
  EXPECT_THAT(page, HasSubstr("<h2>Next</h2>\n<p>Compare what rank 2 runs there"));
  EXPECT_THAT(page,
              HasSubstr("<summary>What " + kind + " means, how to confirm and fix it</summary>"));
  EXPECT_THAT(page, HasSubstr("## How to fix"));
  EXPECT_THAT(page, Not(HasSubstr("# hang_")));
}

// Without dumps the number of ranks is unknown, though a log names one: the page has no drawing of calls.
TEST(HangReport, ThePageOfALogAloneHasNoCalls) {
  const auto file = std::filesystem::temp_directory_path() / "ringside-hang-report-page.log";
  std::ofstream(file) << "E0301 10:00:00.000000 140 torch/distributed/elastic/multiprocessing/"
                         "api.py:869] failed (exitcode: -9) local_rank: 1 (pid: 4242) of binary: "
                         "/usr/bin/python3\n";
  const auto all = examine({file.string()});
  std::filesystem::remove(file);
  ASSERT_TRUE(all);
  EXPECT_THAT(all->verdict.best.culprits, ElementsAre(1));
  const std::string page = report_html(*all);
  EXPECT_THAT(page, HasSubstr("<h1>Rank 1 hung the job"));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

TEST(HangReport, ThePageEscapesNamesAndNeedsNoOtherFiles) {
  const std::string page = report_html(rank_2_is_missing("<b>&'s"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&amp;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

}  // namespace
}  // namespace ringside::hang
