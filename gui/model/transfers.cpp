#include "gui/model/transfers.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "trace/match.h"

namespace ringside::gui {
namespace {

constexpr std::size_t kMost = 2'000'000;

}  // namespace

Transfers transfers_of(const Document& document, const CallFacts& call) {
  Transfers made;
  const Replay& replay = *document.replay;
  std::vector<EventId> found;
  std::vector<EventId> others;
  std::unordered_set<std::uint32_t> received;  // by a switch
  const auto [first, last] = replay.lanes_of(call.communicator);
  for (std::size_t i = first; i < last; ++i) {
    if (replay.lanes()[i].channel == LaneKey::kCalls) continue;
    found.clear();
    replay.overlapping(LaneId{static_cast<std::uint32_t>(i)},
                       {call.time.begin_ns, call.time.end_ns + 1}, found);
    for (const EventId id : found) {
      const TraceEvent event = replay.event(id);
      if (event.sequence != call.sequence || event.kind != EventKind::Primitive ||
          event.send_peer < 0) {
        continue;
      }
      if (made.all.size() >= kMost) {
        made.is_cut = true;
        break;
      }
      Transfer one{.begin_ns = event.begin_ns,
                   .sent_ns = event.end_ns,
                   .waited_ns = event.end_ns,
                   .taken_ns = INT64_MAX,
                   .bytes = event.bytes,
                   .from = event.rank,
                   .to = event.send_peer,
                   .channel = event.channel,
                   .send = id};
      others.clear();
      replay.receivers_of(id, others);
      if (others.empty()) made.all.push_back(one);
      for (const EventId other : others) {
        const TraceEvent taken = replay.event(other);
        one.is_by_switch = goes_by_switch(event, taken);
        one.enters = !one.is_by_switch || other == others.front();
        one.leaves = !one.is_by_switch || received.insert(to_int(other)).second;
        one.to = taken.rank;
        one.waited_ns = taken.begin_ns;
        one.taken_ns = taken.end_ns;
        made.all.push_back(one);
      }
    }
  }
  std::ranges::stable_sort(made.all, {}, &Transfer::begin_ns);
  for (std::size_t i = 0; i < made.all.size(); ++i) {
    if (i % Transfers::kBlock == 0) made.last_taken_ns.push_back(INT64_MIN);
    made.last_taken_ns.back() = std::max(made.last_taken_ns.back(), made.all[i].taken_ns);
  }
  return made;
}

std::uint64_t most_bytes_of_a_link(const Transfers& transfers) {
  constexpr std::int32_t kSwitch = -1;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> bytes;
  for (const Transfer& one : transfers.all) {
    if (!one.is_by_switch) {
      bytes[{one.from, one.to}] += one.bytes;
      continue;
    }
    if (one.enters) bytes[{one.from, kSwitch}] += one.bytes;
    if (one.leaves) bytes[{kSwitch, one.to}] += one.bytes;
  }
  std::uint64_t most = 0;
  for (const auto& [ends, sum] : bytes) most = std::max(most, sum);
  return most;
}

}  // namespace ringside::gui
