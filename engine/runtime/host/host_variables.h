#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// The values of the NCCL variables that affect calls on hosts. They are the same on every rank.
struct HostVariables {
  bool is_shm_disabled = false;  ///< NCCL_SHM_DISABLE: ranks of one host use TCP
  int most_channels = 0;         ///< NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS; 0: no bound
  /// The variables that are set, for the log
  std::vector<std::pair<std::string, std::int64_t>> set = {};

  /// Returns the settings with the number of channels limited to most_channels.
  [[nodiscard]] CallSettings bounded(CallSettings settings) const;
};

/// Reads the variables from the environment.
/// errors  InvalidArgument: a value that is not a number, or out of its range
Result<HostVariables> host_variables();

}  // namespace ringside
