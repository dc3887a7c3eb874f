#pragma once

#include "engine/tuning/cost_table.h"
#include "ringside/units.h"

namespace ringside {

/// What a chunk's size depends on.
struct ChunkRequest {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Bytes bytes;        ///< that these channels handle, of the larger of one rank's buffers
  int nchannels = 1;  ///< that share them
};

/// Data of one chunk, a multiple of grain_of(protocol) from 2.22 on: small enough that each channel has some to
/// pipeline, and no larger than its slots.
/// source  NCCL 2.30.7 enqueue.cc: calcCollChunking
Bytes chunk_for(const TuningModel& model, const CommShape& shape, const CostTable& table,
                const ChunkRequest& request);

/// What channels are cut in multiples of: LL 16 B, LL128 1920 B (a warp's lines), Simple 512 B.
Bytes grain_of(Protocol protocol);

}  // namespace ringside
