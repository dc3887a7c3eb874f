#pragma once

#include <cstdint>

namespace ringside {

/// Identifies a process on its host: equal for two ranks of one host exactly when they are threads of one process. It
/// holds the PID and the PID namespace (each container has its own).
/// source  NCCL's pid hash (number and /proc/self/ns/pid)
struct ProcessIdentity {
  std::uint64_t number = 0;
  std::uint64_t space = 0;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// Returns the current identity of this process. It changes after fork(2).
ProcessIdentity process_identity();

}  // namespace ringside
