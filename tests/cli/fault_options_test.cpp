// Tests faults from the command line, the evidence that they leave, and the commands that read it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "base/temporary.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Outcome bench(std::vector<std::string> more) {
  std::vector<std::string> words{"bench", "all_reduce", "-n",      "4",  "-b",           "4K",
                                 "-e",    "4K",         "--iters", "20", "--op-timeout", "500ms"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

TEST(FaultOptions, APlantedStallIsFoundInTheDumpsThatItLeaves) {
  const std::string folder = temporary_path("fault_dumps");
  fs::remove_all(folder);
  const Outcome run = bench({"--fault", "stall:rank=2,call=9", "--dumps", folder});
  EXPECT_EQ(run.status, 3) << run.out;
  const Outcome verdict = run_program({"hang", "--json", folder});
  EXPECT_EQ(verdict.status, 1) << verdict.err;
  EXPECT_EQ(json::parse(verdict.out)["verdict"]["culprits"], json::parse("[2]")) << verdict.out;
  fs::remove_all(folder);
}

TEST(FaultOptions, AFaultThatNeverFiresIsNamed) {
  const Outcome run = bench({"--fault", "skip:rank=2,call=9999"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("note: fault skip(rank=2, call=9999) never fires: rank 2 makes only "),
            std::string::npos)
      << run.err;
}

// A program in the place of Python, which ends as a script may.
TEST(FaultOptions, AnyStatusOfAScriptIsTheStatusOfItsRun) {
  const std::string python = temporary_path("python_of_status_72");
  std::ofstream(python) << "#!/bin/sh\nexit 72\n";
  fs::permissions(python, fs::perms::owner_all);
  const Outcome run = run_program({"run", "train.py", "--python", python});
  EXPECT_EQ(run.status, 72) << run.err;
  EXPECT_EQ(run.err.find("no package ringside"), std::string::npos) << run.err;
  fs::remove(python);
}

TEST(FaultOptions, APlanIsReadFromAFileAndOneThatIsOnlyLateEndsWell) {
  const std::string plan = temporary_path("plan.yaml");
  std::ofstream(plan) << "ringside: faults/1\nfaults:\n- late: {rank: 1, call: 3, by: 5ms}\n";
  const Outcome run = bench({"--fault-plan", plan, "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["results"][0]["wrong"], 0);
  fs::remove(plan);
}

TEST(FaultOptions, AnInvalidFaultExitsWithTwoAndSuggestsAFix) {
  const Outcome kind = bench({"--fault", "skipp"});
  EXPECT_EQ(kind.status, 2);
  EXPECT_NE(kind.err.find("did you mean 'skip'"), std::string::npos) << kind.err;
  const Outcome rank = bench({"--fault", "skip:rank=7"});
  EXPECT_EQ(rank.status, 2);
  EXPECT_NE(rank.err.find("rank 7 in a job of 4 ranks"), std::string::npos) << rank.err;
  EXPECT_EQ(bench({"--fault-plan", "/is/not/there"}).status, 2);
  EXPECT_EQ(bench({"--status", "0"}).status, 2);
  EXPECT_EQ(bench({"--dumps", "/dev/null/folder"}).status, 2);
}

TEST(FaultOptions, ADumpReplacesNoOtherFile) {
  const TemporaryFolder folder = TemporaryFolder::make("test").value();
  const std::string notes = folder.path() + "/comm_lib_trace_rank_1";
  std::ofstream(notes) << "what I wrote down\n";
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"--fault", "stall:rank=2,call=9", "--dumps", folder.path()};
    words.insert(words.end(), more.begin(), more.end());
    return bench(words);
  };
  const Outcome refused = run({});
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_NE(refused.err.find("holds other text, not a pickle"), std::string::npos) << refused.err;
  EXPECT_EQ(*read_file(notes), "what I wrote down\n");
  EXPECT_EQ(run({"--force"}).status, 3);
  EXPECT_NE(*read_file(notes), "what I wrote down\n");
  EXPECT_EQ(run({}).status, 3) << "dumps of an earlier run are replaced";
}

Outcome sim(std::vector<std::string> more) {
  std::vector<std::string> words{"sim",      "all_reduce", "--bytes", "1M",     "--on",
                                 "dgx-h100", "--nodes",    "2",       "--algo", "ring"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

// bench ends in the same way.
TEST(FaultOptions, ASimulatedHangHasTheVerdictThatItsDumpsGiveAndTheStatusOfARealOne) {
  const std::string folder = temporary_path("sim_fault_dumps");
  fs::remove_all(folder);
  const Outcome run = sim({"--fault", "kill:rank=11,call=6", "--dumps", folder, "--json"});
  EXPECT_EQ(run.status, 3) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["outcome"], "hang");
  EXPECT_EQ(report["verdict"]["kind"], "dead_rank");
  EXPECT_EQ(report["verdict"]["culprits"], json::parse("[11]"));
  EXPECT_EQ(report["results"][0]["under_faults"]["completed"], 6);
  const Outcome verdict = run_program({"hang", "--json", folder});
  EXPECT_EQ(json::parse(verdict.out)["verdict"]["culprits"], json::parse("[11]")) << verdict.err;
  fs::remove_all(folder);
}

// The same seed draws the same rank and call, no matter whose dumps are written.
TEST(FaultOptions, APlanNamesTheSameRankOnRealRanksAndOnSimulatedOnes) {
  const std::string folder = temporary_path("same_plan_dumps");
  fs::remove_all(folder);
  const std::vector<std::string> plan{"--fault", "kill", "--fault-seed", "3"};
  std::vector<std::string> real{"bench",        "all_reduce", "-n",      "8",       "-b",
                                "4K",           "-e",         "4K",      "--iters", "20",
                                "--op-timeout", "2s",         "--dumps", folder};
  real.insert(real.end(), plan.begin(), plan.end());
  EXPECT_EQ(run_program(real).status, 3);
  const Outcome verdict = run_program({"hang", "--json", folder});
  std::vector<std::string> simulated{"sim",  "all_reduce", "--bytes", "4K",
                                     "--on", "dgx-h100",   "--json"};
  simulated.insert(simulated.end(), plan.begin(), plan.end());
  const json report = json::parse(run_program(simulated).out);
  EXPECT_EQ(report["verdict"]["culprits"].size(), 1U) << report;
  EXPECT_EQ(json::parse(verdict.out)["verdict"]["culprits"], report["verdict"]["culprits"])
      << verdict.out;
  fs::remove_all(folder);
}

TEST(FaultOptions, ASimulatedCallReportsItsSlowdown) {
  const Outcome run = sim({"--fault", "late:rank=3,call=9,by=5ms", "--iters", "10"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("10 calls of each size"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("late:rank=3,call=9,by=5000us"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("10/10"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("# finished"), std::string::npos) << run.out;
}

TEST(FaultOptions, AFaultThatCannotBeSimulatedExitsWithTwoAndSuggestsAFix) {
  const Outcome kind = sim({"--fault", "skipp"});
  EXPECT_EQ(kind.status, 2);
  EXPECT_NE(kind.err.find("did you mean 'skip'"), std::string::npos) << kind.err;
  const Outcome groups = sim({"--fault", "skip:rank=1,call=0,on=1"});
  EXPECT_EQ(groups.status, 2);
  EXPECT_NE(groups.err.find("no such groups"), std::string::npos) << groups.err;
  const Outcome profile = sim({"--fault", "skip:rank=1,call=0", "--profile"});
  EXPECT_EQ(profile.status, 2);
  EXPECT_NE(profile.err.find("--profile with faults"), std::string::npos) << profile.err;
  const Outcome alone = sim({"--iters", "3"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_NE(alone.err.find("--fault-plan"), std::string::npos) << alone.err;
}

TEST(LiveHang, AnInvalidPortIsBadUsageAndAPortWithoutServiceFails) {
  EXPECT_EQ(run_program({"hang", "--live", "0"}).status, 2);
  const Outcome unanswered = run_program({"hang", "--live", "1"});
  EXPECT_EQ(unanswered.status, 3);
  EXPECT_NE(unanswered.err.find("localhost:1"), std::string::npos) << unanswered.err;
  EXPECT_NE(unanswered.err.find("bench --status PORT"), std::string::npos) << unanswered.err;
}

TEST(Overlap, TimesAreReportedAndOtherCollectivesAreRefused) {
  const Outcome run = run_program({"bench", "all_reduce", "-n", "2", "-e", "1M", "--overlap", "5ms",
                                   "--iters", "2", "--bucket-cap", "256K", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json overlap = json::parse(run.out)["overlap"];
  EXPECT_GE(overlap["compute_us"], 5000);
  EXPECT_GE(overlap["total_us"],
            5000);  // compute alone is timed separately, and may be delayed more
  EXPECT_EQ(run_program({"bench", "broadcast", "--overlap", "5ms"}).status, 2);
  EXPECT_EQ(run_program({"bench", "all_reduce", "--overlap", "5"}).status, 2);
}

}  // namespace
}  // namespace ringside
