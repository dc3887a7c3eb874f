#pragma once

#include <string>

#include "base/result.h"
#include "engine/topology/pci_tree.h"
#include "engine/topology/sources/system_files.h"

namespace ringside {

/// The machine as hwloc describes it. NUMA nodes become CPUs; NVIDIA's display functions GPUs; RDMA devices
/// whose port is up the NICs, or, where there is none, network interfaces but the loopback, bridges
/// and containers' ends. NVLinks come from hwloc's matrix "NVLinkBandwidth" where it has one.
///
/// A description contains no rates: an RDMA NIC has the best one of its model, another one 0 (unknown).
/// RDMA devices are taken to reach GPU memory. A GPU whose PCI id is not known has sm 0.
///
/// errors  Corrupt: hwloc refuses the text (2.9 reads its formats 1.x and 2.x), more than
///         kMaxXmlBytes. InvalidArgument: it refuses the synthetic description. System: it cannot look
Result<FoundMachine> find_in_hwloc_xml(const std::string& text, const std::string& where);
Result<FoundMachine> find_in_synthetic(const std::string& description);
Result<FoundMachine> find_on_this_machine(const SystemFiles& files);

}  // namespace ringside
