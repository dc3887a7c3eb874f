#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// The memory that new data of this process can take, without swap, before the kernel kills a
/// process.
struct FreeMemory {
  Bytes bytes;
  /// What sets that limit, for messages: "on this host", "in control group /job"
  std::string where;
};

/// Returns the minimum of the host's free memory (MemAvailable) and the free memory of the
/// process's control group (versions 1 and 2) and of its parent groups. Page cache counts as free.
/// root     prefix of /proc and /sys
/// returns  nullopt if the host does not report it
std::optional<FreeMemory> free_memory(const std::string& root = {});

/// Checks that so much memory is free. Memory shared between processes (memfd) is not limited by
/// /dev/shm.
/// what    the user of the memory; begins the message
/// help    how to need less
/// errors  System: names both figures
Status check_memory(Bytes needed, const std::string& what, const std::string& help,
                    const std::string& root = {});

}  // namespace ringside
