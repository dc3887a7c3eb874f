#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tuning/select.h"

namespace ringside::study {

/// NCCL's choices for an all-reduce on one preset without settings, one for each of
/// decision_sizes().
struct DecisionRow {
  std::string preset;
  int nodes = 0;  ///< in the preset's unit
  CommShape shape;
  std::vector<TunedChoice> choices;  ///< by size
};

std::span<const Bytes> decision_sizes();

/// Computes the newest NCCL's decisions on 1, 2, 4 and 16 nodes of each preset.
/// only    the one preset to include; empty: all presets
/// errors  as load_hosts()
Result<std::vector<DecisionRow>> decisions(const std::string& only);

}  // namespace ringside::study
