#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/algorithms.h"
#include "ringside/trace_reader.h"
#include "tests/trace/trace_files.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TraceFile parsed(const FileBytes& bytes) {
  Result<TraceFile> file = TraceFile::parse(bytes, "test.rtrace");
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

TraceFile parsed(FileBytes&&) = delete;  // a trace refers to its bytes

/// Header, then three blocks with the steps 0 1, 2 3, 4 5; `ends` holds where each part ends.
struct ThreeBlocks {
  FileBytes bytes = file_header();
  std::vector<std::size_t> ends{bytes.size()};

  ThreeBlocks() {
    for (std::uint32_t i = 0; i < 3; ++i) {
      append_bytes(bytes, events_block(steps(2 * i, 2)));
      ends.push_back(bytes.size());
    }
  }
};

TEST(TraceFile, BlocksComeInTheOrderOfTheFile) {
  const ThreeBlocks whole;
  const TraceFile file = parsed(whole.bytes);
  EXPECT_THAT(steps_of(file), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(file.block_count(), 3U);
  EXPECT_EQ(file.counts().skipped_bytes, 0U);
  EXPECT_FALSE(file.counts().is_torn_at_end);
}

TEST(TraceFile, CutAnywhereItReadsUpToTheLastWholeBlock) {
  const ThreeBlocks whole;
  for (std::size_t size = whole.ends[0]; size <= whole.bytes.size(); ++size) {
    const FileBytes cut(whole.bytes.begin(),
                        whole.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const TraceFile file = parsed(cut);
    const auto blocks = static_cast<std::size_t>(std::count_if(
        whole.ends.begin() + 1, whole.ends.end(), [&](auto end) { return end <= size; }));
    ASSERT_EQ(file.counts().events, 2 * blocks) << size;
    const bool is_whole = size == whole.ends[blocks];
    ASSERT_EQ(file.counts().is_torn_at_end, !is_whole) << size;
    ASSERT_EQ(file.counts().skipped_bytes, size - whole.ends[blocks]) << size;
    ASSERT_EQ(file.last_gap(), is_whole ? std::nullopt : std::optional(blocks)) << size;
  }
}

TEST(TraceFile, AWrongByteCostsItsBlockAndNoOther) {
  const ThreeBlocks whole;
  for (std::size_t at = whole.ends[1]; at < whole.ends[2]; ++at) {
    FileBytes bytes = whole.bytes;
    bytes[at] ^= std::byte{0x10};
    const TraceFile file = parsed(bytes);
    ASSERT_THAT(steps_of(file), ElementsAre(0, 1, 4, 5)) << at;
    ASSERT_EQ(file.last_gap(), 1U) << at;
    ASSERT_EQ(file.counts().skipped_bytes, whole.ends[2] - whole.ends[1]) << at;
    ASSERT_FALSE(file.counts().is_torn_at_end) << at;
  }
}

TEST(TraceFile, ContinuesAfterATornBlockAtAnyAlignment) {
  const ThreeBlocks whole;
  const FileBytes block = events_block(steps(6, 2));
  for (std::size_t torn = 1; torn < block.size(); ++torn) {
    FileBytes bytes = whole.bytes;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(whole.ends[1]), block.begin(),
                 block.begin() + static_cast<std::ptrdiff_t>(torn));
    const TraceFile file = parsed(bytes);
    ASSERT_THAT(steps_of(file), ElementsAre(0, 1, 2, 3, 4, 5)) << torn;
    ASSERT_EQ(file.counts().skipped_bytes, torn);
  }
}

TEST(TraceFile, AMagicInTheGarbageDoesNotMislead) {
  const ThreeBlocks whole;
  FileBytes bytes = whole.bytes;
  rtrace::Frame lie;
  lie.payload_bytes = 64;  // reaches into the next block
  const auto garbage = std::as_bytes(std::span(&lie, 1));
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(whole.ends[1]), garbage.begin(),
               garbage.end());
  EXPECT_THAT(steps_of(parsed(bytes)), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TraceFile, AFileWithoutEventsIsFine) {
  FileBytes bytes = file_header();
  append_bytes(bytes, info_block(TraceInfo{}));
  const TraceFile file = parsed(bytes);
  EXPECT_EQ(file.counts().events, 0U);
  EXPECT_EQ(file.processes().size(), 1U);
}

TEST(TraceFile, ABlockThatVouchesForNonsenseIsMalformed) {
  FileBytes bytes = file_header();
  append_bytes(bytes, framed(FileBytes(64, std::byte{0xff})));
  append_bytes(bytes, framed({}));
  append_bytes(bytes, events_block(steps(0, 1)));
  const TraceFile file = parsed(bytes);
  EXPECT_EQ(file.counts().malformed_blocks, 2U);
  EXPECT_EQ(file.counts().skipped_bytes, 0U);
  EXPECT_THAT(steps_of(file), ElementsAre(0));
}

TEST(TraceFile, SkipsUnknownEvents) {
  std::vector<TraceEvent> events = steps(0, 8);
  events[1].kind = EventKind{4};
  events[2].primitive = Primitive{9};
  events[3].collective = Collective{12};
  events[4].algorithm = Algorithm{kAlgorithmCount};
  events[5].protocol = Protocol{3};
  events[6].end_ns = events[6].begin_ns - 1;
  FileBytes bytes = file_header();
  append_bytes(bytes, events_block(events));
  TraceEvent no_rank;
  no_rank.rank = -1;
  TraceEvent far;
  far.end_ns = INT64_MAX;
  append_bytes(bytes, events_block(std::vector{no_rank, far}));
  const TraceFile file = parsed(bytes);
  EXPECT_THAT(steps_of(file), ElementsAre(0, 7));
  EXPECT_EQ(file.counts().events, 2U);
  EXPECT_EQ(file.counts().unreadable_events, 8U);
}

TEST(TraceFile, RefusesOtherFiles) {
  for (const std::string_view text : {"", "short", "a text that is longer than any header"}) {
    const auto file = TraceFile::parse(std::as_bytes(std::span(text)), "notes.txt");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::Corrupt);
    EXPECT_THAT(file.error().message, HasSubstr("notes.txt: not an .rtrace file"));
    EXPECT_FALSE(file.error().help.empty());
  }
}

TEST(TraceFile, ANewerVersionIsRefused) {
  rtrace::FileHeader header;
  header.version = 2;
  const auto file = TraceFile::parse(std::as_bytes(std::span(&header, 1)), "new.rtrace");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(file.error().message, HasSubstr("version 2"));
}

TEST(TraceFile, OpeningReportsThePathsProblem) {
  const TemporaryPath path("open.rtrace");
  const auto missing = TraceFile::open(path.text());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  const auto directory = TraceFile::open(testing::TempDir());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, ErrorCode::InvalidArgument);
  std::ofstream(path.text()).close();
  const auto empty = TraceFile::open(path.text());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::Corrupt);
}

TEST(TraceFile, KeepsItsMappingWhenItMoves) {
  const TemporaryPath path("move.rtrace");
  const FileBytes bytes = ThreeBlocks().bytes;
  std::ofstream(path.text(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  auto file = TraceFile::open(path.text());
  ASSERT_TRUE(file);
  const TraceFile moved = *std::move(file);
  EXPECT_THAT(steps_of(moved), ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace ringside
