#pragma once

#include <string>

#include "base/env.h"

namespace ringside {

/// Returns a text that is equal for two processes only if they can share memory and abstract Unix sockets. It consists
/// of the host name, the kernel's boot id and the network namespace (which differs between containers). Containers that
/// share a network namespace but not the host name differ too. NCCL_HOSTID replaces the name, so that processes of one
/// machine can act as several hosts; two machines with the same NCCL_HOSTID still differ.
/// source  NCCL's host hash (name and boot id), plus the namespace
std::string host_identity(const Environment& environment = env_text);

}  // namespace ringside
