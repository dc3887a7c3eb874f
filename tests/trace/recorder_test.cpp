#include "trace/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/trace/trace_files.h"
#include "trace/clock.h"
#include "trace/file_sink.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TraceInfo simulated() { return this_process_info(TraceClock::Simulated); }

TraceFile opened(const std::string& path) {
  Result<TraceFile> file = TraceFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

/// Returns an event in which every field differs from its default and, except for the fixed words, from event to
/// event.
TraceEvent full_event(std::uint32_t i) {
  TraceEvent event;
  event.begin_ns = 1'000 * std::int64_t{i};
  event.end_ns = event.begin_ns + 700;
  event.offset = std::uint64_t{i} << 40;
  event.bytes = 65536 + i;
  event.sequence = 7 + i;
  event.communicator = 0xfeedbeef;
  event.rank = static_cast<std::int32_t>(i % 5);
  event.recv_peer = static_cast<std::int32_t>(i % 3);
  event.send_peer = static_cast<std::int32_t>(i % 4);
  event.step = 100 + i;
  event.channel = static_cast<std::uint16_t>(65535 - i);
  event.is_modelled = i % 5 == 0;
  event.kind = i % 9 == 0 ? EventKind::Collective : EventKind::Primitive;
  event.primitive = static_cast<Primitive>(i % 8);
  event.collective = static_cast<Collective>(i % 5);
  event.algorithm = static_cast<Algorithm>(i % 7);
  event.protocol = static_cast<Protocol>(i % 3);
  return event;
}

void expect_same(const TraceEvent& a, const TraceEvent& b) {
  EXPECT_EQ(a.begin_ns, b.begin_ns);
  EXPECT_EQ(a.end_ns, b.end_ns);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.communicator, b.communicator);
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.recv_peer, b.recv_peer);
  EXPECT_EQ(a.is_modelled, b.is_modelled);
  EXPECT_EQ(a.send_peer, b.send_peer);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.channel, b.channel);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.primitive, b.primitive);
  EXPECT_EQ(a.collective, b.collective);
  EXPECT_EQ(a.algorithm, b.algorithm);
  EXPECT_EQ(a.protocol, b.protocol);
}

TEST(TraceRecorder, ReadsWhatItRecords) {
  const TemporaryPath path("round_trip.rtrace");
  {
    auto recorder = record_to_file(path.text(), simulated());
    ASSERT_TRUE(recorder) << recorder.error().message;
    TraceLane* lane = (*recorder)->add_lane(32);
    for (std::uint32_t i = 0; i < 100; ++i) lane->record(full_event(i));
  }
  const std::vector<TraceEvent> events = all_events(opened(path.text()));
  ASSERT_EQ(events.size(), 100U);
  for (std::uint32_t i = 0; i < 100; ++i) expect_same(events[i], full_event(i));
}

// The recorder is the same, and no file is written.
TEST(TraceRecorder, AMemorySinkEqualsAFile) {
  const auto sink = std::make_shared<TraceMemorySink>();
  auto recorder = TraceRecorder::start(sink, simulated());
  ASSERT_TRUE(recorder) << recorder.error().message;
  TraceLane* lane = (*recorder)->add_lane(32);
  for (std::uint32_t i = 0; i < 100; ++i) lane->record(full_event(i));
  const auto count_events = [](const std::vector<std::byte>& bytes) {
    const auto file = TraceFile::parse(bytes, "memory");
    EXPECT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->counts().processes, 1U);
    EXPECT_EQ(file->counts().skipped_bytes, 0U);
    return file->counts().events;
  };
  EXPECT_EQ(count_events(sink->bytes()), 96U);  // three full buffers
  (*recorder)->flush();
  EXPECT_EQ(count_events(sink->bytes()), 100U);
  const std::vector<std::byte> bytes = sink->bytes();
  const std::vector<TraceEvent> events = all_events(*TraceFile::parse(bytes, "memory"));
  for (std::uint32_t i = 0; i < 100; ++i) expect_same(events[i], full_event(i));
}

