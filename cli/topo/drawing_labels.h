#pragma once

#include <string>
#include <vector>

#include "engine/topology/host.h"

namespace ringside::cli {

/// Labels of the devices in a drawing.
std::string short_bus_id(const std::string& bus_id);  ///< 0000:1b:00.0 -> 1b:00.0
std::string cpu_label(const HostCpu& cpu);            ///< "CPU 0", of a NUMA node
std::string cpu_detail(const HostCpu& cpu);           ///< "x86_64 GenuineIntel"
std::string net_label(const HostNet& net);            ///< "NIC 0"
std::string net_detail(const HostNet& net);           ///< "mlx5_0 400 Gbit/s"
std::string pcie_label(const HostPci& pci);           ///< "gen5 x16"; empty: unknown
/// Returns the number of links to all NVSwitches together.
int nvswitch_links(const HostGpu& gpu);

/// Returns a name from a file as a quoted dot string.
std::string dot_quoted(const std::string& text);

/// Returns the PCI functions of a host's GPUs, in the order of the file.
std::vector<const HostPci*> gpu_functions(const Host& host);

/// Returns the GPU at the other end of a link; null if it is a switch or a CPU.
const HostGpu* peer_of(const std::vector<const HostPci*>& gpus, const HostNvLink& link);

}  // namespace ringside::cli
