#pragma once

#include <cstdint>

namespace ringside {

/// Equal for two ranks of one host exactly when they are threads of one process: its number, and the PID namespace
/// (containers have one each).
/// source  NCCL's pid hash (number and /proc/self/ns/pid)
struct ProcessIdentity {
  std::uint64_t number = 0;
  std::uint64_t space = 0;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// Of this process, as it is now: it changes after fork(2).
ProcessIdentity process_identity();

}  // namespace ringside
