// In a folder where other users can create files, their files are never followed, and an unusable folder is reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/fd.h"
#include "tests/attach/fake_service.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

/// A folder for temporary files.
class TemporaryFiles : public testing::Test {
 protected:
  TemporaryFiles() {
    fs::remove_all(root_);
    fs::create_directories(root_ / "tmp");
  }
  ~TemporaryFiles() override { fs::remove_all(root_); }

  /// Runs the program in a process that has run this script before, so that the script knows its number.
  [[nodiscard]] Outcome run_after(const std::string& script, const std::string& words) const {
    return run_program({"-c", "cd " + (root_ / "tmp").string() + "; " + script + "; exec " +
                                  RINGSIDE_PROGRAM + " " + words},
                       {"TMPDIR=" + (root_ / "tmp").string()}, "/bin/sh");
  }

  const fs::path root_ = temporary_path("temporary_files");
};

TEST_F(TemporaryFiles, AReportOfALiveJobIsNotWrittenThroughALink) {
  const fs::path victim = root_ / "victim";
  std::ofstream(victim) << "precious";
  attach::FakeRas ras{.json = {attach::ras_json({5, 4})}};
  const attach::FakeService service([&](attach::FakeClient& client) { ras.serve(client); });
  const Outcome run = run_after("mkdir ringside-attach-$$; for i in 1 2 3; do ln -s " +
                                    victim.string() + " ringside-attach-$$/ncclras-$i.json; done",
                                "hang --live " + std::to_string(service.host().port));
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(*read_file(victim), "precious") << run.err;
  // The planted folder is there, and no other.
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "tmp"), fs::directory_iterator()), 1);
}

TEST_F(TemporaryFiles, ARunTakesNoFolderThatAnotherUserHasMade) {
  const Outcome run =
      run_after("mkdir -m 777 ringside-run-$$-0",
                std::string("run ") + RINGSIDE_SOURCE + "/scenarios/hangs/skipped-collective.yaml");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "tmp"), fs::directory_iterator()), 1);
}

TEST_F(TemporaryFiles, AFolderThatIsNotThereIsAnErrorOfEachVerbThatNeedsIt) {
  const std::string hangs = std::string(RINGSIDE_SOURCE) + "/scenarios/hangs/";
  const std::string dumps = root_ / "dumps";
  ASSERT_EQ(run_program({"generate", "hangs", "-o", dumps, "--class", "shape_mismatch", "--ranks",
                         "4", "--seed", "3"})
                .status,
            0);
  const std::vector<std::vector<std::string>> all = {
      {"run", hangs + "skipped-collective.yaml"},
      {"run", hangs + "skipped-collective.yaml", "--on", "real"},
      {"run", hangs + "init-never-connects.yaml"},
      {"hang", "--live", "1"},
      {"sim", "all_reduce", "--on", "dgx-h100", "--bytes", "1M", "--fault", "skip:rank=1,call=0"},
      {"reproduce", dumps}};
  for (const auto& words : all) {
    const Outcome run = run_program(words, {"TMPDIR=/nonexistent"});
    EXPECT_EQ(run.status, 3) << words[0] << ": " << run.err;
    EXPECT_THAT(run.err, StartsWith("error: "));
    EXPECT_THAT(run.err, HasSubstr("no temporary folder can be made in /nonexistent (TMPDIR)"));
    EXPECT_THAT(run.err, HasSubstr("help:  set TMPDIR"));
  }
}

// Root reads all folders: then as another user.
TEST_F(TemporaryFiles, AFolderToImportThatCannotBeReadIsNamed) {
  fs::create_directories(root_ / "dumps" / "closed");
  fs::permissions(root_ / "dumps" / "closed", fs::perms::none);
  const std::string as_user =
      ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  if (std::system((as_user + RINGSIDE_PROGRAM + " --version >/dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "needs setpriv, and a program that another user may run";
  }
  const Outcome run =
      run_program({"-c", "exec " + as_user + RINGSIDE_PROGRAM + " scenario import " +
                             (root_ / "dumps").string() + " -o /dev/null"},
                  {}, "/bin/sh");
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_THAT(run.err, StartsWith("error: "));
  EXPECT_THAT(run.err, HasSubstr("/dumps/closed: Permission denied"));
}

}  // namespace
}  // namespace ringside
