#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "harness/hangs/generate.h"
#include "tests/hangs/generated.h"

namespace ringside::hangs {
namespace {

namespace fs = std::filesystem;

TEST_F(GeneratedCases, DumpsLoadInPythonAndTheirJsonSaysTheSame) { EXPECT_EQ(check(""), 0); }

TEST_F(GeneratedCases, TheSameSeedGivesTheSameBytes) {
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
