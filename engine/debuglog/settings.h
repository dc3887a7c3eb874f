#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "engine/debuglog/subsystem.h"
#include "engine/debuglog/timestamps.h"
#include "engine/debuglog/version.h"

namespace ringside {

/// The settings of a process's debug log: level, subsystems and file.
/// source  docs/formats 1.2, 1.5, 1.6
struct DebugSettings {
  /// NCCL_DEBUG: none, version, warn, info, abort or trace, in any letter case; other words mean none. Empty: it is not
  /// set, which NCCL treats as none.
  std::optional<DebugLevel> level = {};
  Subsystems shown = {};  ///< NCCL_DEBUG_SUBSYS; words that no version knows are ignored
  std::string file = {};  ///< NCCL_DEBUG_FILE with %h and %p filled in; empty: the standard stream
  Timestamps times = {};  ///< local time

  [[nodiscard]] bool has(DebugLevel least) const { return level && *level >= least; }
};

/// Reads the settings from the environment.
/// host  as returned by log_host()
DebugSettings debug_settings(const Environment& environment, NcclVersion version,
                             std::string_view host, int pid);

/// Returns a host's name as printed in lines: up to its first dot, from 2.29 on with `-` for `%` and `/`.
std::string log_host(NcclVersion version, std::string_view name);

}  // namespace ringside
