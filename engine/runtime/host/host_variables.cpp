#include "engine/runtime/host/host_variables.h"

#include <algorithm>
#include <optional>

#include "base/env.h"
#include "engine/runtime/host/host_choice.h"

namespace ringside {
namespace {

constexpr std::int64_t kMostLanes = 1024;

/// Reads one variable, and logs it if it is set.
Result<std::optional<std::int64_t>> read(const char* name, std::int64_t least, std::int64_t most,
                                         HostVariables& variables) {
  RINGSIDE_TRY(const std::optional<std::int64_t> value, env_int(name, least, most));
  if (value) variables.set.emplace_back(name, *value);
  return value;
}

}  // namespace

CallSettings HostVariables::bounded(CallSettings settings) const {
  if (most_channels > 0) {
    settings.nchannels = std::min(host_channel_count(settings), most_channels);
  }
  return settings;
}

Result<HostVariables> host_variables() {
  HostVariables variables;
  RINGSIDE_TRY(const auto shm, read("NCCL_SHM_DISABLE", 0, 1, variables));
  variables.is_shm_disabled = shm == 1;
  for (const char* const name : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"}) {
    RINGSIDE_TRY(const auto most, read(name, 1, kMostLanes, variables));
    if (!most) continue;
    const int bound = static_cast<int>(*most);
    variables.most_channels =
        variables.most_channels == 0 ? bound : std::min(variables.most_channels, bound);
  }
  return variables;
}

}  // namespace ringside
