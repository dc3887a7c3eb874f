#pragma once

#include <string>
#include <vector>

#include "engine/topology/host.h"

namespace ringside::cli {

/// Words on the devices of a drawing.
std::string short_bus_id(const std::string& bus_id);  ///< 0000:1b:00.0 -> 1b:00.0
std::string cpu_label(const HostCpu& cpu);            ///< "CPU 0", of a NUMA node
std::string cpu_detail(const HostCpu& cpu);           ///< "x86_64 GenuineIntel"
std::string net_label(const HostNet& net);            ///< "NIC 0"
std::string net_detail(const HostNet& net);           ///< "mlx5_0 400 Gbit/s"
std::string pcie_label(const HostPci& pci);           ///< "gen5 x16"; empty: unknown
/// Links to NVSwitches, all together.
int nvswitch_links(const HostGpu& gpu);

/// A name from a file between dot's quotes.
std::string dot_quoted(const std::string& text);

/// GPUs of a host with their functions, in the order of the file.
std::vector<const HostPci*> gpu_functions(const Host& host);

/// The GPU at the other end of a link; null where it is a switch or a CPU.
const HostGpu* peer_of(const std::vector<const HostPci*>& gpus, const HostNvLink& link);

}  // namespace ringside::cli
