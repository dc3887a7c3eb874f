#pragma once

#include <atomic>
#include <cstdint>

#include "base/words.h"
#include "ringside/call_site.h"

/// One entry of the flight recorder's ring. Private to this folder.

namespace ringside {

/// How a call ended that ends independently of others. The end of an ordered one is in its group.
enum class FlightFate : std::uint8_t { Ordered, Pending, Done, Failed };

/// One entry of the ring, a cache line. Only the thread that has set `is_held` reads and writes the other members,
/// which takes 5 ns without contention. The slot does not store whether its call has ended: the calls of a communicator
/// run one after the other, so the communicator knows.
struct alignas(64) FlightSlot {
  std::atomic_flag is_held;
  bool is_end : 1 = false;  ///< the entry that ends a call of several messages
  FlightFate fate : 2 = FlightFate::Ordered;
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  std::uint32_t group = 0;
  std::uint32_t thread = 0;
  std::int32_t other = -1;   ///< peer of a message, or root of a collective; -1: none
  std::uint64_t number = 0;  ///< record_id + 1; 0: the slot is unused
  std::int64_t created = 0;
  std::int64_t input = 0, output = 0;
  std::uint32_t op_id = 0, seq = 0;
  const CallSite* site = nullptr;
};
static_assert(sizeof(FlightSlot) == 64);

/// The times at which a slot's call began and ended, if they are recorded.
struct FlightTimes {
  std::uint64_t number =
      0;  ///< FlightSlot::number when the times were stored; guarded by the slot's lock
  std::int64_t started = 0, ended = 0;
};

/// Holds a slot's lock while it exists. Waits by spinning: holders keep it for some stores only.
class HeldFlightSlot {
 public:
  explicit HeldFlightSlot(FlightSlot& slot) : slot_(slot) {
    while (slot_.is_held.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~HeldFlightSlot() { slot_.is_held.clear(std::memory_order_release); }
  HeldFlightSlot(const HeldFlightSlot&) = delete;
  HeldFlightSlot& operator=(const HeldFlightSlot&) = delete;

 private:
  FlightSlot& slot_;
};

}  // namespace ringside
