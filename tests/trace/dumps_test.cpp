// Flight recorder dumps in a trace.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/trace/trace_files.h"
#include "trace/file_sink.h"
#include "trace/sink.h"

namespace ringside {
namespace {

using Dumps = std::map<std::int32_t, std::string>;

/// A dump of so many bytes, which differ.
std::string dump_of(std::size_t bytes, char seed) {
  std::string text(bytes, seed);
  for (std::size_t i = 0; i < bytes; i += 7) text[i] = static_cast<char>(i / 7);
  return text;
}

FileBytes part(const TraceDumpPart& one) {
  BlockEncoder encoder;
  FileBytes block;
  append_bytes(block, encoder.dump(one, 1));
  return block;
}

FileBytes part(std::int32_t rank, std::uint64_t offset, std::uint64_t total,
               const std::string& bytes) {
  return part({rank, offset, total, std::as_bytes(std::span(bytes))});
}

TEST(TraceDumps, ALongDumpIsSplitAndJoined) {
  const Dumps dumps{{0, dump_of(3 * BlockEncoder::kMostDumpBytes + 5, 'a')}, {7, "short"}};
  const TemporaryPath path("dumps.rtrace");
  ASSERT_TRUE(TraceFileSink::create(path.text()));
  ASSERT_TRUE(append_dumps(path.text(), dumps));
  const auto file = TraceFile::open(path.text());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->dumps(), dumps);
  EXPECT_EQ(file->counts().dumps, 2U);
  EXPECT_EQ(file->counts().unknown_blocks + file->counts().malformed_blocks, 0U);
}

TEST(TraceDumps, ADumpThatLacksAPartIsNotRead) {
  for (const bool has_middle : {true, false}) {
    FileBytes bytes = file_header();
    append_bytes(bytes, part(3, 0, 6, "ab"));
    if (has_middle) append_bytes(bytes, part(3, 2, 6, "cd"));
    append_bytes(bytes, part(3, 4, 6, "ef"));
    const auto file = TraceFile::parse(bytes, "parts");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->dumps(), has_middle ? Dumps({{3, "abcdef"}}) : Dumps());
    EXPECT_EQ(file->counts().dumps, has_middle ? 1U : 0U);
  }
}

TEST(TraceDumps, TheLaterDumpOfARankCounts) {
  FileBytes bytes = file_header();
  for (const char* const text : {"first", "second"}) {
    append_bytes(bytes, part(1, 0, std::string(text).size(), text));
  }
  const auto file = TraceFile::parse(bytes, "parts");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->dumps(), Dumps({{1, "second"}}));
  EXPECT_EQ(file->counts().dumps, 1U);
}

TEST(TraceDumps, PartsOutsideTheirDumpAreMalformed) {
  FileBytes bytes = file_header();
  append_bytes(bytes, part(-1, 0, 2, "ab"));
  append_bytes(bytes, part(0, 1, 2, "ab"));
  append_bytes(bytes, part(0, ~std::uint64_t{0}, 2, "ab"));
  append_bytes(bytes, part(0, 0, 1, "ab"));
  const auto file = TraceFile::parse(bytes, "parts");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->counts().malformed_blocks, 4U);
  EXPECT_EQ(file->dumps(), Dumps());
}

}  // namespace
}  // namespace ringside
