#include "sim/find_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder that goes with the test.
class FindWorker : public testing::Test {
 protected:
  FindWorker() { fs::create_directories(root_); }
  ~FindWorker() override { fs::remove_all(root_); }

  fs::path make(const std::string& name, bool is_executable = true) {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    if (is_executable) fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  [[nodiscard]] std::string in(const std::string& name) const { return root_ / name; }

 private:
  fs::path root_ = testing::TempDir() + "ringside_find_worker_" + std::to_string(::getpid());
};

TEST_F(FindWorker, NextToTheProgramComesBeforeThePrefixAndTheInstalledOne) {
  const WorkerPlaces places{.program = in("usr/bin/ringside"), .installed = in("opt/worker")};
  make("opt/worker");
  EXPECT_EQ(*find_worker(places), in("opt/worker"));
  make("usr/libexec/ringside/ringside-simgrid");
  EXPECT_EQ(*find_worker(places), in("usr/libexec/ringside/ringside-simgrid"));
  make("usr/bin/ringside-simgrid");
  EXPECT_EQ(*find_worker(places), in("usr/bin/ringside-simgrid"));
}

TEST_F(FindWorker, InTheBuildTreeThatHoldsTheProgramAndInNoOtherFolder) {
  const WorkerPlaces places{.program = in("build/tests/sim/some_test")};
  make("build/sim/simgrid/ringside-simgrid");
  EXPECT_FALSE(find_worker(places));
  make("build/CMakeCache.txt", false);
  EXPECT_EQ(*find_worker(places), in("build/sim/simgrid/ringside-simgrid"));
}

TEST_F(FindWorker, TheOneThatIsNamedAndNoOther) {
  make("usr/bin/ringside-simgrid");
  make("mine");
  WorkerPlaces places{.named = in("mine"), .program = in("usr/bin/ringside")};
  EXPECT_EQ(*find_worker(places), in("mine"));
  places.named = in("not-there");
  const auto found = find_worker(places);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(found.error().message, HasSubstr(in("not-there")));
  EXPECT_THAT(found.error().help, HasSubstr("RINGSIDE_SIMGRID"));
}

TEST_F(FindWorker, AFolderIsNotAProgram) {
  make("mine/file");
  const auto found = find_worker({.named = in("mine")});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr(in("mine")));
  EXPECT_THAT(found.error().help, HasSubstr("a program that can be run"));
}

TEST_F(FindWorker, NowhereNamesEveryPlace) {
  make("usr/bin/ringside-simgrid", false);  // it cannot be run
  const auto found =
      find_worker({.program = in("usr/bin/ringside"), .installed = in("opt/worker")});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr(in("usr/bin/ringside-simgrid")));
  EXPECT_THAT(found.error().message, HasSubstr(in("usr/libexec/ringside/ringside-simgrid")));
  EXPECT_THAT(found.error().message, HasSubstr(in("opt/worker")));
  EXPECT_THAT(found.error().help, HasSubstr("RINGSIDE_SIMGRID=PATH"));
}

}  // namespace
}  // namespace ringside
