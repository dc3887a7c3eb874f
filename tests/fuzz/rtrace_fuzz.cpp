#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <streambuf>
#include <vector>

#include "tests/fuzz/vouched.h"
#include "trace/html.h"
#include "trace/perfetto.h"
#include "trace/reader.h"
#include "trace/replay/replay.h"
#include "trace/statistics.h"

/// An .rtrace file from a stranger: opened, counted, exported and replayed, it must neither crash nor grow. A
/// fuzzer cannot guess checksums, so the input is tried twice: as it is, and with every frame that it
/// holds made to vouch for what follows.
namespace {

class Nowhere : public std::streambuf {
  int overflow(int letter) override { return letter; }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

/// Each lane whole, at the coarsest and the finest, and each of its events with those joined to it.
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

void read_all(std::span<const std::byte> bytes) {
  const auto file = ringside::TraceFile::parse(bytes, "fuzz.rtrace");
  if (!file) return;
  static_cast<void>(ringside::statistics_of(*file));
  Nowhere nowhere;
  std::ostream out(&nowhere);
  static_cast<void>(ringside::export_perfetto(*file, out));
  static_cast<void>(ringside::export_html(*file, "fuzz", out));
  replay_all(*file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  read_all(bytes);
  ringside::mend_checksums(bytes);
  read_all(bytes);
  return 0;
}
