#include "trace/replay/replay.h"

#include <algorithm>

namespace ringside {
namespace {

std::size_t index_of(LaneId lane) { return static_cast<std::size_t>(lane); }

}  // namespace

std::optional<LaneId> Replay::find(const LaneKey& key) const {
  const auto found = std::lower_bound(lanes_.begin(), lanes_.end(), key);
  if (found == lanes_.end() || *found != key) return std::nullopt;
  return LaneId{static_cast<std::uint32_t>(found - lanes_.begin())};
}

Replay::LaneRange Replay::lanes_of(std::uint32_t communicator) const {
  const auto [first, last] =
      std::ranges::equal_range(lanes_, communicator, {}, &LaneKey::communicator);
  return {static_cast<std::size_t>(first - lanes_.begin()),
          static_cast<std::size_t>(last - lanes_.begin())};
}

Replay::LaneRange Replay::lanes_of(std::uint32_t communicator, std::int32_t rank) const {
  const auto [first, last] = lanes_of(communicator);
  const auto all = std::span(lanes_).subspan(first, last - first);
  const auto found = std::ranges::equal_range(all, rank, {}, &LaneKey::rank);
  return {first + static_cast<std::size_t>(found.begin() - all.begin()),
          first + static_cast<std::size_t>(found.end() - all.begin())};
}

const ChannelStatistics* Replay::statistics(LaneId lane) const {
  const LaneKey& key = lanes_[index_of(lane)];
  if (key.channel == LaneKey::kCalls) return nullptr;
  const auto key_of = [](const ChannelStatistics& one) {
    return LaneKey{one.communicator, to_int(one.rank), to_int(one.channel)};
  };
  const auto found = std::ranges::lower_bound(statistics_.channels, key, {}, key_of);
  return found == statistics_.channels.end() || key_of(*found) != key ? nullptr : &*found;
}

std::size_t Replay::index_bytes() const {
  return index_.bytes() + transfers_.bytes() + extras_.size() * sizeof(Extra) +
         extras_by_primitive_.size() * sizeof(std::uint32_t) + lanes_.size() * sizeof(LaneKey);
}

std::span<const EventId> Replay::events(LaneId lane) const { return index_.events(index_of(lane)); }

TimeRange Replay::span(LaneId lane) const { return index_.span(index_of(lane)); }

void Replay::overlapping(LaneId lane, TimeRange range, std::vector<EventId>& into) const {
  index_.overlapping(index_of(lane), range, table_, into);
}

void Replay::fold(LaneId lane, TimeRange range, Nanoseconds resolution,
                  std::vector<Fold>& into) const {
  index_.fold(index_of(lane), range, resolution, table_, into);
}

EventId Replay::primitive_of(EventId half) const {
  if (extras_.empty()) return half;
  const auto found = std::ranges::lower_bound(extras_, half, {}, &Extra::peer);
  return found == extras_.end() || found->peer != half ? half : found->primitive;
}

template <typename OtherEnd>
void Replay::append_partners(EventId primitive, OtherEnd&& other_end,
                             std::vector<EventId>& into) const {
  const auto append = [&](EventId half) {
    const EventId other = other_end(half);
    if (other != kNoEvent) into.push_back(primitive_of(other));
  };
  append(primitive);
  if (extras_.empty()) return;
  const auto peers =
      std::ranges::equal_range(extras_by_primitive_, primitive, {},
                               [this](std::uint32_t place) { return extras_[place].primitive; });
  for (const std::uint32_t place : peers) append(extras_[place].peer);
}

void Replay::receivers_of(EventId primitive, std::vector<EventId>& into) const {
  append_partners(
      primitive,
      [this](EventId half) {
        const TraceEvent event = table_.event(half);
        const auto connection = connection_to(event);
        return connection ? transfers_.receive_of(*connection, half) : kNoEvent;
      },
      into);
}

void Replay::senders_of(EventId primitive, std::vector<EventId>& into) const {
  append_partners(
      primitive,
      [this](EventId half) {
        const TraceEvent event = table_.event(half);
        const auto connection = connection_from(event);
        return connection ? transfers_.send_of(*connection, half) : kNoEvent;
      },
      into);
}

}  // namespace ringside
