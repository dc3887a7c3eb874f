#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "engine/channels/job.h"

namespace ringside::oracle {

/// The job that a golden file was computed for.
struct Case {
  JobHosts hosts;
  TopologyParameters topology;
  ChannelParameters channels;
};

/// The hosts of a golden file, read from the topologies next to it; throws where that fails.
/// release  whose answer is asked for, as load_release()
Case read_case(const Json& golden, std::string_view release = kBaseRelease);

/// Our own answer to it; throws where there is none.
Job solve(const Json& golden, std::string_view release = kBaseRelease);

}  // namespace ringside::oracle
