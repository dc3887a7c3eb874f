#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <span>
#include <streambuf>
#include <string>
#include <vector>

#include "ringside/trace_export.h"
#include "ringside/trace_reader.h"
#include "tests/fuzz/vouched.h"
#include "trace/encode.h"
#include "trace/html.h"
#include "trace/merge.h"
#include "trace/replay/replay.h"
#include "trace/sink.h"
#include "trace/statistics.h"

/// Feeds an .rtrace file from a stranger: opening, counting, exporting and replaying it must neither crash nor exhaust
/// memory. A fuzzer cannot guess checksums, so the input is tried twice: unchanged, and with the checksum of every
/// frame corrected.
namespace {

class Nowhere : public std::streambuf {
  int overflow(int letter) override { return letter; }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

/// Reads each lane as a whole, at the coarsest and the finest zoom, and each of its events with those connected to it.
void replay_all(const ringside::TraceFile& file) {
  using namespace ringside;
  const auto replay = Replay::make(file);
  if (!replay) return;
  std::vector<EventId> events;
  std::vector<Fold> folds;
  for (std::uint32_t lane = 0; lane < replay->lanes().size(); ++lane) {
    const TimeRange span = replay->span(LaneId{lane});
    replay->overlapping(LaneId{lane}, span, events);
    replay->fold(LaneId{lane}, span, Nanoseconds{0}, folds);
    replay->fold(LaneId{lane}, {INT64_MIN, INT64_MAX}, Nanoseconds{INT64_MAX}, folds);
    for (const EventId id : replay->events(LaneId{lane})) {
      static_cast<void>(replay->event(id));
      replay->receivers_of(id, events);
      replay->senders_of(id, events);
    }
  }
}

/// Returns what another host recorded of ranks 0 and 1: two chunks in each direction.
std::vector<std::byte> other_host() {
  using namespace ringside;
  TraceMemorySink sink;
  BlockEncoder encoder;
  TraceInfo info;
  info.host = "another";
  info.realtime_offset = Nanoseconds{1'000'000'000'000};
  std::vector<TraceEvent> events(8);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_send = i % 2 == 0;
    events[i].rank = static_cast<std::int32_t>(i / 4);
    events[i].primitive = is_send ? Primitive::Send : Primitive::Recv;
    (is_send ? events[i].send_peer : events[i].recv_peer) = 1 - events[i].rank;
    events[i].begin_ns = static_cast<std::int64_t>(i) * 1000;
    events[i].end_ns = events[i].begin_ns + 10;
  }
  static_cast<void>(sink.write(encoder.info(info)));
  static_cast<void>(sink.write(encoder.events(events, ClockMap(), 1)));
  return sink.bytes();
}

/// Merges it with another host's trace, before and after it: the result is a complete trace.
void merge_all(const ringside::TraceFile& file) {
  using namespace ringside;
  static const std::vector<std::byte> bytes = other_host();
  static const auto other = TraceFile::parse(bytes, "another.rtrace");
  const std::vector<std::string> names{"a", "b"};
  for (const bool is_first : {true, false}) {
    const std::vector<const TraceFile*> files{is_first ? &file : &*other,
                                              is_first ? &*other : &file};
    TraceMemorySink sink;
    if (!merge_traces(files, names, sink)) continue;
    const std::vector<std::byte> merged = sink.bytes();
    const auto again = TraceFile::parse(merged, "merged");
    if (!again || again->counts().malformed_blocks > 0 || again->counts().skipped_bytes > 0)
      std::abort();
  }
}

void read_all(std::span<const std::byte> bytes) {
  const auto file = ringside::TraceFile::parse(bytes, "fuzz.rtrace");
  if (!file) return;
  static_cast<void>(ringside::statistics_of(*file));
  Nowhere nowhere;
  std::ostream out(&nowhere);
  static_cast<void>(ringside::export_perfetto(*file, out));
  static_cast<void>(ringside::export_html(*file, "fuzz", out));
  replay_all(*file);
  merge_all(*file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  read_all(bytes);
  ringside::fix_checksums(bytes);
  read_all(bytes);
  return 0;
}
