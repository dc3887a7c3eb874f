#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "engine/protocol/line.h"
#include "ringside/units.h"

namespace ringside {

class SharedRegion;

/// Memory that the caller of an end lends it for the slots of Simple, so that messages leave from there and arrive there
/// without a copy: message m, counted from 0, lies in slot m % kSlots.
///
/// Ownership  a sender's slot is the caller's from SendEnd::acquire() to post(), and anew below SendEnd::done(); a receiver's
///            from RecvEnd::arrived() on, until it is released
struct LentSlots {
  std::shared_ptr<const SharedRegion> region;
  std::size_t offset = 0;  ///< of slot 0 in it; a multiple of kGrain

  static constexpr std::size_t kGrain = 128;
  /// From one slot to the next.
  static constexpr std::size_t stride(Bytes slot_size) { return round_up(slot_size.value, kGrain); }
  static constexpr Bytes memory_for(Bytes slot_size) { return Bytes{kSlots * stride(slot_size)}; }
};

/// A bug of the caller's: less memory than slots take.
void check_room(const LentSlots& slots, Bytes slot_size);

/// What is offered to an end, the best first: it takes the first that its medium reaches, or none.
using LentOffers = std::vector<LentSlots>;

/// What an end has taken of that.
struct LentUse {
  const SharedRegion* region = nullptr;  ///< null: nothing, it has slots of its own
  std::string_view how = {};             ///< for people: "GPUDirect by dma-buf"
};

}  // namespace ringside
