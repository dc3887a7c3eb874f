#pragma once

#include "engine/channels/channels.h"

namespace ringside {

/// The bus bandwidth at which the first link of each kind is full.
struct RingBounds {
  BytesPerSecond gpu_links;  ///< infinity where no ring uses any
  BytesPerSecond nics;
};

/// What a cluster's links allow rings that all carry the same.
///
/// nchannels  how many of the channels are used, from the first on; 1 .. channels.count()
/// returns    rate x nchannels / (rings through the busiest link of the kind, in one direction)
RingBounds ring_bounds(const Cluster& cluster, const Channels& channels, int nchannels);

}  // namespace ringside
