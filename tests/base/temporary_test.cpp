#include "base/temporary.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/write_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

/// A folder in place of /tmp.
class Temporary : public testing::Test {
 protected:
  Temporary() {
    fs::remove_all(root_);
    fs::create_directories(root_);
    ::setenv("TMPDIR", root_.c_str(), 1);
  }
  ~Temporary() override {
    fs::remove_all(root_);
    if (before_) {
      ::setenv("TMPDIR", before_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
  }

  /// Creates a symbolic link as another user of the machine could, for the tested code to follow.
  void plant_link(const std::string& name, const fs::path& target) const {
    fs::create_symlink(target, root_ / name);
    ASSERT_EQ(::lchown((root_ / name).c_str(), 65534, 65534), 0);
  }

  const fs::path root_ = testing::TempDir() + "ringside_temporary_" + std::to_string(::getpid());
  const std::optional<std::string> before_ =
      std::getenv("TMPDIR") == nullptr ? std::nullopt : std::optional(std::getenv("TMPDIR"));
};

TEST_F(Temporary, AFolderIsThisUsersAloneAndGoesWithAllInIt) {
  fs::path path;
  {
    const auto folder = TemporaryFolder::make("test");
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    EXPECT_THAT(path.string(), StartsWith((root_ / "ringside-test-").string()));
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    EXPECT_NE(TemporaryFolder::make("test")->path(), folder->path());
    std::ofstream(path / "file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(Temporary, AFolderThatIsMovedIsRemovedOnce) {
  std::optional<TemporaryFolder> kept;
  {
    auto made = TemporaryFolder::make("test");
    ASSERT_TRUE(made);
    kept.emplace(*std::move(made));
  }
  EXPECT_TRUE(fs::is_directory(kept->path()));
  kept.reset();
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(Temporary, AFolderThatCannotBeMadeNamesTmpdir) {
  ::setenv("TMPDIR", "/nonexistent", 1);
  const auto folder = TemporaryFolder::make("test");
  ASSERT_FALSE(folder);
  EXPECT_EQ(exit_status(folder.error().code), 3);
  EXPECT_EQ(folder.error().message,
            "no temporary folder can be made in /nonexistent (TMPDIR): No such file or directory");
  EXPECT_THAT(folder.error().help, HasSubstr("TMPDIR"));
}

TEST_F(Temporary, AnotherUsersLinkInASharedFolderIsNotWrittenThrough) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: it makes files of another user";
  std::ofstream(root_ / "victim") << "precious";
  plant_link("link", root_ / "victim");
  fs::permissions(root_, fs::perms::all);
  EXPECT_FALSE(open_for_writing(root_ / "link", O_TRUNC));
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(*read_file(root_ / "victim"), "precious");
  // A file that is renamed into place when it is complete replaces the link.
  plant_link("other", root_ / "victim");
  fs::permissions(root_, fs::perms::all);
  ASSERT_TRUE(write_file(root_ / "other", "text"));
  EXPECT_EQ(*read_file(root_ / "victim"), "precious");
  EXPECT_EQ(*read_file(root_ / "other"), "text");
  // In a folder that the user owns, links that the user created are followed.
  fs::permissions(root_, fs::perms::owner_all);
  EXPECT_TRUE(open_for_writing(root_ / "link", O_TRUNC));
  EXPECT_EQ(*read_file(root_ / "victim"), "");
}

TEST_F(Temporary, AUsersOwnLinkIsWrittenThrough) {
  fs::permissions(root_, fs::perms::all);
  fs::create_symlink(root_ / "target", root_ / "link");
  EXPECT_TRUE(open_for_writing(root_ / "link", O_TRUNC));
  EXPECT_TRUE(fs::is_regular_file(root_ / "target"));
}

}  // namespace
}  // namespace ringside
