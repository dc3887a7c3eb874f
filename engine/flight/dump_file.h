#pragma once

#include <string>

#include "base/result.h"
#include "engine/flight/dump.h"
#include "engine/flight/settings.h"

namespace ringside {

/// The path of a rank's dump.
std::string dump_path(const FlightSettings& settings, int rank);

/// Writes the dump whole or not at all, over an older one. Where its folder is full or not writable,
/// the dump goes to memory that looks like a disk, under the same name.
/// spare    that memory's folder
/// returns  the path
/// errors   System: neither took it
Result<std::string> write_dump(const FlightDump& dump, const FlightSettings& settings, int rank,
                               const std::string& spare = "/dev/shm");

}  // namespace ringside
