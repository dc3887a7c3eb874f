#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gui/model/session/open.h"
#include "gui/model/session/session.h"
#include "tests/gui/documents.h"

/// Opens files as they exist on disks: each gives a message or a usable window.
namespace ringside::gui {
namespace {

class OpenTrace : public testing::Test {
 protected:
  ~OpenTrace() override { std::filesystem::remove_all(path_); }

  Opened open(std::span<const std::byte> bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    return open_paths({path_});
  }

  /// Every view of the opened document.
  static void show(const std::shared_ptr<const Document>& document) {
    Session session;
    session.open(document);
    for (int view = 0; view < kViews; ++view)
      EXPECT_FALSE(
          to_text(session.prepare(static_cast<View>(view), {.width = 700, .height = 400})).empty());
  }

  std::string path_ =
      testing::TempDir() + "ringside_open_trace_" + std::to_string(::getpid()) + ".rtrace";
};

TEST_F(OpenTrace, RefusesOtherFilesAndNamesThem) {
  const std::string letter = "a letter to a friend, long enough to be looked at";
  for (const std::string& text : {std::string(), std::string("RT"), letter}) {
    const auto opened = open(std::as_bytes(std::span(text)));
    ASSERT_FALSE(opened) << text;
    EXPECT_NE(opened.error().message.find(path_), std::string::npos) << opened.error().message;
    EXPECT_FALSE(opened.error().help.empty());
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(open_paths({path_}));
}

TEST_F(OpenTrace, OneWithoutEventsIsShown) {
  const auto opened = open(file_header());
  ASSERT_TRUE(opened);
  EXPECT_TRUE((*opened)->calls.empty());
  show(*opened);
}

TEST_F(OpenTrace, CutAnywhereItIsShownUpToThere) {
  const FileBytes whole = file_of(regular_events(4, 2, 20), 40);
  for (std::size_t size = sizeof(rtrace::FileHeader); size <= whole.size(); size += 101) {
    const auto opened = open(std::span(whole).first(size));
    ASSERT_TRUE(opened) << size;
    show(*opened);
  }
}

// A wrong byte loses its block, which the window reports.
TEST_F(OpenTrace, ShowsADamagedTraceAndItsLosses) {
  FileBytes bytes = file_of(regular_events(4, 2, 20), 40);
  bytes[bytes.size() / 2] ^= std::byte{0x40};
  const auto opened = open(bytes);
  ASSERT_TRUE(opened);
  ASSERT_FALSE((*opened)->findings.empty());
  EXPECT_EQ((*opened)->findings.front().title, "the file is not whole");
  EXPECT_EQ((*opened)->replay->statistics().primitives, 120U);
  show(*opened);
}

TEST_F(OpenTrace, ShowsARowForEachOfTenThousandRanks) {
  const auto opened = open(file_of(regular_events(10'000, 1, 2), 4096));
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->replay->statistics().ranks, 10'000U);
  show(*opened);
  Session session;
  session.open(*opened);
  const std::string text = to_text(session.prepare(View::Topology, {.width = 700, .height = 400}));
  EXPECT_NE(text.find("Only ranks 0 to 2047"), std::string::npos);
}

}  // namespace
}  // namespace ringside::gui
