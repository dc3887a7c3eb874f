#include "trace/encode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "trace/format.h"
#include "trace/rtrace_generated.h"

namespace ringside {
namespace {

using flatbuffers::Offset;
using flatbuffers::Vector;

constexpr std::size_t kMostText = 4096;
constexpr std::size_t kMostValues = 64;

/// Returns what differs among the events: a field of the result is zero where all of them agree.
TraceEvent differences(std::span<const TraceEvent> events) {
  using Words = std::array<std::uint64_t, sizeof(TraceEvent) / sizeof(std::uint64_t)>;
  const auto first = std::bit_cast<Words>(events[0]);
  Words differing{};
  for (const TraceEvent& event : events) {
    const auto words = std::bit_cast<Words>(event);
    for (std::size_t i = 0; i < words.size(); ++i) differing[i] |= words[i] ^ first[i];
  }
  return std::bit_cast<TraceEvent>(differing);
}

}  // namespace

struct BlockEncoder::Impl {
  flatbuffers::FlatBufferBuilder builder;

  template <typename Column, typename Field>
  Offset<Vector<Column>> column(std::span<const TraceEvent> events, const TraceEvent& differing,
                                Field TraceEvent::*field) {
    const std::size_t count = differing.*field == Field{} ? 1 : events.size();
    Column* entries = nullptr;
    const Offset<Vector<Column>> made = builder.CreateUninitializedVector(count, &entries);
    for (std::size_t i = 0; i < count; ++i) entries[i] = static_cast<Column>(events[i].*field);
    return made;
  }

  Offset<Vector<std::int64_t>> times(std::span<const TraceEvent> events, const ClockMap& clock,
                                     std::int64_t TraceEvent::*field) {
    std::int64_t* entries = nullptr;
    const auto made = builder.CreateUninitializedVector(events.size(), &entries);
    ClockSegment segment = clock.segment_at(events[0].*field);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const std::int64_t time = events[i].*field;
      if (!segment.holds(time)) segment = clock.segment_at(time);
      entries[i] = segment.to_monotonic(time);
    }
    return made;
  }

  Offset<flatbuffers::String> text(std::string_view words) {
    words = words.substr(0, kMostText);
    return builder.CreateString(words.data(), words.size());
  }

  /// The builder grows towards the front, so the frame lands before the payload without a copy.
  std::span<const std::byte> framed(Offset<rtrace::Block> root, std::uint32_t pid) {
    rtrace::FinishBlockBuffer(builder, root);
    const auto payload =
        std::as_bytes(std::span(builder.GetBufferPointer(), std::size_t{builder.GetSize()}));
    RINGSIDE_ASSERT(
        payload.size() % rtrace::kAlignment == 0 && payload.size() <= rtrace::kMostPayload,
        "a payload of {} bytes", payload.size());
    const auto frame = std::bit_cast<std::array<std::uint8_t, sizeof(rtrace::Frame)>>(
        rtrace::frame_for(payload, pid));
    builder.PushFlatBuffer(frame.data(), frame.size());
    return std::as_bytes(std::span(builder.GetBufferPointer(), std::size_t{builder.GetSize()}));
  }

  void start() {
    builder.Clear();
    builder.Align(rtrace::kAlignment);  // the payload's size becomes a multiple of it
  }
};

BlockEncoder::BlockEncoder() : impl_(std::make_unique<Impl>()) {}
BlockEncoder::~BlockEncoder() = default;

std::span<const std::byte> BlockEncoder::events(std::span<const TraceEvent> events,
                                                const ClockMap& clock, std::uint32_t pid) {
  RINGSIDE_ASSERT(!events.empty() && events.size() <= kMostEvents, "{} events", events.size());
  impl_->start();
  const TraceEvent differing = differences(events);
  const auto narrow = [&]<typename Field>(Field TraceEvent::*field) {
    return impl_->column<std::uint8_t>(events, differing, field);
  };
  const auto begin_ns = impl_->times(events, clock, &TraceEvent::begin_ns);
  const auto end_ns = impl_->times(events, clock, &TraceEvent::end_ns);
  const auto offset = impl_->column<std::uint64_t>(events, differing, &TraceEvent::offset);
  const auto bytes = impl_->column<std::uint64_t>(events, differing, &TraceEvent::bytes);
  const auto sequence = impl_->column<std::uint32_t>(events, differing, &TraceEvent::sequence);
  const auto communicator =
      impl_->column<std::uint32_t>(events, differing, &TraceEvent::communicator);
  const auto rank = impl_->column<std::int32_t>(events, differing, &TraceEvent::rank);
  const auto recv_peer = impl_->column<std::int32_t>(events, differing, &TraceEvent::recv_peer);
  const auto send_peer = impl_->column<std::int32_t>(events, differing, &TraceEvent::send_peer);
  const auto step = impl_->column<std::uint32_t>(events, differing, &TraceEvent::step);
  const auto channel = impl_->column<std::uint16_t>(events, differing, &TraceEvent::channel);
  const auto kind = narrow(&TraceEvent::kind);
  const auto primitive = narrow(&TraceEvent::primitive);
  const auto collective = narrow(&TraceEvent::collective);
  const auto algorithm = narrow(&TraceEvent::algorithm);
  const auto protocol = narrow(&TraceEvent::protocol);
  const auto is_modelled = narrow(&TraceEvent::is_modelled);
  const auto columns = rtrace::CreateEvents(
      impl_->builder, begin_ns, end_ns, offset, bytes, sequence, communicator, rank, recv_peer,
      send_peer, step, channel, kind, primitive, collective, algorithm, protocol, is_modelled);
  return impl_->framed(rtrace::CreateBlock(impl_->builder, 0, columns), pid);
}

std::span<const std::byte> BlockEncoder::dump(const TraceDumpPart& part, std::uint32_t pid) {
  RINGSIDE_ASSERT(!part.bytes.empty() && part.bytes.size() <= kMostDumpBytes, "{} bytes",
                  part.bytes.size());
  impl_->start();
  std::uint8_t* to = nullptr;
  const auto bytes = impl_->builder.CreateUninitializedVector(part.bytes.size(), &to);
  std::memcpy(to, part.bytes.data(), part.bytes.size());
  const auto made =
      rtrace::CreateDumpPart(impl_->builder, part.rank, part.offset, part.total_bytes, bytes);
  return impl_->framed(rtrace::CreateBlock(impl_->builder, 0, 0, made), pid);
}

std::span<const std::byte> BlockEncoder::info(const TraceInfo& info) {
  impl_->start();
  flatbuffers::FlatBufferBuilder& builder = impl_->builder;
  std::vector<Offset<rtrace::KeyValue>> values;
  for (std::size_t i = 0; i < std::min(info.values.size(), kMostValues); ++i) {
    const auto key = impl_->text(info.values[i].first);
    values.push_back(rtrace::CreateKeyValue(builder, key, impl_->text(info.values[i].second)));
  }
  const auto host = impl_->text(info.host);
  const auto version = impl_->text(info.version);
  const auto command_line = impl_->text(info.command_line);
  const auto made =
      rtrace::CreateInfo(builder, static_cast<std::uint8_t>(info.clock), host, info.pid, version,
                         info.realtime_offset.count(), command_line, builder.CreateVector(values));
  return impl_->framed(rtrace::CreateBlock(builder, made), info.pid);
}

}  // namespace ringside
