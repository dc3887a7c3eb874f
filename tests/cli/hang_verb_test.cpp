#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/cli/program.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

/// One made-up hang, without its truth, in a folder of its own.
fs::path made_up(const std::string& name, const std::string& kind) {
  const fs::path folder = temporary_path(name);
  fs::remove_all(folder);
  const Outcome made = run_program(
      {"hang", "--generate", folder.string(), "--class", kind, "--ranks", "4", "--seed", "3"});
  EXPECT_EQ(made.status, 0) << made.err;
  for (const fs::path& file : files_of(folder)) {
    if (file.filename() == "truth.json") fs::remove(file);
  }
  return folder;
}

TEST(HangVerb, ThreeCasesAreThreeFoldersEachWithItsTruth) {
  const fs::path folder = temporary_path("hang_three");
  fs::remove_all(folder);
  const Outcome made = run_program({"hang", "--generate", folder.string(), "--cases", "3"});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto cases = files_of(folder);
  EXPECT_EQ(cases.size(), 3U);
  for (const fs::path& one : cases) EXPECT_TRUE(fs::exists(one / "truth.json")) << one;
  fs::remove_all(folder);
}

TEST(HangVerb, AHangIsAFindingAndTheFirstLineIsTheVerdict) {
  const fs::path folder = made_up("hang_found", "shape_mismatch");
  const Outcome said = run_program({"hang", folder.string()});
  EXPECT_EQ(said.status, 1) << said.err;
  EXPECT_EQ(said.out.rfind("shape_mismatch: rank", 0), 0U) << said.out;
  fs::remove_all(folder);
}

// The watch ends by itself, with status 0, 15 s after the folder has grown for the last time; it must have
// answered by then. It looks every 0.5 s and takes 8 s without a change for standing still.
TEST(HangVerb, AWatchedFolderIsReportedOnWithin15SecondsOfItsLastGrowth) {
  const fs::path from = made_up("hang_grown", "missing_rank");
  const fs::path folder = temporary_path("hang_watched");
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto files = files_of(from);
  constexpr double kPause = 0.7;  // seconds before each file
  const double longest = kPause * static_cast<double>(files.size()) + 15;
  auto watch = std::async(std::launch::async, [&] {
    return run_program(
        {"hang", "--watch", folder.string(), "--watch-for", std::to_string(longest), "--json"});
  });
  for (const fs::path& file : files) {
    std::this_thread::sleep_for(std::chrono::duration<double>{kPause});
    fs::copy_file(file, folder / file.filename());
  }
  const Outcome said = watch.get();
  ASSERT_EQ(said.status, 1) << said.err;
  const json verdict = json::parse(said.out).at("verdict");
  EXPECT_THAT(verdict.at("kind"), testing::AnyOf("missing_rank", "straggler", "dead_rank"));
  fs::remove_all(from);
  fs::remove_all(folder);
}

TEST(HangVerb, AWatchOfAFolderThatIsNotThereSaysSo) {
  const Outcome said = run_program({"hang", "--watch", temporary_path("hang_nowhere")});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("no such folder"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace ringside
