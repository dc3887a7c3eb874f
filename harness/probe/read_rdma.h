#pragma once

#include <string>
#include <vector>

#include "harness/probe/machine.h"

namespace ringside::probe {

/// Returns the ports of /sys/class/infiniband, sorted by device and number. Files that cannot be read leave fields
/// empty.
/// root  prefix of /sys and /dev; empty: this machine
std::vector<RdmaPort> read_rdma(const std::string& root);

/// Returns /dev/infiniband/uverbs*, and whether this user may open them.
/// root  as in read_rdma()
std::vector<VerbsNode> read_verbs_nodes(const std::string& root);

}  // namespace ringside::probe
