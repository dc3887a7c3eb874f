#pragma once

#include <optional>

#include "engine/channels/job.h"
#include "engine/tuning/select.h"
#include "sim/simulate.h"

namespace ringside {

/// What NCCL would do with a call, in the simulator's terms.
struct SimTuned {
  Choice choice;
  SimCosts costs;
  SimOverheads overheads = {};
  std::optional<GraphId> graph = {};          ///< whose NICs it uses; none: point-to-point
  std::optional<Prediction> prediction = {};  ///< NCCL's own; none: NCCL predicts no time for it
};

/// NCCL's choice for one collective launched alone. What it makes of sends and receives goes over all
/// channels of point-to-point, small ones by LL; all_gather_v as all_gather does.
/// errors  as Tuner::choose()
Result<SimTuned> tune(const Tuner& tuner, const SimModel& model, const Surroundings& surroundings,
                      const TuningCall& call);

/// The job's channels, and as many copies of them as point-to-point has channels: it looks at the nodes
/// alone.
Channels channels_of(const Job& job);

}  // namespace ringside
