#include "gui/model/connection.h"

#include <algorithm>
#include <map>

namespace ringside::gui {
namespace {

constexpr std::int64_t kNever = INT64_MAX;

}  // namespace

ConnectionHistory ConnectionHistory::make(const Replay& replay, const ConnectionKey& key) {
  ConnectionHistory made;
  const auto lane = replay.find({key.communicator, key.sender, key.channel});
  if (!lane) return made;
  std::vector<EventId> others;
  for (const EventId id : replay.events(*lane)) {
    const TraceEvent event = replay.event(id);
    if (!parts_of(event.primitive).sends || event.kind != EventKind::Primitive) continue;
    others.clear();
    replay.receivers_of(id, others);
    Message message{.send = id,
                    .sending = {event.begin_ns, event.end_ns},
                    .taking = {kNever, kNever},
                    .bytes = event.bytes};
    bool is_here = event.send_peer == key.receiver;
    for (const EventId other : others) {
      const TraceEvent taken = replay.event(other);
      if (taken.rank != key.receiver) continue;
      is_here = true;
      message.receive = other;
      message.taking = {taken.begin_ns, taken.end_ns};
    }
    if (is_here) made.messages_.push_back(message);
  }
  return made;
}

ConnectionHistory::Moment ConnectionHistory::at(std::int64_t time_ns) const {
  // Both sides proceed in order: the messages that have ended come first.
  Moment moment;
  const auto posted = std::ranges::partition_point(
      messages_, [&](const Message& one) { return one.sending.end_ns <= time_ns; });
  moment.posted = static_cast<std::size_t>(posted - messages_.begin());
  moment.is_sending = posted != messages_.end() && posted->sending.begin_ns <= time_ns;
  const auto taken = std::ranges::partition_point(
      messages_, [&](const Message& one) { return one.taking.end_ns <= time_ns; });
  moment.taken = static_cast<std::size_t>(taken - messages_.begin());
  moment.is_receiving = taken != messages_.end() && taken->taking.begin_ns <= time_ns;
  return moment;
}

std::vector<ConnectionKey> connections_of(const Document& document, std::size_t most) {
  const Replay& replay = *document.replay;
  std::map<ConnectionKey, std::uint64_t> bytes;
  // A sample is enough for an order: the ranks and channels of a job behave alike, and a lane's peers repeat.
  constexpr std::size_t kLanes = 512;
  constexpr std::size_t kEvents = 64;  // of each lane
  const std::size_t lanes = std::min(replay.lanes().size(), kLanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (replay.lanes()[i].channel == LaneKey::kCalls) continue;
    const auto events = replay.events(LaneId{static_cast<std::uint32_t>(i)});
    for (const EventId id : events.first(std::min(events.size(), kEvents))) {
      const TraceEvent event = replay.event(id);
      if (event.kind != EventKind::Primitive || event.send_peer < 0) continue;
      bytes[{event.communicator, event.rank, event.send_peer, event.channel}] += event.bytes;
    }
  }
  std::vector<std::pair<std::uint64_t, ConnectionKey>> order;
  for (const auto& [key, sum] : bytes) order.emplace_back(sum, key);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto& one) { return one.first; });
  std::vector<ConnectionKey> found;
  for (const auto& [sum, key] : order) {
    if (found.size() == most) break;
    found.push_back(key);
  }
  return found;
}

}  // namespace ringside::gui
