#pragma once

#include "base/ids.h"
#include "trace/recorder.h"

namespace ringside {

/// Records one primitive: an event with the first rank of each side, followed by an EventKind::Peer
/// event for each other rank.
///
/// recv, send  call visit(rank) for each rank of that side, in order
template <typename ForEachReceived, typename ForEachSent>
void record_step(TraceLane& lane, TraceEvent event, const ForEachReceived& recv,
                 const ForEachSent& send) {
  const auto first_of = [](const auto& for_each) {
    Rank first = kNoRank;
    for_each([&](Rank rank) {
      if (first == kNoRank) first = rank;
    });
    return to_int(first);
  };
  event.recv_peer = first_of(recv);
  event.send_peer = first_of(send);
  lane.record(event);
  event.kind = EventKind::Peer;
  const auto record_others = [&](const auto& for_each, std::int32_t TraceEvent::*peer) {
    bool is_first = true;
    for_each([&](Rank rank) {
      if (!is_first) {
        event.recv_peer = event.send_peer = -1;
        event.*peer = to_int(rank);
        lane.record(event);
      }
      is_first = false;
    });
  };
  record_others(recv, &TraceEvent::recv_peer);
  record_others(send, &TraceEvent::send_peer);
}

}  // namespace ringside
