#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/fd.h"
#include "tests/cli/program.h"
#include "tests/study/published_folder.h"

// The files that verbs write, and those that they must not overwrite.

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

/// A command that writes one file. OUT is replaced by its path.
struct Writer {
  const char* name;
  std::vector<std::string> words;
};

const std::vector<Writer>& writers() {
  static const std::vector<Writer> all{
      {"bench_trace", {"bench", "all_reduce", "-n", "1", "-e", "8", "--trace", "OUT"}},
      {"bench_plot", {"bench", "all_reduce", "-n", "1", "-e", "8", "--plot", "OUT"}},
      {"sim_trace",
       {"sim", "all_reduce", "-b", "1K", "--on", "one-gpu-one-nic", "-N", "2", "--trace", "OUT"}},
      {"sim_plot",
       {"sim", "all_reduce", "-b", "1K", "--on", "one-gpu-one-nic", "-N", "2", "--plot", "OUT"}},
      {"topo_xml", {"topo", "--on", "one-gpu-one-nic", "--dump-xml", "OUT"}},
      {"topo_graph", {"topo", "--on", "one-gpu-one-nic", "--graph-xml", "OUT"}},
      {"audit_html", {"audit", "logs", "--html", "OUT"}},
      {"audit_topo", {"audit", "logs", "--topo", "OUT"}},
      {"hang_html", {"hang", "dumps", "--html", "OUT"}},
      {"reproduce", {"reproduce", "dumps", "-o", "OUT"}},
      {"reproduce_script", {"reproduce", "dumps", "--script", "OUT"}},
      {"scenario_import", {"scenario", "import", "dumps", "-o", "OUT"}},
      {"trace_html", {"trace", "export", "--html", "OUT", "run.rtrace"}},
      {"trace_perfetto", {"trace", "export", "--perfetto", "run.rtrace", "-o", "OUT"}},
      {"trace_merge", {"trace", "merge", "run.rtrace", "-o", "OUT"}},
      {"probe_plot", {"probe", "-n", "2", "--pairs", "--size", "64", "--plot", "OUT"}},
      {"validate_page",
       {"validate", "published", "--machines", "published/machines", "--page", "OUT"}},
      {"validate_plot",
       {"validate", "published", "--machines", "published/machines", "--plot", "OUT"}}};
  return all;
}

/// The evidence that the commands read, in a current folder of its own.
class Outputs : public testing::Test {
 protected:
  Outputs() {
    const fs::path root = temporary_path("outputs");
    fs::remove_all(root);
    fs::create_directories(root);
    fs::current_path(root);
  }
  ~Outputs() override {
    const fs::path root = fs::current_path();
    fs::current_path(before_);
    fs::remove_all(root);
  }

  static void make_evidence() {
    make({"generate", "logs", "-o", "logs", "--on", "dgx-a100", "-N", "2", "--nccl", "2.21.5",
          "--subsys", "INIT,GRAPH,ENV"});
    make({"generate", "hangs", "-o", "dumps", "--class", "missing_rank", "--ranks", "4", "--seed",
          "1"});
    make_trace();
    write_published("published");
  }
  static void make_trace() {
    make({"bench", "all_reduce", "-n", "2", "-e", "1K", "--trace", "run.rtrace"});
  }
  static void make(const std::vector<std::string>& words) {
    const Outcome made = run_program(words);
    ASSERT_EQ(made.status, 0) << made.err;
  }
  /// The command with `path` in OUT's place.
  static Outcome run(const Writer& writer, const std::string& path,
                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = writer.words;
    for (std::string& word : words) {
      if (word == "OUT") word = path;
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  const fs::path before_ = fs::current_path();
};

TEST_F(Outputs, EveryVerbReplacesOnlyFilesOfItsOwnKind) {
  make_evidence();
  const std::string notes = "notes of the user\n";
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.name);
    const std::string path = std::string(writer.name) + ".out";
    std::ofstream(path) << notes;
    const Outcome refused = run(writer, path);
    EXPECT_EQ(refused.status, 2) << refused.err;
    EXPECT_THAT(refused.err, StartsWith("error: --"));
    EXPECT_THAT(refused.err, HasSubstr(path + ": this file holds other text, not "));
    EXPECT_THAT(refused.err, HasSubstr("--force"));
    EXPECT_EQ(refused.out, "") << "it is known before the work";
    EXPECT_EQ(*read_file(path), notes);

    const Outcome forced = run(writer, path, {"--force"});
    EXPECT_LE(forced.status, 1) << forced.err;
    EXPECT_NE(*read_file(path), notes);
    const Outcome again = run(writer, path);
    EXPECT_LE(again.status, 1) << "it knows what it wrote: " << again.err;

    const Outcome full = run(writer, "/dev/full");
    EXPECT_EQ(full.status, 3) << full.out;
    EXPECT_THAT(full.err, HasSubstr("/dev/full"));
  }
  for (const auto& entry : fs::directory_iterator(".")) {
    EXPECT_THAT(entry.path().string(), testing::Not(testing::EndsWith(".part")));
  }
}

TEST_F(Outputs, TheDemoChecksItsOutputsBeforeItsFirstStep) {
  std::ofstream("demo-sim.json") << "notes\n";
  const Outcome refused = run_program({"demo"});
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("demo-sim.json: this file holds other text"));
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(*read_file("demo-sim.json"), "notes\n");
}

TEST_F(Outputs, TheDemoNamesAFolderThatCannotBeMade) {
  const Outcome refused = run_program({"demo", "--dir", "/dev/null/new"});
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--dir /dev/null/new: cannot be made"));
  EXPECT_EQ(refused.out, "");
}

