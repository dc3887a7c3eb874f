#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/hangs/generate.h"

namespace ringside::hangs {

/// A folder of generated cases, removed at the end.
class GeneratedCases : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import pickle, json' 2>/dev/null") != 0) {
      GTEST_SKIP() << "needs python3";
    }
    folder_ = testing::TempDir() + "ringside_hangs_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    GenerateOptions options;
    options.cases = 4 * kFaultClasses;
    options.seed = 11;
    options.each.ranks = 8;
    const auto made = generate(options, folder_);
    ASSERT_TRUE(made) << made.error().message;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] int check(const std::string& corpus) const {
    const std::string command =
        "python3 " + std::string(RINGSIDE_CHECK_DUMPS) + " " + folder_ + " " + corpus;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string folder_;
};

}  // namespace ringside::hangs
