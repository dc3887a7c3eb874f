#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "engine/debuglog/subsystem.h"
#include "engine/debuglog/timestamps.h"
#include "engine/debuglog/version.h"

namespace ringside {

/// What a process is asked to log, and where to.
/// source  docs/formats 1.2, 1.5, 1.6
struct DebugSettings {
  /// NCCL_DEBUG: none, version, warn, info, abort or trace, in any case; other words are none. Nothing:
  /// it is not set, which NCCL takes for none.
  std::optional<DebugLevel> level = {};
  Subsystems shown = {};  ///< NCCL_DEBUG_SUBSYS; what no version knows counts for nothing
  std::string file = {};  ///< NCCL_DEBUG_FILE with %h and %p filled in; empty: the standard stream
  Timestamps times = {};  ///< local time

  [[nodiscard]] bool has(DebugLevel least) const { return level && *level >= least; }
};

/// host  as log_host() has it
DebugSettings debug_settings(const Environment& environment, NcclVersion version,
                             std::string_view host, int pid);

/// A host's name as lines have it: up to its first dot, from 2.29 on with `-` for `%` and `/`.
std::string log_host(NcclVersion version, std::string_view name);

}  // namespace ringside
