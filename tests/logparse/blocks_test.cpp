#include "diag/logparse/blocks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>

#include "base/fd.h"
#include "diag/logparse/log_files.h"
#include "diag/logparse/parse_logs.h"

namespace ringside::logs {
namespace {

namespace fs = std::filesystem;

class LargeFile : public testing::Test {
 protected:
  LargeFile()
      : path_(fs::temp_directory_path() / ("ringside-blocks-" + std::to_string(::getpid()))) {}
  ~LargeFile() override { fs::remove(path_); }

  void write(const std::string& data) const { std::ofstream(path_, std::ios::binary) << data; }

  fs::path path_;
};

std::string random_bytes(std::size_t size) {
  std::minstd_rand random(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 251);
  return bytes;
}

/// A window is 8 MiB: 9 MiB and a bit need two, and a rest that is copied.
TEST_F(LargeFile, EachBlockFollowsTheKeptBytes) {
  const std::string all = random_bytes((9 << 20) + 12'345);
  write(all);
  for (const std::size_t from : {std::size_t{0}, std::size_t{4'097}, std::size_t{9 << 20}}) {
    const UniqueFd fd(::open(path_.c_str(), O_RDONLY));
    const auto blocks = mapped_blocks(fd.get(), from, path_.string());
    std::minstd_rand random(2);
    std::size_t at = from;
    std::size_t kept = 0;
    for (;;) {
      kept = std::min<std::size_t>(random() % 200'000, kept);
      const std::span<const char> block = blocks->next(kept);
      const std::string_view front(block.data() - kept, kept);
      ASSERT_EQ(front, std::string_view(all).substr(at - kept, kept)) << at;
      if (block.empty()) break;
      ASSERT_EQ(std::string_view(block.data(), block.size()),
                std::string_view(all).substr(at, block.size()))
          << at;
      at += block.size();
      kept += block.size();  // the part of it that is kept
    }
    EXPECT_EQ(at, all.size());
    EXPECT_TRUE(blocks->status().has_value());
  }
}

TEST_F(LargeFile, TruncationDuringReadingIsAnError) {
  write(random_bytes(6 << 20));
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY));
  const auto blocks = mapped_blocks(fd.get(), 0, "a.log");
  ASSERT_EQ(blocks->next(0).size(), Blocks::kMost);
  fs::resize_file(path_, 100'000);
  std::size_t sum = 0;
  std::size_t size = 0;
  for (std::span<const char> block; !(block = blocks->next(0)).empty(); size += block.size()) {
    sum = std::accumulate(block.begin(), block.end(), sum);  // raises SIGBUS behind the end
  }
  EXPECT_LT(size, std::size_t{1} << 20) << sum;
  ASSERT_FALSE(blocks->status().has_value());
  EXPECT_EQ(blocks->status().error().code, ErrorCode::Corrupt);
  EXPECT_EQ(blocks->status().error().message, "a.log: was made shorter while it was read");
}

// `{ head -c 1000000 >part; ringside audit -; } <log`: bytes that were read before are not read again.
TEST_F(LargeFile, OnStandardInputStartsAtItsPosition) {
  std::string all;
  for (int i = 0; all.size() < (2 << 20); ++i) all += "step " + std::to_string(i) + "\n";
  write(all);
  const std::size_t from = 1'000'000;
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY));
  ASSERT_EQ(::lseek(fd.get(), static_cast<off_t>(from), SEEK_SET), static_cast<off_t>(from));
  const UniqueFd before(::dup(STDIN_FILENO));
  ASSERT_EQ(::dup2(fd.get(), STDIN_FILENO), STDIN_FILENO);
  const auto source = open_source("-", 0);
  ASSERT_TRUE(source.has_value());
  const auto blocks = (*source)->blocks();
  std::string read;
  for (std::span<const char> block; !(block = blocks->next(0)).empty();) {
    read.append(block.data(), block.size());
  }
  ::dup2(before.get(), STDIN_FILENO);
  EXPECT_TRUE(read == all.substr(from));
}

/// Cuts a file when it sees the first records, and counts them.
class CuttingSink : public RecordSink {
 public:
  explicit CuttingSink(fs::path path) : path_(std::move(path)) {}
  void take(std::span<const Record> records, const SpeakerTable& /*speakers*/) override {
    if (count == 0) fs::resize_file(path_, 65'536);
    count += records.size();
  }
  std::size_t count = 0;

 private:
  fs::path path_;
};

TEST_F(LargeFile, AuditsATruncatedFileUpToItsEnd) {
  std::string text;
  while (text.size() < (2 << 20)) text += "n01:411:980 [3] NCCL INFO Connected all rings\n";
  write(text);
  CuttingSink sink(path_);
  RecordSink* const sinks[] = {&sink};
  const auto report = parse_logs(find_logs({path_.string()}), sinks, {});
  ASSERT_TRUE(report.has_value());
  EXPECT_GT(sink.count, 0U);
  ASSERT_EQ(report->problems.size(), 1U);
  EXPECT_NE(report->problems[0].what.find("shorter"), std::string::npos);
}

}  // namespace
}  // namespace ringside::logs
