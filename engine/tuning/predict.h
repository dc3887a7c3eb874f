#pragma once

#include <cstdint>
#include <optional>

#include "engine/tuning/cost_table.h"
#include "ringside/units.h"

namespace ringside {

/// The predicted time of one call.
struct Prediction {
  float time_us = 0;
  float latency_us = 0;     ///< after the corrections for ring plateau and pipelining
  float bandwidth_gbs = 0;  ///< after the correction for trees
};

/// From this size per channel and rank, the latency of rings may change.
constexpr std::uint64_t kRingPlateauBytes = 64;

/// Predicts time = latency + bytes / bandwidth.
/// bytes   size of the larger of a rank's buffers
/// ntasks  collectives that are launched together; >= 1
/// returns nothing if the combination is not available
/// source  NCCL 2.30.7 graph/tuning.cc: ncclTopoGetAlgoTime
std::optional<Prediction> predict(const TuningModel& model, const CommShape& shape,
                                  const CostTable& table, Collective collective,
                                  Algorithm algorithm, Protocol protocol, Bytes bytes,
                                  int ntasks = 1);

}  // namespace ringside
