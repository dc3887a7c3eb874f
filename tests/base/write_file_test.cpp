#include "base/write_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/fd.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WriteFile : public testing::Test {
 protected:
  WriteFile() { fs::create_directories(root_); }
  ~WriteFile() override { fs::remove_all(root_); }

  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(root_), fs::directory_iterator());
  }

  const fs::path root_ = testing::TempDir() + "ringside_write_" + std::to_string(::getpid());
};

TEST_F(WriteFile, MakesAndReplacesWithTheSameRights) {
  const std::string path = root_ / "file";
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path, std::string_view("n\0w", 3)));
  EXPECT_EQ(*read_file(path), std::string("n\0w", 3));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1) << "no draft is left";
}

TEST_F(WriteFile, ALinkStaysALink) {
  ASSERT_TRUE(write_file(root_ / "file", "old"));
  fs::create_symlink("file", root_ / "link");
  ASSERT_TRUE(write_file(root_ / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(*read_file(root_ / "file"), "new");
  fs::create_symlink("later", root_ / "nowhere");
  ASSERT_TRUE(write_file(root_ / "nowhere", "new"));
  EXPECT_TRUE(fs::is_symlink(root_ / "nowhere"));
  EXPECT_EQ(*read_file(root_ / "later"), "new");
}

TEST_F(WriteFile, AReplacedLinkDoesNotPassOnTheRightsOfItsTarget) {
  ASSERT_TRUE(write_file(root_ / "file", "old"));
  ASSERT_EQ(::chmod((root_ / "file").c_str(), 0602), 0);
  fs::create_symlink("file", root_ / "link");
  ASSERT_TRUE(write_file(root_ / "link", "new", NewFile::Links::Replace));
  EXPECT_FALSE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(*read_file(root_ / "file"), "old");
  EXPECT_NE(fs::status(root_ / "link").permissions(), fs::perms(0602));
}

TEST_F(WriteFile, AFullDiskIsAnError) {
  const Status full = write_file("/dev/full", "text");
  ASSERT_FALSE(full);
  EXPECT_EQ(exit_status(full.error().code), 3);
  EXPECT_THAT(full.error().message, HasSubstr("/dev/full"));
  EXPECT_THAT(full.error().message, HasSubstr("No space left on device"));
  const Status lost = write_file("/nonexistent/file", "text");
  ASSERT_FALSE(lost);
  EXPECT_EQ(exit_status(lost.error().code), 3);
  EXPECT_THAT(lost.error().message, HasSubstr("No such file or directory"));
}

TEST_F(WriteFile, AnOlderFileStaysUntilTheNewOneIsWhole) {
  const std::string path = root_ / "file";
  ASSERT_TRUE(write_file(path, "old"));
  {
    const NewFile failed(path);
    std::ofstream(failed.draft()) << "half of the n";
    EXPECT_EQ(*read_file(path), "old");
  }
  EXPECT_EQ(*read_file(path), "old");
  EXPECT_EQ(files(), 1) << "the draft is gone";
}

TEST_F(WriteFile, DoesNotOpenAnotherProcesssFileAsItsDraft) {
  const NewFile fresh(root_ / "file");
  std::ofstream(fresh.draft()) << "of another process";
  EXPECT_FALSE(fresh.open());
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(NewFile("/dev/null").open()) << "written in place";
}

TEST_F(WriteFile, APipeIsWrittenInPlace) {
  NewFile device("/dev/null");
  EXPECT_EQ(device.draft(), "/dev/null");
  EXPECT_TRUE(device.keep());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AnswerOnStdout, ReturnsTheResultOfTheWork) {
  EXPECT_EQ(*answer_on_stdout([] { return 1; }), 1);
  const auto failed = answer_on_stdout([]() -> Result<int> {
    return Error{ErrorCode::Corrupt, "no", "help"};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
}

}  // namespace
}  // namespace ringside
