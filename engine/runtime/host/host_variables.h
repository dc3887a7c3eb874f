#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// What NCCL's variables ask of calls on hosts; alike on every rank.
struct HostVariables {
  bool is_shm_disabled = false;  ///< NCCL_SHM_DISABLE: ranks of a host talk over TCP
  int most_channels = 0;         ///< NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS; 0: no bound
  std::vector<std::pair<std::string, std::int64_t>> set = {};  ///< those that are set, to be echoed

  /// The settings within the bound.
  [[nodiscard]] CallWishes bounded(CallWishes wishes) const;
};

/// errors  InvalidArgument: a value that is no number, or out of its range
Result<HostVariables> host_variables();

}  // namespace ringside
