#pragma once

#include "engine/tuning/cost_table.h"
#include "ringside/units.h"

namespace ringside {

/// How wide a collective may run.
struct Width {
  int nchannels = 1;  ///< at most; what the bytes fill may be fewer: split_channels()
  int nthreads = 0;   ///< of a block
};

/// Channels that a collective begins with and that bytes are dealt out to, but for NVLS: without those that were added for
/// it, where the version leaves them out.
int collective_channels(const TuningModel& model, const CommShape& shape);

/// Fewer channels, then fewer threads, until each thread has enough bytes.
/// bytes   of the larger of one rank's buffers
/// source  NCCL 2.30.7 enqueue.cc: topoGetAlgoInfo
Width width_for(const TuningModel& model, const CommShape& shape, const CostTable& table,
                Algorithm algorithm, Protocol protocol, Bytes bytes);

}  // namespace ringside
