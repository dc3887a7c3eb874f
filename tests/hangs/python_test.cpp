#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/env.h"
#include "base/fd.h"
#include "harness/hangs/generate.h"

namespace ringside::hangs {
namespace {

namespace fs = std::filesystem;

/// A folder of generated cases, removed at the end.
class Generated : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import pickle, json' 2>/dev/null") != 0) {
      GTEST_SKIP() << "needs python3";
    }
    folder_ = testing::TempDir() + "ringside_hangs_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    GenerateOptions options;
    options.cases = 4 * kFaultClasses;
    options.seed = 11;
    options.each.ranks = 8;
    const auto made = generate(options, folder_);
    ASSERT_TRUE(made) << made.error().message;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] int check(const std::string& corpus) const {
    const std::string command =
        "python3 " + std::string(RINGSIDE_CHECK_DUMPS) + " " + folder_ + " " + corpus;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string folder_;
};

TEST_F(Generated, DumpsLoadInPythonAndTheirJsonSaysTheSame) { EXPECT_EQ(check(""), 0); }

TEST_F(Generated, DumpsAreBuiltAsRealOnesAre) {
  const std::string corpus =
      env_text("RINGSIDE_SHARED").value_or(RINGSIDE_DEFAULT_SHARED) + "/corpus";
  if (!fs::exists(corpus)) {
    GTEST_SKIP() << "no real dumps: set RINGSIDE_SHARED to the folder that holds corpus/";
  }
  EXPECT_EQ(check(corpus), 0);
}

TEST_F(Generated, TheSameSeedGivesTheSameBytes) {
  const std::string again = folder_ + "_again";
  fs::remove_all(again);
  GenerateOptions options;
  options.cases = 4 * kFaultClasses;
  options.seed = 11;
  options.each.ranks = 8;
  ASSERT_TRUE(generate(options, again));
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string twin = again + entry.path().string().substr(folder_.size());
    EXPECT_EQ(*read_file(entry.path().string()), *read_file(twin)) << twin;
  }
  EXPECT_GT(files, 100);
  fs::remove_all(again);
}

TEST(Generate, AFolderOfSomebodyElseIsLeftAlone) {
  const std::string folder = testing::TempDir() + "ringside_hangs_other";
  fs::create_directories(folder);
  std::fclose(std::fopen((folder + "/precious.txt").c_str(), "w"));
  const auto made = generate({}, folder);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, folder + ": holds files of somebody else");
  EXPECT_TRUE(fs::exists(folder + "/precious.txt"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ringside::hangs
