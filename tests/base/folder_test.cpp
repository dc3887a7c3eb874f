#include "base/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A new folder that is removed afterwards.
class EmptyFolder : public testing::Test {
 protected:
  EmptyFolder() { fs::create_directories(root_); }
  ~EmptyFolder() override { fs::remove_all(root_); }

  const fs::path root_ = testing::TempDir() + "ringside_folder_" + std::to_string(::getpid());
};

TEST_F(EmptyFolder, IsMadeWithThoseAboveItAndMayBeThereAlready) {
  const fs::path path = root_ / "a" / "b";
  EXPECT_TRUE(make_empty_folder(path));
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_TRUE(make_empty_folder(path));
  EXPECT_TRUE(make_empty_folder(path.string() + "/"));
}

TEST_F(EmptyFolder, OneThatHoldsAnythingIsRefusedAndKeepsIt) {
  fs::create_directory(root_ / ".git");
  const Status made = make_empty_folder(root_);
  ASSERT_FALSE(made);
  EXPECT_EQ(exit_status(made.error().code), 2);
  EXPECT_THAT(made.error().message, HasSubstr(root_.string()));
  EXPECT_THAT(made.error().help, HasSubstr("empty"));
  EXPECT_TRUE(fs::exists(root_ / ".git"));
}

TEST_F(EmptyFolder, AFileInItsWayIsRefusedAndKept) {
  std::ofstream(root_ / "file") << "text";
  for (const fs::path& path : {root_ / "file", root_ / "file" / "below"}) {
    const Status made = make_empty_folder(path);
    ASSERT_FALSE(made);
    EXPECT_EQ(exit_status(made.error().code), 2) << made.error().message;
    EXPECT_THAT(made.error().help, HasSubstr("name a folder"));
  }
  EXPECT_EQ(fs::file_size(root_ / "file"), 4U);
}

TEST_F(EmptyFolder, ACommandContinuesOnlyInItsOwnFolders) {
  EXPECT_TRUE(check_own_folder(root_ / "new", "results.sqlite"));
  EXPECT_FALSE(fs::exists(root_ / "new")) << "looking makes nothing";
  EXPECT_TRUE(check_own_folder(root_, "results.sqlite")) << "empty";
  std::ofstream(root_ / "index.html") << "mine";
  const Status other = check_own_folder(root_, "results.sqlite");
  ASSERT_FALSE(other);
  EXPECT_EQ(exit_status(other.error().code), 2);
  EXPECT_THAT(other.error().message, HasSubstr("results.sqlite"));
  EXPECT_FALSE(check_own_folder(root_ / "index.html", "results.sqlite")) << "a file";
  std::ofstream(root_ / "results.sqlite") << "";
  EXPECT_TRUE(check_own_folder(root_, "results.sqlite"));
}

TEST_F(EmptyFolder, ErrorsOfTheSystemNameAFix) {
  const Status made = make_empty_folder("/proc/ringside");
  ASSERT_FALSE(made);
  EXPECT_EQ(exit_status(made.error().code), 3);
  EXPECT_THAT(made.error().help, HasSubstr("name one"));
}

TEST_F(EmptyFolder, FilesBelowItAreListedWithoutFollowingLinksToFolders) {
  fs::create_directories(root_ / "b" / "c");
  std::ofstream(root_ / "b" / "c" / "file");
  std::ofstream(root_ / "a");
  fs::create_directory_symlink("b", root_ / "link");
  const auto files = files_below(root_);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(*files, (std::vector<std::string>{root_ / "a", root_ / "b" / "c" / "file"}));
  EXPECT_EQ(*names_in(root_), (std::vector<std::string>{"a", "b", "link"}));
}

TEST_F(EmptyFolder, OneThatIsNotThereHasNoNames) {
  const auto names = names_in(root_ / "nothing");
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error().message, HasSubstr("nothing: cannot be read: No such file"));
  EXPECT_TRUE(names_or_none(root_ / "nothing").empty());
}

// Runs in a process that is not root's, as root can read every folder.
TEST_F(EmptyFolder, OneBelowItThatCannotBeReadIsNamed) {
  fs::create_directories(root_ / "closed");
  fs::permissions(root_ / "closed", fs::perms::none);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    const auto files = files_below(root_);
    const bool is_named = !files && files.error().message.find(
                                        "/closed: "
                                        "Permission denied") != std::string::npos;
    ::_exit(is_named ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ringside
