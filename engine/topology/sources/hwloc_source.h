#pragma once

#include <string>

#include "base/result.h"
#include "engine/topology/pci_tree.h"
#include "engine/topology/sources/system_files.h"

namespace ringside {

/// Returns the machine that hwloc describes. NUMA nodes become CPUs; NVIDIA's display functions become GPUs; RDMA
/// devices whose port is active become NICs, or, if there are none, network interfaces except loopback, bridges and
/// containers' ends. NVLinks are read from hwloc's matrix "NVLinkBandwidth" if it exists.
///
/// A description contains no rates: an RDMA NIC gets the best rate of its model, another NIC 0 (unknown). RDMA devices
/// are assumed to access GPU memory. A GPU with an unknown PCI id has sm 0.
///
/// errors  Corrupt: hwloc rejects the text (2.9 reads its formats 1.x and 2.x), or it exceeds kMaxXmlBytes.
///         InvalidArgument: hwloc rejects the synthetic description.  System: hwloc failed
Result<FoundMachine> find_in_hwloc_xml(const std::string& text, const std::string& where);
Result<FoundMachine> find_in_synthetic(const std::string& description);
Result<FoundMachine> find_on_this_machine(const SystemFiles& files);

}  // namespace ringside
