#pragma once

#include <span>

#include "engine/collectives/direct_stores.h"
#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// Bytes of data that kernels load and store: inputs, outputs and slots, including flags of LL and LL128, without
/// counters.
struct DeviceTraffic {
  Bytes loaded, stored;

  /// Returns the size of a copy that loads and stores as many bytes.
  [[nodiscard]] Bytes as_copy() const { return Bytes{(loaded.value + stored.value) / 2}; }
  friend bool operator==(const DeviceTraffic&, const DeviceTraffic&) = default;
};

/// Returns the bytes that one rank's kernel loads and stores in a call, computed from its recorded programs.
/// tasks    [channel]: the rank's tasks
/// direct   [channel]: messages that bypass slots; empty: none
/// element  size of one element
DeviceTraffic traffic_of(std::span<const ChannelTask> tasks, std::span<const DirectStores> direct,
                         const Choice& choice, Bytes element);

}  // namespace ringside
