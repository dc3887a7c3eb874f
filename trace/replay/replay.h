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

/// A lane: the primitives of one channel of a rank, or the whole calls of a rank (channel kCalls).
struct LaneKey {
  static constexpr std::int32_t kCalls = -1;

  std::uint32_t communicator = 0;
  std::int32_t rank = 0;
  std::int32_t channel = kCalls;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};

enum class LaneId : std::uint32_t {};  ///< index in Replay::lanes()

/// An .rtrace file with an index of its events by communicator, rank, channel and time, for windows
/// and analyses. Events are read in place from the mapped file or from memory.
///
/// memory     about 9 bytes per event, up to 12 per transfer (TransferIndex), 300 per block
/// Threads    any, once made
/// Ownership  owns the file
class Replay {
 public:
  /// Receives the read share of the file now and then; returning false cancels.
  using OnProgress = std::function<bool(double)>;

  /// Reads all events once and builds the index.
  /// errors  as TraceFile::open(); Unsupported: 2^32 events or more; Aborted: on_progress returned
  ///         false
  static Result<Replay> open(const std::string& path, const OnProgress& on_progress = {});
  static Result<Replay> make(TraceFile file, const OnProgress& on_progress = {});

  [[nodiscard]] const TraceFile& file() const { return table_.file(); }

  /// Returns the memory of the index, in addition to the file, without statistics and block
  /// positions.
  [[nodiscard]] std::size_t index_bytes() const;

  /// Returns the same as statistics_of(file()).
  [[nodiscard]] const TraceStatistics& statistics() const { return statistics_; }

  /// Returns the lanes sorted by communicator, rank, channel; the lane of the calls precedes those
  /// of the channels.
  [[nodiscard]] std::span<const LaneKey> lanes() const { return lanes_; }
  [[nodiscard]] std::optional<LaneId> find(const LaneKey& key) const;

  /// Indexes [first, last) in lanes(): the lanes of a communicator, or of one of its ranks.
  struct LaneRange {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  [[nodiscard]] LaneRange lanes_of(std::uint32_t communicator) const;
  [[nodiscard]] LaneRange lanes_of(std::uint32_t communicator, std::int32_t rank) const;

  /// Returns the statistics of a channel; null for the lane of the calls.
  [[nodiscard]] const ChannelStatistics* statistics(LaneId lane) const;

  /// Returns the events of a lane by begin. Events of kind Peer are in no lane.
  [[nodiscard]] std::span<const EventId> events(LaneId lane) const;
  [[nodiscard]] TimeRange span(LaneId lane) const;
  [[nodiscard]] TraceEvent event(EventId id) const { return table_.event(id); }

  /// Append the lane's events in a range, or their folds, as IntervalIndex::overlapping() and fold().
  void overlapping(LaneId lane, TimeRange range, std::vector<EventId>& into) const;
  void fold(LaneId lane, TimeRange range, Nanoseconds resolution, std::vector<Fold>& into) const;

  /// Append the primitives that received a primitive's chunk, or that sent it: first the
  /// counterpart of its own event, then those of its Peer events. Unmatched ones are omitted.
  void receivers_of(EventId primitive, std::vector<EventId>& into) const;
  void senders_of(EventId primitive, std::vector<EventId>& into) const;

 private:
  class Builder;

  /// An event of kind Peer with its primitive.
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
  std::vector<Extra> extras_;                       ///< sorted by peer
  std::vector<std::uint32_t> extras_by_primitive_;  ///< indexes into extras_, sorted by primitive
};

}  // namespace ringside
