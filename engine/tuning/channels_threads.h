#pragma once

#include "engine/tuning/cost_table.h"
#include "ringside/units.h"

namespace ringside {

/// The channels and threads that a collective may use.
struct Width {
  int nchannels = 1;  ///< upper limit; split_channels() may use fewer for few bytes
  int nthreads = 0;   ///< threads of a block
};

/// Returns the number of channels available to a collective other than NVLS. Some versions exclude the channels that
/// were added for NVLS.
int collective_channels(const TuningModel& model, const CommShape& shape);

/// Returns the width for a call: it reduces the channels, then the threads, until each thread has enough bytes.
/// bytes   size of the larger of a rank's buffers
/// source  NCCL 2.30.7 enqueue.cc: topoGetAlgoInfo
Width width_for(const TuningModel& model, const CommShape& shape, const CostTable& table,
                Algorithm algorithm, Protocol protocol, Bytes bytes);

}  // namespace ringside
