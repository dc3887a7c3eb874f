#include "base/shipped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class ShippedFile : public testing::Test {
 protected:
  ShippedFile() { fs::create_directories(root_); }
  ~ShippedFile() override { fs::remove_all(root_); }

  std::string make(const std::string& name, const std::string& text = "x") {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  [[nodiscard]] std::string in(const std::string& name) const { return root_ / name; }

 private:
  fs::path root_ = testing::TempDir() + "ringside_shipped_file_" + std::to_string(::getpid());
};

TEST_F(ShippedFile, IsInThePrefixOfTheProgram) {
  const std::string program = in("usr/bin/ringside");
  EXPECT_EQ(shipped_file("scenarios/none.yaml", program), std::nullopt);
  const std::string page = make("usr/share/ringside/scenarios/page.yaml");
  EXPECT_EQ(shipped_file("scenarios/page.yaml", program), page);
  EXPECT_EQ(shipped_file("./scenarios/page.yaml", program), page);
}

TEST_F(ShippedFile, IsInTheSourceTreeOfTheBuildTree) {
  const std::string program = in("build/dev/cli/ringside");
  const std::string file = make("source/scenarios/hangs/a.yaml");
  EXPECT_EQ(shipped_file("scenarios/hangs/a.yaml", program), std::nullopt);
  make("build/dev/CMakeCache.txt",
       "A:STRING=b\nCMAKE_HOME_DIRECTORY:INTERNAL=" + in("source") + "\n");
  EXPECT_EQ(shipped_file("scenarios/hangs/a.yaml", program), file);
}

TEST_F(ShippedFile, IsNoOtherFileOfThePrefix) {
  make("usr/share/ringside/secret");
  make("usr/share/ringside/scenarios/a.yaml");
  const std::string program = in("usr/bin/ringside");
  EXPECT_EQ(shipped_file("secret", program), std::nullopt);
  EXPECT_EQ(shipped_file("scenarios/../secret", program), std::nullopt);
  EXPECT_EQ(shipped_file("/scenarios/a.yaml", program), std::nullopt);
}

TEST_F(ShippedFile, InTheCurrentFolderComesFirst) {
  const std::string file = make("here/scenarios/page.yaml");
  make("usr/share/ringside/scenarios/page.yaml");
  const fs::path before = fs::current_path();
  fs::current_path(in("here"));
  EXPECT_EQ(shipped_file("scenarios/page.yaml", in("usr/bin/ringside")), "scenarios/page.yaml");
  fs::current_path(before);
  EXPECT_EQ(shipped_file(file, in("usr/bin/ringside")), file);  // and any path that exists
}

}  // namespace
}  // namespace ringside
