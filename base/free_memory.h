#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// How much memory new data of this process can take, without swap, before the kernel has to kill a process.
struct FreeMemory {
  Bytes bytes;
  std::string
      where;  ///< what sets that limit, for messages: "on this host", "in control group /job"
};

/// The least of what the host has (MemAvailable) and what the limits of the process's control group (versions 1 and 2) and of
/// the groups above it leave. Page cache counts as free.
/// root     of /proc and /sys
/// returns  nothing where the host does not report it
std::optional<FreeMemory> free_memory(const std::string& root = {});

/// Whether that much memory is free. Memory that is shared between processes (memfd) is not limited by the size of /dev/shm.
/// what    takes it; begins the message
/// help    how to need less
/// errors  System: names both figures
Status check_memory(Bytes needed, const std::string& what, const std::string& help,
                    const std::string& root = {});

}  // namespace ringside
