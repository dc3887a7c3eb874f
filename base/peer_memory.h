#pragma once

#include <string>

namespace ringside {

/// Returns whether adapters can access GPU memory by its address: nvidia_peermem or its predecessor is loaded.
/// root    "/sys"
/// source  the files that NCCL looks for (ncclIbGdrSupport)
bool has_peer_memory(const std::string& root);

}  // namespace ringside
