#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/replay/event_table.h"

namespace ringside {

/// Neighbours on a lane that are too short to be distinguished; or one event that is long enough.
struct Fold {
  TimeRange time;                ///< from the first beginning to the last end
  std::uint32_t count = 0;       ///< events
  std::uint32_t primitives = 0;  ///< a bit for each that is there: 1 << Primitive
  Nanoseconds busy{0};           ///< the sum of their durations
  EventId longest = kNoEvent;
  Nanoseconds longest_time{0};
};

/// Events of many lanes, found by time. A lane's events are sorted by their beginning, with a pyramid over
/// them: a node says of what is below it when it begins and ends, and which event is the longest. So
/// one that began long ago is found as quickly as one that begins in the range.
///
/// memory   4 bytes an event, and 5.3 for the pyramid
/// Threads  any, once filled
class IntervalIndex {
 public:
  static constexpr std::size_t kLeaf = 8;    ///< events below a node of the lowest level
  static constexpr std::size_t kFanOut = 4;  ///< nodes below one of the others

  /// All lanes' events, behind each other: readable ones of the table that fill() is given, those of a lane in any order.
  /// counts  how many each lane has, all of them together
  void take(std::vector<EventId> events, std::span<const std::uint32_t> counts);

  /// Makes a lane of take() ready to be asked.
  void fill(std::size_t lane, const EventTable& table);

  [[nodiscard]] std::size_t lane_count() const { return lanes_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return lanes_.size() * sizeof(Lane) + events_.size() * sizeof(EventId) +
           nodes_.size() * sizeof(Node);
  }

  /// By their beginning; those that begin together in the file's order.
  [[nodiscard]] std::span<const EventId> events(std::size_t lane) const;

  /// From the first beginning to the last end; {0, 0} without events.
  [[nodiscard]] TimeRange span(std::size_t lane) const;

  /// Appends the lane's events that are seen in `range`, by their beginning.
  /// takes  O(log n + k) for k events, on a lane whose events follow each other
  void overlapping(std::size_t lane, TimeRange range, const EventTable& table,
                   std::vector<EventId>& into) const;

  /// The same events as at most about 2 (range / resolution) folds, and one for each event that is as long
  /// as the resolution or longer: such an event is always a fold of its own. Each event is in one fold.
  /// takes  O(4 range / resolution + log n), however many events there are
  void fold(std::size_t lane, TimeRange range, Nanoseconds resolution, const EventTable& table,
            std::vector<Fold>& into) const;

 private:
  struct Lane {
    std::uint32_t first;  ///< of events_
    std::uint32_t count;
    std::size_t first_node;  ///< of nodes_: the lowest level first
  };
  /// 32 bytes, of which there are a third as many as events.
  struct Node {
    TimeRange time;
    EventId longest;
    std::uint32_t longest_ns;  ///< UINT32_MAX: that or more; the event knows
    float busy_ns;             ///< a sum, of which what is drawn needs no more digits
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
