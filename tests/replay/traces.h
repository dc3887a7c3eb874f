#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tests/trace/trace_files.h"
#include "trace/replay/replay.h"

namespace ringside {

/// A trace in memory, and the replay of it.
struct Opened {
  std::unique_ptr<FileBytes> bytes = std::make_unique<FileBytes>();
  Result<Replay> replay = Error{};
};

/// Writes blocks of so many events each, in the given order.
inline FileBytes file_of(std::span<const TraceEvent> events, std::size_t events_a_block = 100) {
  FileBytes bytes = file_header();
  while (!events.empty()) {
    const std::size_t count = std::min(events_a_block, events.size());
    append_bytes(bytes, events_block(events.first(count)));
    events = events.subspan(count);
  }
  return bytes;
}

inline Opened opened(std::span<const TraceEvent> events, std::size_t events_a_block = 100) {
  Opened one;
  *one.bytes = file_of(events, events_a_block);
  one.replay = Replay::make(*TraceFile::parse(*one.bytes, "memory"));
  return one;
}

struct Shape {
  int communicators = 2;
  int ranks = 3;
  int channels = 2;
  std::int64_t span_ns = 10'000;
  /// The longest duration of most events; a few last up to the whole span
  std::int64_t mostly_ns = 30;
  bool in_order = false;  ///< as a rank records them, one after the other
};

/// Returns random events: mixed lanes, overlapping times, events of no length, calls and additional peers.
inline std::vector<TraceEvent> random_events(std::mt19937& random, int count, const Shape& shape) {
  const auto below = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(
        0, std::max<std::int64_t>(limit - 1, 0))(random);
  };
  std::vector<TraceEvent> events;
  std::int64_t now = 0;
  for (int i = 0; i < count; ++i) {
    TraceEvent event;
    event.communicator = static_cast<std::uint32_t>(7 * below(shape.communicators));
    event.rank = static_cast<std::int32_t>(below(shape.ranks));
    event.channel = static_cast<std::uint16_t>(below(shape.channels));
    event.primitive = static_cast<Primitive>(below(8));
    event.sequence = static_cast<std::uint32_t>(i / 40);
    event.bytes = static_cast<std::uint64_t>(below(5000));
    const PrimitiveParts parts = parts_of(event.primitive);
    if (parts.sends) event.send_peer = static_cast<std::int32_t>(below(shape.ranks));
    if (parts.receives) event.recv_peer = static_cast<std::int32_t>(below(shape.ranks));
    const std::int64_t kind = below(20);
    if (kind == 0) event.kind = EventKind::Collective;
    if (kind == 1) event.kind = EventKind::Peer;
    const std::int64_t length = below(50) == 0 ? below(shape.span_ns) : below(shape.mostly_ns);
    event.begin_ns = shape.in_order ? now : below(shape.span_ns) - shape.span_ns / 2;
    event.end_ns = event.begin_ns + length;
    now = event.end_ns;
    events.push_back(event);
  }
  return events;
}

}  // namespace ringside
