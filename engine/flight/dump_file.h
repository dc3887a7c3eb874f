#pragma once

#include <string>

#include "base/result.h"
#include "engine/flight/dump.h"
#include "engine/flight/settings.h"

namespace ringside {

/// Returns the path of a rank's dump.
std::string dump_path(const FlightSettings& settings, int rank);

/// Writes the dump atomically, replacing an older one. If its folder is full or not writable, the dump is written to a
/// folder in memory (tmpfs), under the same name.
/// spare    the folder in memory
/// returns  the path
/// errors   System: both folders failed
Result<std::string> write_dump(const FlightDump& dump, const FlightSettings& settings, int rank,
                               const std::string& spare = "/dev/shm");

}  // namespace ringside
