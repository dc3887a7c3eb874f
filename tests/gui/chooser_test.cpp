#include "gui/model/session/chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ringside::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ChooserTest : public testing::Test {
 protected:
  ChooserTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/dumps");
    for (const char* const name : {"b.rtrace", "a.rtrace", "job.yaml", "notes.txt", ".hidden"})
      std::ofstream(folder_ + "/" + name) << "12345";
  }
  ~ChooserTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] const FolderEntry& entry(const std::string& name) const {
    return *std::ranges::find(chooser_.entries(), name, &FolderEntry::name);
  }

  std::string folder_ = testing::TempDir() + "ringside_chooser_" + std::to_string(::getpid());
  Chooser chooser_;
};

TEST_F(ChooserTest, FoldersComeFirstThenWhatCanBeOpened) {
  chooser_.go(folder_ + "/");
  std::vector<std::string> names;
  for (const FolderEntry& one : chooser_.entries()) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("dumps", "a.rtrace", "b.rtrace", "job.yaml", "notes.txt"));
  EXPECT_EQ(entry("a.rtrace").bytes, 5U);
  EXPECT_EQ(chooser_.folder(), folder_);
}

TEST_F(ChooserTest, OpensTheMarkedFilesOrElseTheFolder) {
  chooser_.go(folder_);
  EXPECT_THAT(chooser_.paths(), ElementsAre(folder_));
  chooser_.click(entry("b.rtrace"));
  chooser_.click(entry("a.rtrace"));
  EXPECT_THAT(chooser_.paths(), ElementsAre(folder_ + "/a.rtrace", folder_ + "/b.rtrace"));
  chooser_.click(entry("a.rtrace"));
  EXPECT_THAT(chooser_.paths(), ElementsAre(folder_ + "/b.rtrace"));
  chooser_.click(entry("dumps"));
  EXPECT_THAT(chooser_.paths(), ElementsAre(folder_ + "/dumps"));
}

TEST_F(ChooserTest, ATypedFileIsMarkedInItsFolder) {
  chooser_.go(folder_ + "/job.yaml");
  EXPECT_EQ(chooser_.folder(), folder_);
  EXPECT_TRUE(chooser_.is_marked("job.yaml"));
}

TEST_F(ChooserTest, ReportsAMissingFolder) {
  chooser_.go(folder_ + "/none");
  EXPECT_TRUE(chooser_.entries().empty());
  EXPECT_THAT(chooser_.trouble(), HasSubstr("none"));
  chooser_.go("/");
  EXPECT_EQ(chooser_.folder(), "/");
}

}  // namespace
}  // namespace ringside::gui
