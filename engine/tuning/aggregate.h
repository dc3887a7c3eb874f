#pragma once

#include <span>
#include <vector>

#include "engine/tuning/select.h"

namespace ringside {

/// Collectives of one group for which the tuner makes one choice.
struct Aggregate {
  std::vector<std::size_t> members = {};  ///< indices in the group, least traffic first
  TuningCall whole;                       ///< one member's call, with the sum of all members' bytes
};

/// Groups calls of one kind (collective, reduction, type) while the traffic of each is less than four times the least
/// of them. Kinds are ordered by their largest traffic, descending.
/// source  NCCL 2.30.7 enqueue.cc: ncclPrepareTasks
std::vector<Aggregate> aggregates(std::span<const TuningCall> calls, int nranks);

}  // namespace ringside
