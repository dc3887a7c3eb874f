#include "base/read_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace ringside {
namespace {

/// A clock whose waits take no time.
class Skipping final : public Clock {
 public:
  [[nodiscard]] Time now() const noexcept override { return now_; }
  int poll(std::span<pollfd> /*polled*/, Time until) override {
    now_ = until;
    return 0;
  }

 private:
  Time now_{};
};

TEST(ReadFile, RefusesAPipeThatNoProgramWritesTo) {
  const std::string path = testing::TempDir() + "read_file_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Skipping clock;
  const auto opened = open_to_read(path, clock);
  std::remove(path.c_str());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::NotFound);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("no program writes"));
  EXPECT_GE(clock.now(), Clock::Time{} + std::chrono::seconds{1});
}

TEST(ReadFile, StopsAtTheLimit) {
  const auto zeros = read_file("/dev/zero", Bytes{1 << 20});
  ASSERT_FALSE(zeros);
  EXPECT_EQ(zeros.error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace ringside
