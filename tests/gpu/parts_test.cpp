#include "tests/gpu/parts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>

#include "tests/support/shared_page.h"

namespace ringside {
namespace {

constexpr unsigned kLong = 60;

/// Describes what each of five parts does, and counts how often it ran.
class GpuParts : public testing::Test {
 protected:
  using Act = std::function<Status()>;

  bool run(const std::map<int, Act>& acts, unsigned most_s = kLong) {
    return run_in_parts(
        kCount, most_s,
        [&](int first, const std::function<void()>& done) -> Status {
          for (int part = first; part < kCount; ++part) {
            ++runs_->of_part[part];
            if (acts.contains(part)) RINGSIDE_TRY(acts.at(part)());
            done();
          }
          return acts.contains(kCount) ? acts.at(kCount)() : Status{};
        },
        [&](int part, const std::string& why) { failures_[part] = why; });
  }
  void expect_each_ran_once() {
    for (int part = 0; part < kCount; ++part) EXPECT_EQ(runs_->of_part[part], 1) << part;
  }

  static constexpr int kCount = 5;
  struct Runs {
    int of_part[kCount] = {};
  };
  SharedPage<Runs> runs_;
  std::map<int, std::string> failures_;
};

TEST_F(GpuParts, AllOfThemRunInOneProcess) {
  SharedPage<pid_t> process;
  const auto note = [&]() -> Status {
    if (*process != 0 && *process != ::getpid()) return Error{ErrorCode::System, "another process"};
    *process = ::getpid();
    return {};
  };
  EXPECT_TRUE(run({{0, note}, {2, note}, {4, note}}));
  EXPECT_NE(*process, ::getpid());
  EXPECT_TRUE(failures_.empty());
  expect_each_ran_once();
}

TEST_F(GpuParts, APartThatFailsLeavesTheOthersToAFreshProcess) {
  SharedPage<pid_t> process;
  const auto fail = [&]() -> Status {
    *process = ::getpid();
    return Error{ErrorCode::System, "no such size"};
  };
  const auto look = [&]() -> Status {
    if (*process == ::getpid()) return Error{ErrorCode::System, "the same process"};
    return {};
  };
  EXPECT_FALSE(run({{1, fail}, {2, look}}));
  EXPECT_EQ(failures_, (std::map<int, std::string>{{1, "no such size"}}));
  expect_each_ran_once();
}

TEST_F(GpuParts, APartThatCrashesLeavesTheOthers) {
  EXPECT_FALSE(run(
      {{0, [] { return ::raise(SIGKILL), Status{}; }}, {4, [] { return ::_exit(5), Status{}; }}}));
  ASSERT_EQ(failures_.size(), 2U);
  EXPECT_EQ(failures_[0], "its process was ended by signal 9 (Killed)");
  EXPECT_EQ(failures_[4], "its process left with status 5");
  expect_each_ran_once();
}

// The part also ignores SIGTERM.
TEST_F(GpuParts, APartThatHangsIsEndedAndLeavesTheOthers) {
  const auto hang = []() -> Status {
    ::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
  };
  EXPECT_FALSE(run({{2, hang}}, 1));
  EXPECT_EQ(failures_, (std::map<int, std::string>{{2, "it took longer than 1 s"}}));
  expect_each_ran_once();
}

TEST_F(GpuParts, AFailureAfterTheLastPartIsReported) {
  EXPECT_FALSE(run({{kCount, [] { return Status(Error{ErrorCode::Corrupt, "wrong elements"}); }}}));
  EXPECT_EQ(failures_, (std::map<int, std::string>{{kCount, "wrong elements"}}));
  expect_each_ran_once();
}

}  // namespace
}  // namespace ringside
