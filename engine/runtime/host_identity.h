#pragma once

#include <string>

namespace ringside {

/// Equal for two processes exactly when they can share memory and abstract Unix sockets: the host's
/// name, the kernel's boot and the network namespace (containers on one machine differ in the last).
/// source  NCCL's host hash (name and boot id), plus the namespace
std::string host_identity();

}  // namespace ringside
