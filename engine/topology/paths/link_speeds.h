#pragma once

#include <cstdint>

#include "engine/topology/host.h"
#include "engine/topology/paths/system.h"

namespace ringside {

// What the links of a host carry, and what decides it; nvlink_bandwidth() is in system.h.
// unit    GB/s of one direction, in single precision
// source  NCCL 2.30.7 graph/topo.h, graph/topo.cc

/// Whether the release links AMD's sockets by their family, which it then insists on.
bool needs_amd_family(const TopologyRules& rules);

/// Kind of CPU; `model` counts generations: Intel 1 Broadwell and before, 2 Skylake, 3 Sapphire
/// Rapids, 4 Emerald Rapids and later; AMD 1 Zen 1 and 2, 2 Zen 3 and 4, 3 Zen 5, where the
/// release distinguishes them; Zhaoxin 1 Yongfeng.
CpuInfo cpu_info(const HostCpu& cpu, const TopologyRules& rules = {});

/// Between two CPUs of a host.
float socket_bandwidth(const CpuInfo& cpu, const TopologyRules& rules = {});

/// Of a function's way up; what the host does not say counts as generation 3 with 16 lanes.
float pci_bandwidth(const HostPci& function);

/// Of the wire; an unknown speed counts as 10 Gbit/s.
float net_bandwidth(const HostNet& net);

float c2c_bandwidth(const HostC2c& c2c);

/// A ConnectX-8, by its PCI vendor and device.
bool is_connectx8(const HostPci& function);

/// Vendor, device, subsystem vendor and subsystem device, 16 bits each.
std::uint64_t device_id(const HostPci& function);

}  // namespace ringside
