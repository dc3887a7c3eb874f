#pragma once

#include <optional>

#include "engine/tuning/cost_table.h"
#include "ringside/units.h"

namespace ringside {

/// What the size makes of a Cost.
struct Prediction {
  float time_us = 0;
  float latency_us = 0;     ///< with the plateau of rings and what pipelining saves
  float bandwidth_gbs = 0;  ///< with the correction of trees
};

/// Time = latency + bytes / bandwidth.
/// bytes   of the larger of one rank's buffers
/// ntasks  collectives that are launched together; >= 1
/// returns nothing where the combination is not available
/// source  NCCL 2.30.7 graph/tuning.cc: ncclTopoGetAlgoTime
std::optional<Prediction> predict(const TuningModel& model, const CommShape& shape,
                                  const CostTable& table, Collective collective,
                                  Algorithm algorithm, Protocol protocol, Bytes bytes,
                                  int ntasks = 1);

}  // namespace ringside
