#include "harness/logs/log_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/fd.h"
#include "harness/logs/truth_file.h"
#include "tests/logs/said.h"

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// A new folder that is removed afterwards.
class LogFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string{"ringside-"} + test->name() + "-" + std::to_string(::getpid()));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator{folder_}) {
      found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  std::filesystem::path folder_;
};

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

TEST_F(LogFilesTest, OneFileARankHoldsItsLinesAlone) {
  const LogJob job = *LogJob::make(said::request("dgx-a100", 2, "2.21"));
  const auto written = write_log_files(job, folder_);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->files, 16);
  ASSERT_THAT(files(), SizeIs(16));
  std::string all;
  for (const std::filesystem::path& file : files()) {
    const std::string text = *read_file(file);
    // nccl.HOST.PID.log
    const std::string name = file.filename();
    const std::size_t dot = name.find('.', 5);
    const std::string prefix =
        name.substr(5, dot - 5) + ":" + name.substr(dot + 1, name.rfind('.') - dot - 1) + ":";
    for (const std::string& line : sorted_lines(text))
      EXPECT_THAT(line, testing::StartsWith(prefix));
    all += text;
  }
  EXPECT_EQ(written->bytes, all.size());
  EXPECT_EQ(written->lines, static_cast<std::uint64_t>(std::ranges::count(all, '\n')));
}

// NCCL's stdout has the version without a prefix where a file has it as a line of the log.
TEST_F(LogFilesTest, JoinedTheLinesAreTheSameInAnotherOrder) {
  LogRequest request = said::request("dgx-a100", 2, "2.24");
  ASSERT_TRUE(misconfigure("link-flap", request));
  const LogJob job = *LogJob::make(request);
  ASSERT_TRUE(write_log_files(job, folder_));
  std::string separate;
  for (const std::filesystem::path& file : files()) separate += *read_file(file);
  const std::string joined = joined_log(job);
  EXPECT_NE(joined, separate);
  EXPECT_EQ(sorted_lines(joined), sorted_lines(separate));
}

TEST_F(LogFilesTest, AWarningFollowsItsEmptyLine) {
  LogRequest request = said::request("dgx-a100", 2, "2.24");
  ASSERT_TRUE(misconfigure("link-flap", request));
  std::istringstream stream{joined_log(*LogJob::make(request))};
  std::string before;
  int warnings = 0;
  for (std::string line; std::getline(stream, line); before = line) {
    if (line.find("NCCL WARN") == std::string::npos) continue;
    ++warnings;
    EXPECT_EQ(before, "");
  }
  EXPECT_GT(warnings, 0);
}

TEST_F(LogFilesTest, TheSeedDecidesTheBytes) {
  LogRequest request = said::request("dgx-a100", 1, "2.21");
  const std::string once = said::text_of(request);
  EXPECT_EQ(said::text_of(request), once);
  request.seed = 2;
  EXPECT_NE(said::text_of(request), once);
}

TEST_F(LogFilesTest, TheTruthNamesHostsAsTheLogDoes) {
  LogRequest request = said::request("dgx-a100", 2, "2.21");
  const LogTruth truth = *misconfigure("lost-nic", request);
  const LogJob job = *LogJob::make(request);
  std::filesystem::create_directories(folder_);
  ASSERT_TRUE(write_truth(job, truth, folder_));
  const std::string text = *read_file(folder_ / "truth.json");
  EXPECT_THAT(text, HasSubstr(R"("id": "asymmetric_config")"));
  EXPECT_THAT(text, HasSubstr(R"("dgx-a100-002")"));
  EXPECT_THAT(text, HasSubstr(R"("nranks": 16)"));
}

TEST_F(LogFilesTest, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream{folder_} << "a file";
  const auto written =
      write_log_files(*LogJob::make(said::request("one-gpu-one-nic", 1, "2.21")), folder_);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::InvalidArgument);
}

// A limit of file sizes, as a full disk is hard to make.
TEST_F(LogFilesTest, AWriteErrorNamesTheFile) {
  const LogJob job = *LogJob::make(said::request("one-gpu-one-nic", 1, "2.21"));
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  for (const auto write : {write_log_files, write_joined_log}) {
    std::filesystem::remove_all(folder_);
    const struct rlimit limit = {100, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto written = write(job, folder_, {});
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr(folder_.string() + "/"));
  }
  std::signal(SIGXFSZ, old);
}

// Two jobs in one folder would be audited as one, with the truth of the second.
TEST_F(LogFilesTest, ASecondJobIsNotMixedIntoTheFolderOfTheFirst) {
  const LogJob job = *LogJob::make(said::request("one-gpu-one-nic", 1, "2.21"));
  ASSERT_TRUE(write_log_files(job, folder_));
  const std::vector<std::filesystem::path> before = files();
  for (const auto write : {write_log_files, write_joined_log}) {
    const auto again = write(job, folder_, {});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace ringside
