#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/collectives/task.h"
#include "engine/protocol/slot_fifo.h"
#include "sim/simulate.h"

namespace ringside {

/// What sender and receiver agree on of a chunk.
struct EventMessage {
  std::int64_t piece = -1;
  std::int32_t chunk = -1;
  friend bool operator==(const EventMessage&, const EventMessage&) = default;
};

/// One rank's place on a line.
struct LineEnd {
  std::int32_t line = 0;
  Rank peer = kNoRank;                         ///< on the other side; of a group the first
  const std::vector<Rank>* members = nullptr;  ///< of a group, those on its other side; else null
  std::int64_t count = 0;                      ///< messages posted, or released
  std::int32_t waiter = -1;                    ///< the strand that waits at it
  std::int32_t weight = 1;                     ///< ends of its line that it represents
};

/// A line's way over a link.
struct LinkUse {
  std::int32_t link = 0;  ///< of EventJob::links
  int lines = 1;          ///< of this kind that cross the one link together
  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

/// A connection between two ranks on a channel, or a group: messages one after the other, each over the line's
/// links. Times are known before the clock is there where the line has its links for itself.
struct EventLine {
  std::int32_t path = -1;  ///< in the FairShare; -1: its links are no other line's
  double rate = 0;         ///< where they are its own; bytes/s
  double latency = 0;      ///< from when the last byte has crossed until it is there, s
  double efficiency = 1;
  Rank first_sender = kNoRank;
  bool is_group = false;
  std::shared_ptr<const SwitchGroup> group = nullptr;  ///< where it is one; not of a folded line
  bool is_carrying = false;                            ///< a flow is under way, or about to start
  std::vector<std::int32_t> senders = {}, receivers = {};  ///< LineEnds
  std::int32_t all_senders = 1, all_receivers = 1;         ///< that those represent
  std::vector<int> links = {};                             ///< ids in the network
  std::vector<LinkUse> uses = {};  ///< the same, as far as they differ from each other
  std::int64_t copies = 1;         ///< lines that it represents

  struct Slot {
    EventMessage what;
    std::int32_t parts = 0;  ///< senders that have posted theirs
    std::int32_t taken = 0;  ///< receivers that have released it
    double bytes = 0;        ///< on the wire
    double ready = 0;        ///< when all parts were there
    double crossed = 0;      ///< when its last byte had crossed; once it is carried
    double last_taken = 0;
    double freed = 0;  ///< when all receivers had released the message before, or this one
  };
  std::vector<Slot> slots = {};  ///< kSlots while it is simulated
  std::int64_t begun = 0;        ///< messages of which a part is there
  std::int64_t posted = 0;       ///< messages of which all parts are there
  std::int64_t carried = 0;
  std::int64_t released = 0;  ///< by all receivers
  double last_crossed = 0;
  double bytes = 0;  ///< on the wire, so far

  Slot& slot(std::int64_t message) { return slots[static_cast<std::size_t>(message % kSlots)]; }
};

}  // namespace ringside
