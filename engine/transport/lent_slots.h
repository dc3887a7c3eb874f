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

/// A caller's buffer that an end uses for the slots of the Simple protocol, so that messages are sent from and received
/// into it without a copy ("lent" slots). Message m, counted from 0, uses slot m % kSlots.
///
/// Ownership  a sender's caller owns a slot from SendEnd::acquire() to post(), and again once SendEnd::done() counts
///            its message; a receiver's caller owns it from RecvEnd::arrived() to release()
struct LentSlots {
  std::shared_ptr<const SharedRegion> region;
  std::size_t offset = 0;  ///< offset of slot 0 in the region, bytes; a multiple of kGrain

  static constexpr std::size_t kGrain = 128;
  /// Returns the distance between the starts of two slots, bytes.
  static constexpr std::size_t stride(Bytes slot_size) { return round_up(slot_size.value, kGrain); }
  static constexpr Bytes memory_for(Bytes slot_size) { return Bytes{kSlots * stride(slot_size)}; }
};

/// Aborts the program if the region has no room for all slots: that is a bug of the caller.
void check_room(const LentSlots& slots, Bytes slot_size);

/// The buffers offered to an end, the best first. The end uses the first one that its transport can access, or none.
using LentOffers = std::vector<LentSlots>;

/// The buffer that an end uses.
struct LentUse {
  const SharedRegion* region = nullptr;  ///< null: the end allocated its own slots
  std::string_view how = {};  ///< how the transport accesses it, as text: "GPUDirect by dma-buf"
};

}  // namespace ringside
