#pragma once

#include "engine/tuning/cost_table.h"
#include "ringside/units.h"

namespace ringside {

/// The inputs of chunk_for().
struct ChunkRequest {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Bytes bytes;        ///< bytes of the larger of a rank's buffers that these channels process
  int nchannels = 1;  ///< channels that share `bytes`
};

/// Returns the size of a chunk: small enough for each channel to pipeline several, and at most its slots. From 2.22 on
/// it is a multiple of grain_of(protocol).
/// source  NCCL 2.30.7 enqueue.cc: calcCollChunking
Bytes chunk_for(const TuningModel& model, const CommShape& shape, const CostTable& table,
                const ChunkRequest& request);

/// Returns the unit of which channel shares are multiples: LL 16 B, LL128 1920 B (a warp's lines), Simple 512 B.
Bytes grain_of(Protocol protocol);

}  // namespace ringside
