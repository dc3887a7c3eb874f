#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "newer_generated.h"
#include "tests/trace/trace_files.h"

namespace ringside {
namespace {

using flatbuffers::FlatBufferBuilder;
using testing::ElementsAre;

FileBytes finished(FlatBufferBuilder& builder, flatbuffers::Offset<newer::Block> root) {
  builder.Finish(root);
  FileBytes payload;
  append_bytes(payload, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
  payload.resize((payload.size() + 7) / 8 * 8);
  return framed(payload);
}

/// Returns a block with two events that has only the given columns, each with the given entries.
FileBytes columns(const std::vector<std::int64_t>& begin_ns,
                  const std::vector<std::int64_t>& end_ns, const std::vector<std::uint64_t>& bytes,
                  const std::vector<std::int16_t>& temperature) {
  FlatBufferBuilder builder;
  const auto begins = builder.CreateVector(begin_ns);
  const auto ends = builder.CreateVector(end_ns);
  const auto sizes = builder.CreateVector(bytes);
  const auto temperatures = builder.CreateVector(temperature);
  newer::EventsBuilder events(builder);
  if (!begin_ns.empty()) events.add_begin_ns(begins);
  events.add_end_ns(ends);
  events.add_bytes(sizes);
  if (!temperature.empty()) events.add_temperature(temperatures);
  return finished(builder, newer::CreateBlock(builder, 0, events.Finish()));
}

TraceFile with_block(const FileBytes& block, FileBytes& bytes) {
  bytes = file_header();
  append_bytes(bytes, block);
  append_bytes(bytes, events_block(steps(42, 1)));  // this block is read, whatever precedes it
  Result<TraceFile> file = TraceFile::parse(bytes, "newer.rtrace");
  EXPECT_TRUE(file);
  EXPECT_THAT(steps_of(*file), testing::Contains(42));
  return *std::move(file);
}

TEST(Evolution, AbsentColumnsReadAsTheirDefaultsAndUnknownOnesArePassedOver) {
  FileBytes bytes;
  const TraceFile file = with_block(columns({10, 20}, {15, 25}, {64}, {-3, 21}), bytes);
  EXPECT_EQ(file.counts().malformed_blocks, 0U);
  const std::vector<TraceEvent> events = all_events(file);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].begin_ns, 20);
  EXPECT_EQ(events[1].end_ns, 25);
  EXPECT_EQ(events[1].bytes, 64U);     // one entry for all
  EXPECT_EQ(events[1].recv_peer, -1);  // TraceEvent's defaults
  EXPECT_EQ(events[1].kind, EventKind::Primitive);
  EXPECT_EQ(events[1].collective, Collective::AllReduce);
}

TEST(Evolution, ColumnsOfUnequalLengthAreMalformed) {
  FileBytes bytes;
  EXPECT_EQ(with_block(columns({10, 20, 30}, {15, 25}, {64}, {}), bytes).counts().malformed_blocks,
            1U);
  EXPECT_EQ(with_block(columns({10}, {15}, {64, 65}, {}), bytes).counts().malformed_blocks, 1U);
  EXPECT_EQ(with_block(columns({}, {15}, {64}, {}), bytes).counts().malformed_blocks, 1U);
  EXPECT_EQ(with_block(columns({10}, {}, {64}, {}), bytes).counts().malformed_blocks, 1U);
}

TEST(Evolution, ABlockOfANewKindIsCounted) {
  FlatBufferBuilder builder;
  const auto weather = newer::CreateWeather(builder, builder.CreateString("north, 3 knots"));
  FileBytes bytes;
  const TraceFile file =
      with_block(finished(builder, newer::CreateBlock(builder, 0, 0, 0, weather)), bytes);
  EXPECT_EQ(file.counts().unknown_blocks, 1U);
  EXPECT_EQ(file.counts().malformed_blocks, 0U);
  EXPECT_EQ(file.counts().skipped_bytes, 0U);
}

TEST(Evolution, AnInfoWithFewerFieldsReads) {
  FlatBufferBuilder builder;
  const auto info = newer::CreateInfo(builder, 1, builder.CreateString("node7"));
  FileBytes bytes;
  const TraceFile file = with_block(finished(builder, newer::CreateBlock(builder, info)), bytes);
  ASSERT_EQ(file.processes().size(), 1U);
  EXPECT_EQ(file.processes()[0].host, "node7");
  EXPECT_EQ(file.processes()[0].clock, TraceClock::Simulated);
  EXPECT_EQ(file.processes()[0].command_line, "");
}

// The FlatBuffers verifier checks where a vector lies, not whether its 8-byte entries are aligned there.
TEST(Evolution, AMisalignedColumnIsMalformed) {
  const FileBytes good = columns({10, 20}, {15, 25}, {64}, {});
  FileBytes payload(good.begin() + sizeof(rtrace::Frame), good.end());
  payload.insert(payload.begin() + 4, 4,
                 std::byte{0});  // all data after the root's offset move by 4
  payload[0] = static_cast<std::byte>(std::to_integer<unsigned>(payload[0]) + 4);
  payload.resize((payload.size() + 7) / 8 * 8);
  FileBytes bytes;
  EXPECT_EQ(with_block(framed(payload), bytes).counts().malformed_blocks, 1U);
}

// Offsets may all point at one text: 4 bytes each in the file, and a copy of the text each in memory.
TEST(Evolution, ValuesThatShareATextAreMalformed) {
  const auto info_with = [](std::size_t text, int times) {
    FlatBufferBuilder builder;
    const auto value = newer::CreateKeyValue(builder, builder.CreateString("key"),
                                             builder.CreateString(std::string(text, 'x')));
    const std::vector<flatbuffers::Offset<newer::KeyValue>> all(static_cast<std::size_t>(times),
                                                                value);
    const auto values = builder.CreateVector(all);
    newer::InfoBuilder info(builder);
    info.add_values(values);
    return finished(builder, newer::CreateBlock(builder, info.Finish()));
  };
  FileBytes bytes;
  EXPECT_EQ(with_block(info_with(100, 1), bytes).processes().front().values.size(), 1U);
  const TraceFile hostile = with_block(info_with(1'000'000, 1'000), bytes);
  EXPECT_TRUE(hostile.processes().empty());
  EXPECT_EQ(hostile.counts().malformed_blocks, 1U);
}

}  // namespace
}  // namespace ringside
