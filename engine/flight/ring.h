#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/flight/dump.h"
#include "engine/flight/recorder.h"
#include "engine/flight/settings.h"
#include "engine/flight/slot.h"
#include "engine/flight/stack.h"

/// Private to this folder.
namespace ringside {

/// Returns whether the call is one message, which has a peer in place of a root.
bool is_flight_message(Collective collective);

/// The newest entries of a recorder. An entry is the `id`-th that was taken, and replaces the one `capacity` earlier.
///
/// Threads  any
class FlightRing {
 public:
  /// settings  their capacity, which may be 0, and whether times and stacks are recorded
  explicit FlightRing(const FlightSettings& settings);

  /// Reserves places for entries with consecutive ids.
  /// returns  the first id; 0 without a capacity
  std::uint64_t take(std::uint32_t count);
  /// Returns how many places were reserved.
  [[nodiscard]] std::uint64_t taken() const { return next_.load(); }

  /// What the recorder knows of an entry, apart from its FlightFacts.
  struct Place {
    std::uint32_t group = 0;
    bool is_end = false;  ///< as FlightSlot
    FlightFate fate = FlightFate::Ordered;
    std::uint32_t seq = 0, op_id = 0;
    std::int64_t created = 0;  ///< ns of the trace's clock
  };
  /// Writes an entry, with the stack of the calling thread if stacks are recorded.
  void fill(std::uint64_t id, const FlightFacts& facts, const Place& place);

  /// Sets one time of `count` entries from `first` on, as far as they are still in the ring.
  void note_time(std::uint64_t first, std::uint32_t count, std::int64_t FlightTimes::*field,
                 Nanoseconds now);
  /// Sets the end of an entry, if it is still in the ring.
  void set_fate(std::uint64_t id, FlightFate fate);

  /// What the entries of a group's calls depend on.
  struct GroupProgress {
    int rank = 0;                                  ///< this one's, in the group
    std::int64_t completed_op = 0, failed_op = 0;  ///< as the recorder's group
  };
  /// Adds the entries, oldest first. Equal calls share their description.
  /// dump         has its groups
  /// progress_of  is called for each entry after the entry was read: a call that the entry shows is then counted
  void add_entries(FlightDump& dump,
                   const std::function<GroupProgress(std::uint32_t group)>& progress_of);

 private:
  std::atomic<std::uint64_t> next_{0};
  std::vector<FlightSlot> slots_;
  std::vector<FlightTimes> times_;      ///< one a slot, guarded by its lock; empty: not recorded
  std::vector<StackAddresses> stacks_;  ///< one a slot, guarded by its lock; empty: not recorded
};

}  // namespace ringside
