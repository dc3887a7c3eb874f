#pragma once

#include <optional>

#include "engine/channels/job.h"
#include "engine/tuning/select.h"
#include "sim/simulate.h"

namespace ringside {

/// NCCL's choice for a call, with the costs that the simulator uses.
struct SimTuned {
  Choice choice;
  SimCosts costs;
  SimOverheads overheads = {};
  std::optional<GraphId> graph = {};  ///< graph whose NICs it uses; none: point-to-point
  /// NCCL's own prediction; none: NCCL predicts no time for it.
  std::optional<Prediction> prediction = {};
};

/// Returns NCCL's choice for one collective that is launched alone. Sends and receives use all
/// point-to-point channels, and LL if small; all_gather_v is tuned as all_gather.
/// errors  as Tuner::choose()
Result<SimTuned> tune(const Tuner& tuner, const SimModel& model, const Surroundings& surroundings,
                      const TuningCall& call);

/// Returns the job's channels, copied up to the number of point-to-point channels. It depends only
/// on the nodes.
Channels channels_of(const Job& job);

}  // namespace ringside
