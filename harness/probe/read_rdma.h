#pragma once

#include <string>
#include <vector>

#include "harness/probe/machine.h"

namespace ringside::probe {

/// Returns the ports of /sys/class/infiniband, sorted by device and number.
std::vector<RdmaPort> read_rdma(const std::string& root);

/// Returns /dev/infiniband/uverbs*, and whether this user may open them.
std::vector<VerbsNode> read_verbs_nodes(const std::string& root);

}  // namespace ringside::probe
