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

/// Reads the hosts of a golden file from the topologies next to it; throws if that fails.
///
/// release  the release whose answer is wanted, as in load_release()
Case read_case(const Json& golden, std::string_view release = kBaseRelease);

/// Computes our own answer; throws where there is none.
Job solve(const Json& golden, std::string_view release = kBaseRelease);

}  // namespace ringside::oracle
