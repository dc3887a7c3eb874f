#pragma once

#include <cstdint>

#include "engine/topology/host.h"
#include "engine/topology/paths/system.h"

namespace ringside {

// The rates of a host's links; nvlink_bandwidth() is in system.h.
// unit    GB/s of one direction, in single precision
// source  NCCL 2.30.7 graph/topo.h, graph/topo.cc

/// Returns whether the release needs the family of AMD CPUs to compute the bandwidth between sockets.
bool needs_amd_family(const TopologyRules& rules);

/// Returns the kind of CPU. `model` counts generations: Intel 1 up to Broadwell, 2 Skylake, 3 Sapphire Rapids, 4 from
/// Emerald Rapids on; AMD 1 Zen 1 and 2, 2 Zen 3 and 4, 3 Zen 5, if the release distinguishes them; Zhaoxin 1
/// Yongfeng.
CpuInfo cpu_info(const HostCpu& cpu, const TopologyRules& rules = {});

/// Returns the bandwidth between two CPUs of a host, GB/s.
float socket_bandwidth(const CpuInfo& cpu, const TopologyRules& rules = {});

/// Returns the bandwidth of a PCI function's upstream link, GB/s. Unknown values count as generation 3 with 16 lanes.
float pci_bandwidth(const HostPci& function);

/// Returns the bandwidth of a NIC's port, GB/s. An unknown speed counts as 10 Gbit/s.
float net_bandwidth(const HostNet& net);

float c2c_bandwidth(const HostC2c& c2c);

/// Returns whether the function is a ConnectX-8, by its PCI vendor and device.
bool is_connectx8(const HostPci& function);

/// Returns vendor, device, subsystem vendor and subsystem device, 16 bits each.
std::uint64_t device_id(const HostPci& function);

}  // namespace ringside
