#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/topology/host.h"

/// Functions that edit a host's description.
namespace ringside {

/// A network device and the PCI function that carries it.
struct HostNetPlace {
  HostNet* net = nullptr;
  HostPci* function = nullptr;  ///< null: attached directly to a CPU
};
/// Returns all network devices of a host, by number. Valid until the host changes.
std::vector<HostNetPlace> nets_of(Host& host);

/// A GPU that takes part in the job, and its CPU.
struct HostGpuPlace {
  HostGpu* gpu = nullptr;
  HostPci* function = nullptr;
  HostCpu* cpu = nullptr;
};
/// Returns the GPUs by rank within the host. Valid until the host changes.
std::vector<HostGpuPlace> gpu_places_of(Host& host);

/// Removes every network device for which `keep` is false, and renumbers the others from 0.
void keep_nets(Host& host, const std::function<bool(const HostNet&)>& keep);

/// Keeps only the GPUs with these ranks within the host in the job, in this order.
void keep_gpus(Host& host, std::span<const int> ranks);

/// Replaces all NICs of the host: each new NIC is on the switch of a GPU, evenly over the GPUs in their order.
/// function, net  what the new ones have in common
/// shape          count >= 1, the host has a GPU
void replace_nets(Host& host, const HostPci& function, const HostNet& net, int count);

/// Adds an Ethernet port that is attached directly to the first CPU.
void add_ethernet(Host& host, const std::string& name, int mbits_per_second);

}  // namespace ringside