class BrokenSink : public TraceSink {
 public:
  Status write(std::span<const std::byte>) override {
    return Error{ErrorCode::System, "the line is dead", "fix it"};
  }
};

TEST(TraceRecorder, AFailingSinkIsAnErrorFromTheStart) {
  const auto recorder = TraceRecorder::start(std::make_shared<BrokenSink>(), simulated());
  ASSERT_FALSE(recorder);
  EXPECT_EQ(recorder.error().message, "the line is dead");
}

TEST(TraceRecorder, NamesTheProgramThatWroteTheFile) {
  const TemporaryPath path("info.rtrace");
  TraceInfo info = this_process_info(TraceClock::HostMonotonic);
  info.values = {{"cluster", "two nodes"}, {"empty", ""}};
  EXPECT_TRUE(record_to_file(path.text(), info));
  const TraceFile file = opened(path.text());
  ASSERT_EQ(file.processes().size(), 1U);
  const TraceInfo& read = file.processes()[0];
  EXPECT_EQ(read.clock, TraceClock::HostMonotonic);
  EXPECT_EQ(read.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(read.host, info.host);
  EXPECT_FALSE(read.version.empty());
  EXPECT_EQ(read.realtime_offset, info.realtime_offset);
  EXPECT_FALSE(read.command_line.empty());
  EXPECT_EQ(read.command_line, info.command_line);
  EXPECT_EQ(read.values, info.values);
}

TEST(TraceRecorder, AFullBufferIsOneBlock) {
  const TemporaryPath path("blocks.rtrace");
  auto recorder = record_to_file(path.text(), simulated());
  ASSERT_TRUE(recorder);
  TraceLane* lane = (*recorder)->add_lane(4);
  for (const TraceEvent& event : steps(0, 10)) lane->record(event);
  EXPECT_EQ((*recorder)->stats().blocks, 2U);  // 10 = 4 + 4 + 2
  EXPECT_EQ((*recorder)->stats().events, 8U);
  (*recorder)->flush();
  EXPECT_EQ((*recorder)->stats().blocks, 3U);
  (*recorder)->flush();  // nothing new
  EXPECT_EQ((*recorder)->stats().blocks, 3U);
  EXPECT_THAT(steps_of(opened(path.text())), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(TraceRecorder, AFlushInMidBufferTakesEachEventOnce) {
  const TemporaryPath path("flush.rtrace");
  auto recorder = record_to_file(path.text(), simulated());
  ASSERT_TRUE(recorder);
  TraceLane* lane = (*recorder)->add_lane(4);
  for (const TraceEvent& event : steps(0, 3)) lane->record(event);
  (*recorder)->flush();
  for (const TraceEvent& event : steps(3, 3)) lane->record(event);
  (*recorder)->flush();
  EXPECT_THAT(steps_of(opened(path.text())), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TraceRecorder, ConstantColumnsShrinkToOneEntry) {
  const TemporaryPath path("constant.rtrace");
  auto recorder = record_to_file(path.text(), simulated());
  ASSERT_TRUE(recorder);
  TraceLane* lane = (*recorder)->add_lane(1000);
  for (const TraceEvent& event : steps(0, 1000)) lane->record(event);
  const TraceFile file = opened(path.text());
  ASSERT_EQ(file.block_count(), 1U);
  const TraceBlock block = file.block(0);
  EXPECT_TRUE(block.columns().rank.is_constant());
  EXPECT_TRUE(block.columns().protocol.is_constant());
  EXPECT_FALSE(block.columns().step.is_constant());
  // begin and end 8 bytes each, step 4, and less than 1 KiB for everything else.
  EXPECT_LT(file.size_bytes(), 1000 * (8 + 8 + 4) + 2048U);
}

TEST(TraceRecorder, AfterAQuarterSecondTheNextEventTakesTheBufferAlong) {
  const TemporaryPath host_path("quarter_host.rtrace");
  const TemporaryPath sim_path("quarter_sim.rtrace");
  auto host = record_to_file(host_path.text(), this_process_info(TraceClock::HostMonotonic));
  auto sim = record_to_file(sim_path.text(), simulated());
  ASSERT_TRUE(host && sim);
  TraceLane* host_lane = (*host)->add_lane();
  TraceLane* sim_lane = (*sim)->add_lane();
  const auto now_event = [] {
    TraceEvent event;
    event.begin_ns = event.end_ns = trace_now().count();
    return event;
  };
  for (std::uint64_t quarter = 0; quarter < 2; ++quarter) {
    host_lane->record(now_event());
    EXPECT_EQ((*host)->stats().events, 2 * quarter);
    std::this_thread::sleep_for(TraceRecorder::kFlushInterval);
    host_lane->record(now_event());
    EXPECT_EQ((*host)->stats().events, 2 * quarter + 2);
  }
  // Simulated times say nothing of the wall clock: the lane looks at it every 256 events.
  for (const TraceEvent& event : steps(0, 256)) sim_lane->record(event);
  EXPECT_EQ((*sim)->stats().events, 256U);
}

// Slope 1 up to 102,400, then 1 + 1/1024: 102,400 + 51,200 goes to 102,400 + 51,250.
TEST(BlockEncoder, MovesTimesAlongTheClockMap) {
  ClockMap clock;
  clock.add({0, 1'000'000});
  clock.add({102'400, 1'102'400});
  clock.add({204'800, 1'204'900});
  std::vector<TraceEvent> events = steps(0, 3);
  events[0].begin_ns = 1'000;
  events[0].end_ns = 102'400 + 51'200;
  events[1].begin_ns = 102'400 + 51'200;
  events[1].end_ns = 204'800;
  events[2].begin_ns = 2'000;  // a collective that began before
  events[2].end_ns = 204'900;
  BlockEncoder encoder;
  FileBytes bytes = file_header();
  append_bytes(bytes, encoder.events(events, clock, 1));
  const Result<TraceFile> file = TraceFile::parse(bytes, "test.rtrace");
  ASSERT_TRUE(file);
  std::vector<std::int64_t> times;
  for (const TraceEvent& event : all_events(*file)) {
    times.push_back(event.begin_ns);
    times.push_back(event.end_ns);
  }
  EXPECT_THAT(times, ElementsAre(1'001'000, 1'153'650, 1'153'650, 1'204'900, 1'002'000, 1'205'000));
}

TEST(TraceRecorder, HostTimesAreClockMonotonic) {
  const TemporaryPath path("monotonic.rtrace");
  const std::int64_t before = monotonic_now().count();
  {
    auto recorder = record_to_file(path.text(), this_process_info(TraceClock::HostMonotonic));
    ASSERT_TRUE(recorder);
    TraceLane* lane = (*recorder)->add_lane();
    TraceEvent event;
    event.begin_ns = trace_now().count();
    event.end_ns = trace_now().count();
    lane->record(event);
  }
  const std::int64_t after = monotonic_now().count();
  const std::vector<TraceEvent> events = all_events(opened(path.text()));
  ASSERT_EQ(events.size(), 1U);
  // What one reading of both clocks is off by, generously.
  constexpr std::int64_t kReadingNs = 1'000;
  EXPECT_GE(events[0].begin_ns, before - kReadingNs);
  EXPECT_LE(events[0].begin_ns, events[0].end_ns);
  EXPECT_LE(events[0].end_ns, after + kReadingNs);
}

TEST(TraceRecorder, AnyThreadMayFlushWhileOthersRecord) {
  const TemporaryPath path("threads.rtrace");
  constexpr std::uint32_t kEvents = 5'000;
  {
    auto recorder = record_to_file(path.text(), simulated());
    ASSERT_TRUE(recorder);
    std::atomic<bool> is_done{false};
    std::thread flusher([&] {
      while (!is_done) (*recorder)->flush();
    });
    std::vector<std::thread> ranks;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank] {
        TraceLane* lane = (*recorder)->add_lane(64);
        for (TraceEvent event : steps(0, kEvents)) {
          event.rank = rank;
          lane->record(event);
        }
      });
    }
    for (std::thread& rank : ranks) rank.join();
    is_done = true;
    flusher.join();
  }
  std::array<std::uint32_t, 2> next{};
  for (const TraceEvent& event : all_events(opened(path.text()))) {
    ASSERT_EQ(event.step, next.at(static_cast<std::size_t>(event.rank))++);
  }
  EXPECT_THAT(next, ElementsAre(kEvents, kEvents));
}

TEST(TraceRecorder, AnUnwritablePathIsAnErrorWithItsFix) {
  const auto recorder = record_to_file("/nonexistent/t.rtrace", simulated());
  ASSERT_FALSE(recorder);
  EXPECT_EQ(recorder.error().code, ErrorCode::System);
  EXPECT_THAT(recorder.error().message, HasSubstr("/nonexistent/t.rtrace"));
  EXPECT_THAT(recorder.error().help, HasSubstr("existing directory"));
}

TEST(TraceRecorder, ADiskThatIsFullFromTheStartIsAnError) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "needs /dev/full";
  const auto recorder = record_to_file("/dev/full", simulated());
  ASSERT_FALSE(recorder);
  EXPECT_EQ(recorder.error().code, ErrorCode::System);
  EXPECT_THAT(recorder.error().help, HasSubstr("make room"));
}

/// A file may not grow beyond the limit, as if the disk were full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(TraceRecorder, ADiskThatFillsUpStopsTheRecordingAndNotTheRun) {
  const TemporaryPath path("full.rtrace");
  TraceStats stats;
  testing::internal::CaptureStderr();
  {
    auto recorder = record_to_file(path.text(), simulated());
    ASSERT_TRUE(recorder);
    TraceLane* lane = (*recorder)->add_lane(16);
    {
      const FileSizeLimit limit(4096);
      for (const TraceEvent& event : steps(0, 320)) lane->record(event);
    }
    // There is room again, but events after the gap could be taken for a complete record.
    for (const TraceEvent& event : steps(320, 32)) lane->record(event);
    stats = (*recorder)->stats();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_GT(stats.events, 0U);
  EXPECT_GE(stats.dropped, 32U);
  EXPECT_EQ(stats.events + stats.dropped, 352U);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1);
  EXPECT_THAT(log, HasSubstr("warning: " + path.text() + ": cannot write the trace"));
  EXPECT_THAT(log, HasSubstr("; recording stops, the run goes on"));

  const TraceFile file = opened(path.text());
  EXPECT_EQ(file.counts().events, stats.events);
  EXPECT_TRUE(file.counts().is_torn_at_end);
}

TEST(TraceRecorder, OthersJoinTheFile) {
  const TemporaryPath path("join.rtrace");
  auto first = record_to_file(path.text(), simulated());
  ASSERT_TRUE(first);
  auto second = join_file(path.text(), simulated());
  ASSERT_TRUE(second) << second.error().message;
  TraceLane* one = (*first)->add_lane();
  TraceLane* two = (*second)->add_lane();
  one->record(steps(1, 1)[0]);
  two->record(steps(2, 1)[0]);
  (*second)->flush();
  (*first)->flush();
  const TraceFile file = opened(path.text());
  EXPECT_EQ(file.counts().processes, 2U);
  EXPECT_THAT(steps_of(file), ElementsAre(2, 1));
}

TEST(TraceRecorder, JoiningNeedsAFileThatAnotherProcessHasCreated) {
  const TemporaryPath path("missing.rtrace");
  const auto missing = join_file(path.text(), simulated());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);

  std::ofstream(path.text()) << "a letter to a friend";
  const auto foreign = join_file(path.text(), simulated());
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::Corrupt);
  EXPECT_EQ(*read_file(path.text()), "a letter to a friend");
}

TEST(TraceRecorder, CreatingTruncatesAnOldFile) {
  const TemporaryPath path("again.rtrace");
  for (int run = 0; run < 2; ++run) {
    auto recorder = record_to_file(path.text(), simulated());
    ASSERT_TRUE(recorder);
    (*recorder)->add_lane()->record(TraceEvent{});
  }
  EXPECT_EQ(opened(path.text()).counts().events, 1U);
}

}  // namespace
}  // namespace ringside