// The order of the two files is easily mistaken.
TEST_F(Outputs, RefusesToReplaceATraceByAPage) {
  make_trace();
  fs::copy("run.rtrace", "other.rtrace");
  const std::string before = *read_file("run.rtrace");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--html", "run.rtrace", "other.rtrace"},
        {"--html", "other.rtrace", "run.rtrace"},
        {"--html", "run.rtrace", "run.rtrace"},
        {"--perfetto", "other.rtrace", "-o", "run.rtrace"}}) {
    std::vector<std::string> all{"trace", "export"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome refused = run_program(all);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr(".rtrace"));
    EXPECT_EQ(*read_file("run.rtrace"), before);
    EXPECT_EQ(*read_file("other.rtrace"), before);
  }
}

TEST_F(Outputs, AnInputStaysEvenWhereForced) {
  make_trace();
  make({"topo", "--on", "one-gpu-one-nic", "--dump-xml", "host.xml"});
  fs::create_directories("logs");
  std::ofstream("logs/page.html") << "<!doctype html>\n";
  std::ofstream("logs/rank0.log") << "n01:411:411 [0] NCCL INFO Bootstrap\n";
  fs::create_symlink("host.xml", "link.xml");
  const std::vector<std::vector<std::string>> all{
      {"trace", "merge", "run.rtrace", "-o", "run.rtrace"},
      {"trace", "merge", "run.rtrace", "-o", "./run.rtrace"},
      {"topo", "--on", "host.xml", "--dump-xml", "host.xml"},
      {"topo", "--on", "host.xml:2", "--dump-xml", "link.xml"},
      {"topo", "--on", "one-gpu-one-nic,host.xml:2", "--graph-xml", "host.xml"},
      {"sim", "all_reduce", "-b", "1K", "--on", "host.xml", "--plot", "host.xml"},
      {"audit", "logs/page.html", "--html", "logs/page.html"},
      {"audit", "logs/*.log", "--html", "logs/rank0.log"},
      {"audit", "logs", "--topo", "logs/rank0.log"},
      {"trace", "export", "--html", "run.rtrace", "run.rtrace"}};
  for (std::vector<std::string> words : all) {
    const std::string path = words.back();
    const std::string before = *read_file(path);
    words.emplace_back("--force");
    const Outcome refused = run_program(words);
    EXPECT_EQ(refused.status, 2) << words[1] << ": " << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("what this command reads"));
    EXPECT_EQ(*read_file(path), before);
  }
}

TEST_F(Outputs, AnUnnamedOutputPathIsCheckedToo) {
  make_trace();
  std::ofstream("run.json") << "{\"dependencies\": {}}\n";
  const Outcome refused = run_program({"trace", "export", "--perfetto", "run.rtrace"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("run.json: this file holds JSON"));
  EXPECT_EQ(*read_file("run.json"), "{\"dependencies\": {}}\n");
  make({"trace", "export", "--perfetto", "run.rtrace", "--force"});
  make({"trace", "export", "--perfetto", "run.rtrace"});
}

TEST_F(Outputs, TwoOutputsMustBeDifferentFiles) {
  std::ofstream("rank0.log") << "n01:411:411 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.1<0>\n";
  const Outcome same = run_program({"audit", "rank0.log", "--html", "x", "--topo", "./x"});
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("--html and --topo are both"));
  EXPECT_FALSE(fs::exists("x"));
}

TEST_F(Outputs, APatternIsFilledInBeforeItIsChecked) {
  std::ofstream("job.%.rtrace") << "notes";
  const Outcome refused =
      run_program({"bench", "all_reduce", "-n", "1", "-e", "8", "--trace", "job.%%.rtrace"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(*read_file("job.%.rtrace"), "notes");
}

// A limit on the size of files is a disk that becomes full during writing.
TEST_F(Outputs, AnOlderFileStaysWhereTheNewOneFails) {
  make({"bench", "all_reduce", "-n", "2", "-e", "64K", "--trace", "run.rtrace"});
  const std::vector<std::pair<std::string, std::string>> all{
      {"trace export run.rtrace --html OLD", "<!doctype html>\nold\n"},
      {"trace export run.rtrace --perfetto -o OLD", R"({"otherData":{"source":"ringside"}})"},
      {"trace merge run.rtrace -o OLD", *read_file("run.rtrace")},
      {"topo --on dgx-h100 --dump-xml OLD", "<system version=\"1\">"}};
  for (const auto& [words, old] : all) {
    std::ofstream("OLD", std::ios::binary | std::ios::trunc) << old;
    const Outcome failed = run_program(
        {"-c", "trap '' XFSZ; ulimit -f 4; exec " + std::string(RINGSIDE_PROGRAM) + " " + words},
        {}, "/bin/sh");
    EXPECT_EQ(failed.status, 3) << words << failed.out;
    EXPECT_THAT(failed.err, HasSubstr("OLD"));
    EXPECT_TRUE(*read_file("OLD") == old) << words;
    EXPECT_EQ(std::distance(fs::directory_iterator("."), fs::directory_iterator()), 2)
        << "no draft is left";
  }
}

TEST_F(Outputs, ASweepWritesOnlyIntoItsFolder) {
  std::ofstream("index.html") << "mine";
  const std::string sweep = std::string(RINGSIDE_SOURCE) + "/scenarios/buying/tcp-or-rdma.yaml";
  const Outcome refused = run_program({"sweep", sweep, "-o", ".", "--report-only"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("the folder holds other files"));
  EXPECT_EQ(*read_file("index.html"), "mine");
  EXPECT_FALSE(fs::exists("results.sqlite"));
  make({"sweep", sweep, "-o", "new", "--report-only"});
  make({"sweep", sweep, "-o", "new", "--report-only"});
}

}  // namespace
}  // namespace ringside
