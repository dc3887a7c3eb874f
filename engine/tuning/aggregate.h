#pragma once

#include <span>
#include <vector>

#include "engine/tuning/select.h"

namespace ringside {

/// Collectives of one group that are decided together.
struct Aggregate {
  std::vector<std::size_t> members = {};  ///< of the group, least traffic first
  TuningCall whole;                       ///< one member with the bytes of all
};

/// Collectives of one kind (collective, reduction, type) go together while the traffic of each is
/// less than four times that of the least of them. The kind with the most traffic in one comes first.
/// source  NCCL 2.30.7 enqueue.cc: ncclPrepareTasks
std::vector<Aggregate> aggregates(std::span<const TuningCall> calls, int nranks);

}  // namespace ringside
