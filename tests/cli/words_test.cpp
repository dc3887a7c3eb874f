#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/program.h"

// Tests the order of words on the command line: a word in an argument's place is never a verb.

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kLog = "n01:411:411 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.1<0>\n";

/// A current folder with a folder for every verb's name, each with a log in it.
class VerbsAsFolders : public testing::Test {
 protected:
  VerbsAsFolders() {
    const fs::path root = temporary_path("words");
    fs::remove_all(root);
    for (const char* const verb : kVerbs) {
      fs::create_directories(root / verb);
      std::ofstream(root / verb / "rank0.log") << kLog;
    }
    std::ofstream(root / "-odd-name.log") << kLog;
    fs::current_path(root);
  }
  ~VerbsAsFolders() override {
    const fs::path root = fs::current_path();
    fs::current_path(before_);
    fs::remove_all(root);
  }

  static constexpr std::array kVerbs{"demo",     "probe",    "audit", "hang",     "attach",
                                     "bench",    "sim",      "sweep", "run",      "reproduce",
                                     "scenario", "validate", "topo",  "generate", "trace",
                                     "gui",      "help",     "info",  "explain"};
  const fs::path before_ = fs::current_path();
};

TEST_F(VerbsAsFolders, AreReadAndNotRun) {
  for (const char* const verb : kVerbs) {
    const Outcome audit = run_program({"audit", verb});
    EXPECT_EQ(audit.status, 0) << verb << ": " << audit.err;
    EXPECT_THAT(audit.out, StartsWith("logs     1 file, 1 lines")) << verb;
    const Outcome hang = run_program({"hang", "--json", verb});
    EXPECT_THAT(hang.out, HasSubstr("\"schema\": \"ringside.hang/1\"")) << verb << hang.err;
  }
}

TEST_F(VerbsAsFolders, SeveralInAnyOrderWithOptions) {
  const Outcome all = run_program({"audit", "demo", "--color", "never", "probe", "-v", "run"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, StartsWith("logs     3 files, 3 lines"));
}

TEST_F(VerbsAsFolders, AreValuesOfOptions) {
  const Outcome diff = run_program({"audit", "--diff", "demo", "probe"});
  EXPECT_EQ(diff.status, 0) << diff.err;
  EXPECT_THAT(diff.out, HasSubstr("demo"));
  const Outcome on = run_program({"topo", "--on", "sim"});
  EXPECT_EQ(on.status, 2);
  EXPECT_THAT(on.err, HasSubstr("sim is a folder"));
}

TEST_F(VerbsAsFolders, CompleteTheSubcommandsOfAVerb) {
  for (const char* const word : {"info", "export", "audit", "trace"}) {
    const Outcome info = run_program({"trace", "info", word});
    EXPECT_EQ(info.status, 2);
    EXPECT_THAT(info.err, StartsWith(std::string("error: ") + word + ":"))
        << "the file of that name";
  }
}

TEST_F(VerbsAsFolders, RefusesAnExtraWord) {
  const Outcome sim = run_program({"sim", "all_reduce", "--on", "dgx-h100", "probe"});
  EXPECT_EQ(sim.status, 2);
  EXPECT_THAT(sim.err, StartsWith("error: 'probe' is one word too many for 'ringside sim'"));
  EXPECT_EQ(sim.out, "");
}

TEST_F(VerbsAsFolders, TwoDashesEndOptions) {
  const Outcome odd = run_program({"audit", "--", "-odd-name.log"});
  EXPECT_EQ(odd.status, 0) << odd.err;
  EXPECT_THAT(odd.out, StartsWith("logs     1 file, 1 lines"));
  const Outcome behind = run_program({"audit", "demo", "--", "-odd-name.log", "probe"});
  EXPECT_EQ(behind.status, 0) << behind.err;
  EXPECT_THAT(behind.out, StartsWith("logs     3 files, 3 lines"));
  const Outcome missing = run_program({"trace", "info", "--", "--json"});
  EXPECT_THAT(missing.err, StartsWith("error: --json: ")) << "the file of that name";
  const Outcome many = run_program({"sim", "all_reduce", "--on", "dgx-h100", "--", "-x"});
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.err, HasSubstr("'-x' is one word too many"));
}

TEST_F(VerbsAsFolders, OnlyTheProgramsOptionsMayPrecedeTheVerb) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--json", "audit", "demo"},
                                                {"--color", "never", "audit", "demo"},
                                                {"-f", "audit", "demo"},
                                                {"--color=never", "audit", "demo"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << words[0];
    EXPECT_THAT(outcome.err,
                HasSubstr("unknown option '" + words[0].substr(0, words[0].find('='))));
    EXPECT_THAT(outcome.err, HasSubstr("follows the verb"));
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome word = run_program({"bogus", "audit", "demo"});
  EXPECT_EQ(word.status, 2);
  EXPECT_THAT(word.err, HasSubstr("unknown verb 'bogus'"));
}

TEST(Words, HelpOfAVerbIsThatOfItsOption) {
  const std::vector<std::vector<std::string>> all{
      {}, {"audit"}, {"bench"}, {"trace"}, {"trace", "info"}, {"generate", "logs"}};
  for (const std::vector<std::string>& verb : all) {
    std::vector<std::string> asked{"help"};
    asked.insert(asked.end(), verb.begin(), verb.end());
    std::vector<std::string> option = verb;
    option.emplace_back("--help");
    const Outcome help = run_program(asked);
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_THAT(help.out, HasSubstr("Usage: ringside"));
    EXPECT_EQ(help.out, run_program(option).out);
  }
  const Outcome near = run_program({"help", "adit"});
  EXPECT_EQ(near.status, 2);
  EXPECT_THAT(near.err, HasSubstr("did you mean 'audit'?"));
  const Outcome below = run_program({"help", "trace", "inof"});
  EXPECT_EQ(below.status, 2);
  EXPECT_THAT(below.err, HasSubstr("did you mean 'info'?"));
  const Outcome more = run_program({"help", "sim", "demo"});
  EXPECT_EQ(more.status, 2);
  EXPECT_THAT(more.err, HasSubstr("'demo' is one word too many for 'ringside help'"));
}

TEST(Words, AVerbWithSubcommandsNamesThem) {
  const Outcome none = run_program({"trace"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("known: info, export, merge"));
}

TEST(Words, AnOptionIsNotTheValueOfThePreviousOne) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"audit", "--html", "--json", "x.log"},
        {"audit", "--html=", "x.log"},
        {"trace", "export", "x.rtrace", "-o", "--perfetto"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("has no value"));
    EXPECT_FALSE(fs::exists("--json"));
  }
}

}  // namespace
}  // namespace ringside
