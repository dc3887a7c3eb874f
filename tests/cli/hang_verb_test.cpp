#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/hang/hang_watch.h"
#include "tests/cli/program.h"
#include "tests/support/fake_clock.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

/// Makes a hang without its truth in a folder of its own.
fs::path made_up(const std::string& name, const std::string& kind) {
  const fs::path folder = temporary_path(name);
  fs::remove_all(folder);
  const Outcome made = run_program(
      {"generate", "hangs", "-o", folder.string(), "--class", kind, "--ranks", "4", "--seed", "3"});
  EXPECT_EQ(made.status, 0) << made.err;
  for (const fs::path& file : files_of(folder)) {
    if (file.filename() == "truth.json") fs::remove(file);
  }
  return folder;
}

TEST(HangVerb, ThreeCasesAreThreeFoldersEachWithItsTruth) {
  const fs::path folder = temporary_path("hang_three");
  fs::remove_all(folder);
  const Outcome made = run_program({"generate", "hangs", "-o", folder.string(), "--cases", "3"});
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

TEST(HangVerb, AboutTakesTheNameOfAPageAndAll) {
  const Outcome kind = run_program({"hang", "--about", "p2p_unmatched"});
  ASSERT_EQ(kind.status, 0) << kind.err;
  EXPECT_EQ(run_program({"hang", "--about", "hang_p2p_unmatched"}).out, kind.out);
  const Outcome all = run_program({"hang", "--about", "all"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_NE(all.out.find(kind.out), std::string::npos);
  EXPECT_NE(all.out.find("# hang_dead_rank"), std::string::npos);
  EXPECT_EQ(run_program({"hang", "--about", "hang"}).status, 2);
}

// The watch looks every 0.5 s and takes a folder without a change in 8 s for a job that has stopped.
TEST(HangWatch, AFolderIsReportedOnWithin15SecondsOfItsLastGrowth) {
  const fs::path from = made_up("hang_grown", "missing_rank");
  const fs::path folder = temporary_path("hang_watched");
  fs::remove_all(folder);
  fs::create_directories(folder);
  FakeClock clock;
  std::optional<Attendance> here(clock);
  auto watch = async_on(clock, [&] { return cli::watch_for_hang(folder, Seconds{3600}, clock); });
  for (const fs::path& file : files_of(from)) {
    clock.sleep(std::chrono::seconds(5));  // long, but not long enough to count as stopped
    fs::copy_file(file, folder / file.filename());
  }
  const Nanoseconds grown = clock.elapsed();
  here.reset();
  const auto seen = watch.get();
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_NE(*seen, nullptr) << "it gave up after an hour";
  EXPECT_THAT(std::string(hang::to_string((*seen)->verdict.best.kind)),
              testing::AnyOf("missing_rank", "straggler", "dead_rank"));
  EXPECT_LE(clock.elapsed() - grown, std::chrono::seconds(15));
  fs::remove_all(from);
  fs::remove_all(folder);
}

TEST(HangWatch, TimesOutOnAFolderWithoutAVerdict) {
  const fs::path folder = temporary_path("hang_silent");
  fs::remove_all(folder);
  fs::create_directories(folder);
  FakeClock clock;
  const auto seen = cli::watch_for_hang(folder, Seconds{3600}, clock);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(*seen, nullptr);
  EXPECT_EQ(clock.elapsed(), std::chrono::hours(1));
  fs::remove_all(folder);
}

TEST(HangVerb, ReportsAMissingFolderToWatch) {
  const Outcome said = run_program({"hang", "--watch", temporary_path("hang_nowhere")});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("no such folder"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace ringside
