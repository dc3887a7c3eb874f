#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/replay/event_table.h"
#include "trace/replay/interval_index.h"
#include "trace/replay/transfer_index.h"
#include "trace/statistics.h"

namespace ringside {

/// The events of one row: the primitives of a channel of a rank, or the rank's calls as a whole.
struct LaneKey {
  static constexpr std::int32_t kCalls = -1;

  std::uint32_t communicator = 0;
  std::int32_t rank = 0;
  std::int32_t channel = kCalls;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};

enum class LaneId : std::uint32_t {};  ///< place among Replay::lanes()

/// An .rtrace file with an index over its events by communicator, rank, channel and time: what a window or
/// an analysis asks again and again. Events stay where they are, in the mapped file or in memory, and are
/// read as they are asked for.
///
/// memory     about 9 bytes an event, up to 12 a transfer (TransferIndex), 300 a block
/// Threads    any, once made
/// Ownership  of the file
class Replay {
 public:
  /// Called now and then with the share of the file that has been read; returning false ends the work.
  using OnProgress = std::function<bool(double)>;

  /// Goes over all events once.
  /// errors  as TraceFile::open(); Unsupported: 2^32 events or more; Aborted: on_progress said so
  static Result<Replay> open(const std::string& path, const OnProgress& on_progress = {});
  static Result<Replay> make(TraceFile file, const OnProgress& on_progress = {});

  [[nodiscard]] const TraceFile& file() const { return table_.file(); }

  /// Memory that it holds in addition to the file, without statistics and places of blocks.
  [[nodiscard]] std::size_t index_bytes() const;

  /// What statistics_of(file()) says.
  [[nodiscard]] const TraceStatistics& statistics() const { return statistics_; }

  /// Sorted: by communicator, rank, channel; the lane of the calls precedes those of the channels.
  [[nodiscard]] std::span<const LaneKey> lanes() const { return lanes_; }
  [[nodiscard]] std::optional<LaneId> find(const LaneKey& key) const;

  /// A communicator's lanes, and a rank's of it: places among lanes(), from the first up to the second.
  struct LaneRange {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  [[nodiscard]] LaneRange lanes_of(std::uint32_t communicator) const;
  [[nodiscard]] LaneRange lanes_of(std::uint32_t communicator, std::int32_t rank) const;

  /// Of a channel; null for the lane of the calls.
  [[nodiscard]] const ChannelStatistics* statistics(LaneId lane) const;

  /// By their beginning. Events of kind Peer are in no lane: peers_of() has them.
  [[nodiscard]] std::span<const EventId> events(LaneId lane) const;
  [[nodiscard]] TimeRange span(LaneId lane) const;
  [[nodiscard]] TraceEvent event(EventId id) const { return table_.event(id); }

  /// As IntervalIndex: appended in the order of their beginning.
  void overlapping(LaneId lane, TimeRange range, std::vector<EventId>& into) const;
  void fold(LaneId lane, TimeRange range, Nanoseconds resolution, std::vector<Fold>& into) const;

  /// Whom a primitive's chunk went to and came from, as primitives: each peer's for itself, its own first.
  /// Omits what has no other half in the file.
  void receivers_of(EventId primitive, std::vector<EventId>& into) const;
  void senders_of(EventId primitive, std::vector<EventId>& into) const;

 private:
  class Builder;

  /// An event of kind Peer, and the primitive that it belongs to.
  struct Extra {
    EventId peer;
    EventId primitive;
  };
  [[nodiscard]] EventId primitive_of(EventId half) const;
  /// Appends other_end(half) of the primitive and of those of kind Peer that belong to it.
  template <typename OtherEnd>
  void append_partners(EventId primitive, OtherEnd&& other_end, std::vector<EventId>& into) const;

  explicit Replay(EventTable table) : table_(std::move(table)) {}

  EventTable table_;
  TraceStatistics statistics_;
  std::vector<LaneKey> lanes_;
  IntervalIndex index_;
  TransferIndex transfers_;
  std::vector<Extra> extras_;                       ///< by peer
  std::vector<std::uint32_t> extras_by_primitive_;  ///< places among extras_
};

}  // namespace ringside
