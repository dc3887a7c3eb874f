#include "base/walk_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/support/other_user.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class WalkFolder : public testing::Test {
 protected:
  WalkFolder() {
    fs::create_directories(root_ / "a" / "deep");
    fs::create_directories(root_ / "b");
    for (const char* const name : {"a/1", "a/deep/2", "b/3", "4"})
      std::ofstream(root_ / name) << "";
    fs::create_directory_symlink("..", root_ / "b" / "up");
  }
  ~WalkFolder() override {
    fs::permissions(root_ / "a", fs::perms::owner_all);
    fs::permissions(root_, fs::perms::owner_all);
    fs::remove_all(root_);
  }

  std::vector<UnreadFolder> walk(const std::string& without = "") {
    seen_.clear();
    return walk_folder(root_, [&](const fs::directory_entry& entry) {
      seen_.insert(entry.path().lexically_relative(root_).string());
      return entry.path().filename() != without;
    });
  }

  const fs::path root_ = testing::TempDir() + "ringside_walk_" + std::to_string(::getpid());
  std::set<std::string> seen_;
};

TEST_F(WalkFolder, SeesAllOnceAndFollowsNoLinks) {
  EXPECT_TRUE(walk().empty());
  EXPECT_THAT(seen_, ElementsAre("4", "a", "a/1", "a/deep", "a/deep/2", "b", "b/3", "b/up"));
}

TEST_F(WalkFolder, VisitsTheFoldersThatTheVisitorAccepts) {
  EXPECT_TRUE(walk("a").empty());
  EXPECT_THAT(seen_, ElementsAre("4", "a", "b", "b/3", "b/up"));
}

TEST_F(WalkFolder, NamesUnreadableFoldersAndContinues) {
  fs::permissions(root_ / "a", fs::perms::none);
  const OtherUser user;
  const std::vector<UnreadFolder> unread = walk();
  ASSERT_EQ(unread.size(), 1U);
  EXPECT_EQ(unread[0].path, (root_ / "a").string());
  EXPECT_EQ(unread[0].error.message(), "Permission denied");
  EXPECT_THAT(seen_, ElementsAre("4", "a", "b", "b/3", "b/up"));
}

TEST_F(WalkFolder, TheFolderItselfMayBeUnreadableOrGone) {
  fs::permissions(root_, fs::perms::none);
  {
    const OtherUser user;
    const std::vector<UnreadFolder> unread = walk();
    ASSERT_EQ(unread.size(), 1U);
    EXPECT_EQ(unread[0].path, root_.string());
    EXPECT_EQ(unread[0].error.message(), "Permission denied");
  }
  EXPECT_EQ(walk_folder("/nonexistent", [](const auto&) { return true; }).size(), 1U);
}

}  // namespace
}  // namespace ringside
