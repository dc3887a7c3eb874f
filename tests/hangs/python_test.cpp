#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "harness/hangs/generate.h"
#include "tests/hangs/generated.h"

namespace ringside::hangs {
namespace {

namespace fs = std::filesystem;

TEST_F(GeneratedCases, DumpsLoadInPythonAndEqualTheirJson) { EXPECT_EQ(check(""), 0); }

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

// A truth.json does not make the other files ours: labelled logs have one, too.
TEST(Generate, AFolderThatHoldsAnythingIsLeftAlone) {
  const std::string folder =
      testing::TempDir() + "ringside_hangs_other_" + std::to_string(::getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"/precious.txt", "/truth.json"}) {
    std::fclose(std::fopen((folder + name).c_str(), "w"));
    for (const int cases : {1, 2}) {
      GenerateOptions options;
      options.cases = cases;
      const auto made = generate(options, folder);
      ASSERT_FALSE(made);
      EXPECT_EQ(made.error().code, ErrorCode::InvalidArgument);
      EXPECT_TRUE(fs::exists(folder + "/precious.txt"));
    }
  }
  EXPECT_FALSE(fs::exists(folder + "/case-0000"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ringside::hangs
