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

/// Identifies a chunk for the check that sender and receiver agree.
struct EventMessage {
  std::int64_t piece = -1;
  std::int32_t chunk = -1;
  friend bool operator==(const EventMessage&, const EventMessage&) = default;
};

/// The end of a line at one rank.
struct LineEnd {
  std::int32_t line = 0;
  /// Rank at the other end; of a group its first member.
  Rank peer = kNoRank;
  /// Of a group: its members at the other side; else null.
  const std::vector<Rank>* members = nullptr;
  std::int64_t count = 0;    ///< messages that this end has posted or released
  std::int32_t waiter = -1;  ///< strand that waits at this end; -1: none
  /// Number of ends of the line that this end represents (folded jobs).
  std::int32_t weight = 1;
};

/// The use of one link by a line.
struct LinkUse {
  std::int32_t link = 0;  ///< index into EventJob::links
  int lines = 1;          ///< number of lines of this class that cross this one link
  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

/// A line: a connection between two ranks on a channel, or a group. It carries messages one after
/// the other over its links. If no other line uses its links, the times of its messages are
/// computed without the event queue.
struct EventLine {
  std::int32_t path = -1;  ///< path in the FairShare; -1: no other line uses its links
  double rate = 0;         ///< bytes/s; valid if path is -1
  double latency = 0;      ///< from a message's last byte on the links to its arrival, s
  /// Share of the links' rates that its messages achieve, 0 to 1.
  double efficiency = 1;
  Rank first_sender = kNoRank;
  bool is_group = false;
  std::shared_ptr<const SwitchGroup> group = nullptr;  ///< null: no group, or a folded line
  bool is_carrying = false;                            ///< a flow is in progress or about to start
  std::vector<std::int32_t> senders = {}, receivers = {};  ///< indexes of LineEnds
  std::int32_t all_senders = 1, all_receivers = 1;         ///< number of ends that those represent
  std::vector<int> links = {};                             ///< ids in the SimNetwork
  std::vector<LinkUse> uses = {};  ///< `links` without the duplicates of a folded job
  std::int64_t copies = 1;         ///< number of lines that this line represents

  struct Slot {
    EventMessage what;
    std::int32_t parts = 0;  ///< senders that have posted their part
    std::int32_t taken = 0;  ///< receivers that have released the message
    double bytes = 0;        ///< on the wire
    double ready = 0;        ///< time at which all parts were posted
    double crossed = 0;      ///< time at which its last byte crossed the links; valid once carried
    double last_taken = 0;   ///< latest time at which a receiver has released it so far
    /// Time at which all receivers had released the slot's previous message, or this one.
    double freed = 0;
  };
  std::vector<Slot> slots = {};  ///< kSlots entries during a simulation
  std::int64_t begun = 0;        ///< messages with at least one part posted
  std::int64_t posted = 0;       ///< messages with all parts posted
  std::int64_t carried = 0;
  std::int64_t released = 0;  ///< messages that all receivers have released
  double last_crossed = 0;    ///< Slot::crossed of the message carried last
  double bytes = 0;           ///< on the wire, so far

  Slot& slot(std::int64_t message) { return slots[static_cast<std::size_t>(message % kSlots)]; }
};

}  // namespace ringside
