#pragma once

#include <string>
#include <vector>

#include "engine/topology/host.h"

namespace ringside {

/// A GPU or NIC as hwloc found it, before it has its place in a Host.
struct FoundDevice {
  HostPci function = {};  ///< with its gpu or nic; an empty bus id: a NIC without a PCI function
  /// Bridges between it and its CPU, the nearest first.
  struct Bridge {
    HostPci function;
    /// It represents a whole switch: what is below it lies on several buses, which one port of a
    /// switch cannot have. Such short descriptions are written manually.
    bool is_switch = false;
  };
  std::vector<Bridge> above = {};
  int numa = 0;
};

/// What a machine has, in hwloc's order.
struct FoundMachine {
  std::vector<HostCpu> cpus;  ///< NUMA nodes, nothing below them
  std::vector<FoundDevice> gpus, nics;
};

/// The tree that NCCL makes of them: the first GPU, the NICs, the other GPUs, each under the upstream
/// port of every switch above it. Ports that lead down, and root ports, are omitted. GPUs are numbered
/// in the order of their bus ids, NICs in the order given. NUMA nodes without a device go, unless
/// there is no GPU.
/// source  NCCL 2.30.7 graph/xml.cc: ncclTopoGetXmlFromSys steps over two levels at a time
Host lay_out(FoundMachine machine);

}  // namespace ringside
