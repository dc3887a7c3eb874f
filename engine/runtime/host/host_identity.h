#pragma once

#include <string>

#include "base/env.h"

namespace ringside {

/// Equal for two processes exactly when they can share memory and abstract Unix sockets: the host's
/// name, the kernel's boot and the network namespace (containers on one machine differ in the last).
/// NCCL_HOSTID replaces the name, so that processes of one machine play several hosts; two machines with one
/// NCCL_HOSTID stay two.
/// source  NCCL's host hash (name and boot id), plus the namespace
std::string host_identity(const Environment& environment = env_text);

}  // namespace ringside
