#pragma once

#include <string>

#include "base/json.h"
#include "engine/channels/job.h"

namespace ringside::oracle {

/// What a golden file was computed for.
struct Case {
  JobHosts hosts;
  TopologyParameters topology;
  ChannelParameters channels;
};

/// The hosts of a golden file, read from the topologies beside it; throws where that fails.
Case read_case(const Json& golden);

/// Our own answer to it; throws where there is none.
Job solve(const Json& golden);

}  // namespace ringside::oracle
