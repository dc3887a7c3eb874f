#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/study/published_folder.h"

namespace ringside {
namespace {

/// The command lines below "examples:" in a verb's help, without "ringside".
std::vector<std::vector<std::string>> examples_of(const std::string& verb) {
  const Outcome help = run_program({verb, "--help"});
  EXPECT_EQ(help.status, 0);
  std::vector<std::vector<std::string>> examples;
  std::istringstream lines(help.out);
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (line == "examples:") below = true;
    if (!below || !(words >> word) || word != "ringside") continue;
    std::vector<std::string>& example = examples.emplace_back();
    while (words >> word) example.push_back(word);
  }
  return examples;
}

class VerbExamples : public testing::TestWithParam<const char*> {};

// The examples run in a folder of their own: some write files, and `trace` reads the file that `demo` writes.
TEST_P(VerbExamples, TwoOpenTheHelpAndRun) {
  if (std::string(RINGSIDE_SANITIZED) != "") GTEST_SKIP() << "takes minutes under a sanitizer";
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = temporary_path(std::string("examples_") + GetParam());
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  if (std::string(GetParam()) == "trace") {
    ASSERT_EQ(run_program({"bench", "all_reduce", "-e", "1K", "--trace", "run.rtrace"}).status, 0);
  }
  if (std::string(GetParam()) == "audit") {
    std::filesystem::create_directories("logs");
    std::ofstream("logs/rank0.log")
        << "n01:411:411 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.1<0>\n";
  }
  if (std::string(GetParam()) == "hang") {
    ASSERT_EQ(
        run_program({"generate", "hangs", "-o", "dumps", "--class", "not_a_hang", "--ranks", "4"})
            .status,
        0);
  }
  if (std::string(GetParam()) == "reproduce") {
    ASSERT_EQ(run_program({"generate", "hangs", "-o", "dumps", "--class", "missing_rank", "--ranks",
                           "4", "--seed", "1"})
                  .status,
              0);
  }
  if (std::string(GetParam()) == "scenario") {
    ASSERT_EQ(
        run_program({"generate", "hangs", "-o", "dumps", "--class", "not_a_hang", "--ranks", "4"})
            .status,
        0);
  }
  if (const std::string verb = GetParam(); verb == "run" || verb == "scenario" || verb == "sweep") {
    std::filesystem::create_directory_symlink(std::filesystem::path(RINGSIDE_SOURCE) / "scenarios",
                                              "scenarios");
  }
  if (std::string(GetParam()) == "validate") write_published("published");
  const auto examples = examples_of(GetParam());
  EXPECT_EQ(examples.size(), 2U);
  for (const auto& example : examples) {
    const Outcome outcome = run_program(example);
    // Faults of the machine that runs the tests do not matter here.
    const bool is_finding = example[0] == "probe" && outcome.status == 1;
    EXPECT_TRUE(outcome.status == 0 || is_finding) << example[0] << ": " << outcome.err;
    EXPECT_NE(outcome.out, "");
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Verbs, VerbExamples,
                         testing::Values("audit", "bench", "hang", "sim", "explain", "validate",
                                         "topo", "generate", "trace", "demo", "run", "reproduce",
                                         "scenario", "sweep", "probe"),
                         [](const auto& verb) { return std::string(verb.param); });

}  // namespace
}  // namespace ringside
