#include "base/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "tests/support/other_user.h"
#include "trace/format.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Sample {
  ContentKind kind;
  std::string head;
};

std::vector<Sample> samples() {
  const auto& magic = rtrace::kFileMagic;
  return {{ContentKind::Empty, ""},
          {ContentKind::Trace, std::string(magic.begin(), magic.end()) + std::string(8, '\0')},
          {ContentKind::Png, std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)},
          {ContentKind::Film, std::string("\x1a\x45\xdf\xa3\x01\0", 6)},
          {ContentKind::Film, std::string("\0\0\0\x20"
                                          "ftypisom",
                                          12)},
          {ContentKind::Film, "GIF89a"},
          {ContentKind::WebPage, "<!doctype html>\n<meta charset=utf-8>"},
          {ContentKind::WebPage, "\n <HTML><head>"},
          {ContentKind::WebPage, "\xef\xbb\xbf<!DOCTYPE html>"},
          {ContentKind::Svg, "<svg xmlns=\"http://www.w3.org/2000/svg\">"},
          {ContentKind::Svg, "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<svg>"},
          {ContentKind::TopologyXml, "<system version=\"1\">"},
          {ContentKind::TopologyXml, "<?xml version=\"1.0\"?>\n<system>"},
          {ContentKind::GraphXml, "<graphs version=\"1\">"},
          {ContentKind::OtherXml, "<topology version=\"2.0\">"},
          {ContentKind::OtherXml, "<?xml version=\"1.0\"?>"},
          {ContentKind::PerfettoJson,
           "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"source\":\"ringside\"}"},
          {ContentKind::OtherJson, "{\"schemaVersion\": 1, \"traceEvents\": ["},
          {ContentKind::OtherJson, "[\n  {\"a\": 1}]"},
          {ContentKind::OtherJson, "{}"},
          {ContentKind::ReproducedScript,
           "#!/usr/bin/env python3\n# Written by ringside reproduce: makes the calls"},
          {ContentKind::Text, "#!/usr/bin/env python3\nimport torch\n"},
          {ContentKind::Scenario, "# not known: x\nringside: scenario/1\nname: a\n"},
          {ContentKind::OtherYaml, "ringside: cluster/1\n"},
          {ContentKind::AccuracyTable, "| system | 1K: median |"},
          {ContentKind::Pickle, std::string("\x80\x04\x95\0", 4)},
          {ContentKind::Compressed, "\x1f\x8b\x08"},
          {ContentKind::Text, "[0] NCCL INFO Bootstrap\n"},
          {ContentKind::Text, "my notes: ringside: scenario/1"},
          {ContentKind::Binary, std::string("a\0b", 3)}};
}

TEST(ContentKind, IsKnownByTheFirstBytes) {
  for (const auto& [kind, head] : samples()) {
    EXPECT_EQ(to_string(content_kind_of(head)), std::string(to_string(kind))) << head;
  }
}

class Outputs : public testing::Test {
 protected:
  Outputs() { fs::create_directories(root_); }
  ~Outputs() override { fs::remove_all(root_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
    return root_ / name;
  }
  static Status check(const std::string& path, ContentKind kind,
                      const std::vector<std::string>& inputs = {}, bool force = false) {
    return check_output({"--out", path, kind}, inputs, force);
  }

  const fs::path root_ = testing::TempDir() + "ringside_output_" + std::to_string(::getpid());
};

// Writes each kind over each sample: only a file of the same kind, or an empty file, may be replaced.
TEST_F(Outputs, AFileOfAnotherKindIsRefused) {
  for (const auto& [kind, head] : samples()) {
    const std::string path = write("file", head);
    for (const ContentKind own :
         {ContentKind::Trace, ContentKind::WebPage, ContentKind::Svg, ContentKind::Png,
          ContentKind::PerfettoJson, ContentKind::Scenario, ContentKind::ReproducedScript,
          ContentKind::TopologyXml}) {
      const Status may = check(path, own);
      EXPECT_EQ(may.has_value(), own == kind || head.empty()) << to_string(own) << ": " << head;
      EXPECT_TRUE(check(path, own, {}, true)) << "by force";
      if (may) continue;
      EXPECT_EQ(exit_status(may.error().code), 2);
      EXPECT_THAT(may.error().message, HasSubstr("--out " + path));
      EXPECT_THAT(may.error().message, HasSubstr(to_string(kind)));
      EXPECT_THAT(may.error().help, HasSubstr("--force"));
    }
    EXPECT_EQ(*read_file(path), head) << "looking changes nothing";
  }
}

TEST_F(Outputs, AnInputIsRefusedEvenByForce) {
  const std::string path = write("a.rtrace", samples()[1].head);
  fs::create_symlink(path, root_ / "link");
  fs::create_hard_link(path, root_ / "same");
  for (const char* const name : {"a.rtrace", "./a.rtrace", "link", "same"}) {
    const Status may = check(root_ / name, ContentKind::Trace, {"/nonexistent", path}, true);
    ASSERT_FALSE(may) << name;
    EXPECT_THAT(may.error().message, HasSubstr("what this command reads"));
  }
  EXPECT_TRUE(check(path, ContentKind::Trace, {"", "/nonexistent"}));
}

TEST_F(Outputs, AFileInAFolderThatIsReadIsAnInput) {
  fs::create_directories(root_ / "logs" / "deep");
  const std::string log = write("logs/deep/rank0.log", "a log\n");
  const std::string page = write("logs/report.html", "<!doctype html>");
  const std::string other = write("other.log", "a log\n");
  for (const std::string& folder : {root_.string() + "/logs", root_.string() + "/logs/deep/.."}) {
    EXPECT_FALSE(check(log, ContentKind::WebPage, {folder}, true)) << "even by force";
    EXPECT_TRUE(check(page, ContentKind::WebPage, {folder})) << "an older report among the logs";
    EXPECT_TRUE(check(other, ContentKind::WebPage, {folder}, true)) << "next to the folder";
  }
}

TEST_F(Outputs, NewPathsPipesAndDevicesMayBeWritten) {
  EXPECT_TRUE(check("", ContentKind::Svg));
  EXPECT_TRUE(check("-", ContentKind::Svg));
  EXPECT_TRUE(check("/dev/null", ContentKind::Svg));
  EXPECT_TRUE(check(root_ / "new.svg", ContentKind::Svg));
  EXPECT_FALSE(fs::exists(root_ / "new.svg")) << "looking makes nothing";
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(check(root_ / "pipe", ContentKind::Svg))
      << "and the check does not wait for its other end";
}

TEST_F(Outputs, APlaceThatCannotBeWrittenIsKnownBefore) {
  const Status folder = check(root_, ContentKind::Svg);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a folder"));
  const Status lost = check("/nonexistent/a.svg", ContentKind::Svg);
  ASSERT_FALSE(lost);
  EXPECT_EQ(exit_status(lost.error().code), 2);
  EXPECT_THAT(lost.error().message, HasSubstr("No such file or directory"));
  const Status below = check(write("file", "text") + "/a.svg", ContentKind::Svg);
  ASSERT_FALSE(below);
  EXPECT_THAT(below.error().message, HasSubstr("Not a directory"));
}

TEST_F(Outputs, AFileThatCannotBeReadMayHoldAnything) {
  const std::string path = write("secret", "<svg>");
  fs::permissions(path, fs::perms::none);
  const OtherUser user;
  const Status may = check(path, ContentKind::Svg);
  ASSERT_FALSE(may);
  EXPECT_THAT(may.error().message, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace ringside
