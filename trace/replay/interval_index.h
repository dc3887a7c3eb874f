#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/replay/event_table.h"

namespace ringside {

/// Adjacent events of a lane that are too short to distinguish, or a single long event.
struct Fold {
  TimeRange time;                ///< from the first beginning to the last end
  std::uint32_t count = 0;       ///< events
  std::uint32_t primitives = 0;  ///< bit mask: 1 << Primitive for each primitive
  Nanoseconds busy{0};           ///< sum of the durations
  EventId longest = kNoEvent;
  Nanoseconds longest_time{0};
};

/// Finds events of many lanes by time. A lane's events are sorted by begin, with a tree over them:
/// each node stores the time range of the events below it and their longest event. So events that
/// began long ago are found as fast as recent ones.
///
/// memory   4 bytes per event, and 5.3 for the tree
/// Threads  any, once filled
class IntervalIndex {
 public:
  static constexpr std::size_t kLeaf = 8;    ///< events per node of the lowest level
  static constexpr std::size_t kFanOut = 4;  ///< children per node of the other levels

  /// Takes the events of all lanes, lane after lane: readable events of the table that fill() gets,
  /// in any order within a lane.
  /// counts  number of events of each lane; they add up to events.size()
  void take(std::vector<EventId> events, std::span<const std::uint32_t> counts);

  /// Builds the index of one lane. Call it after take().
  void fill(std::size_t lane, const EventTable& table);

  [[nodiscard]] std::size_t lane_count() const { return lanes_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return lanes_.size() * sizeof(Lane) + events_.size() * sizeof(EventId) +
           nodes_.size() * sizeof(Node);
  }

  /// Returns the events by begin; events with equal begin are in the order of the file.
  [[nodiscard]] std::span<const EventId> events(std::size_t lane) const;

  /// Returns the range from the first begin to the last end; {0, 0} without events.
  [[nodiscard]] TimeRange span(std::size_t lane) const;

  /// Appends the events of the lane that overlap `range`, by begin.
  /// takes  O(log n + k) for k events, on a lane with consecutive events
  void overlapping(std::size_t lane, TimeRange range, const EventTable& table,
                   std::vector<EventId>& into) const;

  /// Appends the events in `range` as about 2 (range / resolution) folds at most, plus one fold for
  /// each event of at least the resolution. Each event is in exactly one fold.
  /// takes  O(4 range / resolution + log n), whatever the number of events
  void fold(std::size_t lane, TimeRange range, Nanoseconds resolution, const EventTable& table,
            std::vector<Fold>& into) const;

 private:
  struct Lane {
    std::uint32_t first;  ///< index into events_
    std::uint32_t count;
    std::size_t first_node;  ///< index into nodes_; the lowest level first
  };
  /// 32 bytes; there is one node per six events.
  struct Node {
    TimeRange time;
    EventId longest;
    std::uint32_t longest_ns;  ///< UINT32_MAX: at least that long; see the event
    float busy_ns;             ///< a sum; drawing needs no higher precision
    std::uint16_t primitives;
  };
  static Node node_of(const Fold& fold);
  static Fold fold_of(const Node& node, std::uint32_t count, const EventTable& table);
  class Walk;

  std::vector<Lane> lanes_;
  std::vector<EventId> events_;
  std::vector<Node> nodes_;
};

}  // namespace ringside
