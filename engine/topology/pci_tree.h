#pragma once

#include <string>
#include <vector>

#include "engine/topology/host.h"

namespace ringside {

/// A GPU or NIC found by hwloc, before it is placed in a Host.
struct FoundDevice {
  HostPci function = {};  ///< with its gpu or nic; an empty bus id: a NIC without a PCI function
  /// A bridge between the device and its CPU; the one closest to the device is first.
  struct Bridge {
    HostPci function;
    /// Whether it represents a whole switch: the devices below it are on several buses, which is impossible for one
    /// port of a switch. Only descriptions that people shorten have such bridges.
    bool is_switch = false;
  };
  std::vector<Bridge> above = {};
  int numa = 0;  ///< NUMA node of its CPU
};

/// The devices of a machine, in hwloc's order.
struct FoundMachine {
  std::vector<HostCpu> cpus;  ///< NUMA nodes without devices
  std::vector<FoundDevice> gpus, nics;
};

/// Builds the tree that NCCL builds from these devices: the first GPU, the NICs, the other GPUs, each below the
/// upstream ports of the switches above it. Downstream ports and root ports are omitted. GPUs are numbered in the
/// order of their bus ids, NICs in the given order. NUMA nodes without a device are removed, unless there is no GPU.
/// source  NCCL 2.30.7 graph/xml.cc: ncclTopoGetXmlFromSys steps over two levels at a time
Host lay_out(FoundMachine machine);

}  // namespace ringside
