#pragma once

#include <vector>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/collectives/run.h"
#include "engine/tuning/choice.h"

namespace ringside {

/// What a caller asks for, the same on every rank.
struct CallShape {
  std::int64_t count =
      0;  ///< elements: each rank's buffer; all_gather, reduce_scatter: each rank's block
  DataType type = DataType::Float32;
  Rank root{0};  ///< broadcast, reduce
};

/// The collective as one task a channel, for `rank`: what its Primitives models run, on hosts, on
/// GPUs and in the simulator alike.
///
/// returns  choice.nchannels tasks, index = channel; those beyond the data have no loops
/// errors   Unsupported: no such collective by that algorithm.  InvalidArgument: rank or root not
/// on the
///          rings, count negative, more channels chosen than there are, a chunk smaller than one
///          element
/// source   NCCL 2.30: 512-byte grain of a channel's share (simple), 16-byte grain of a shrunken
/// chunk
Result<std::vector<ChannelTask>> plan_channels(const Choice& choice, const Channels& channels,
                                               const CallShape& call, Rank rank);

/// Bytes of the larger of one rank's two buffers: what sizes are given in, and choices made by.
Bytes call_bytes(Collective collective, const CallShape& call, int nranks);

}  // namespace ringside
