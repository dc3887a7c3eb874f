#pragma once

#include <optional>
#include <string>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// How many channels the release that wrote the logs lays on the hosts that they dump.
struct ExpectedChannels {
  int logged = 0;         ///< the fewest that collectives of the widest communicator have on a rank
  int with_settings = 0;  ///< under the variables that the logs echo
  int without = 0;        ///< under none
  std::string judged_by = {};  ///< "the topology that node-a dumped, NCCL 2.21.5"
};

/// Told only where the engine is known to know the job: under the logs' variables it finds the very rings that their
/// GRAPH lines have, on as many ranks.
/// returns  nothing without a whole dump and such lines, of RCCL, and where rings differ
std::optional<ExpectedChannels> expected_channels(const JobFacts& facts);

}  // namespace ringside::audit
