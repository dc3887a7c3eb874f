#pragma once

#include <string>

#include "base/result.h"
#include "engine/topology/pci_tree.h"
#include "engine/topology/sources/system_files.h"

namespace ringside {

/// Return the machine that hwloc describes. NUMA nodes become CPUs; NVIDIA's display functions become GPUs; RDMA devices
/// become NICs with their active ports or, if there are none, network interfaces except virtual ones, by their names:
/// loopback, bridges, and the interfaces of containers and virtual machines. NVLinks are read from hwloc's matrix
/// "NVLinkBandwidth" if it exists. Of several devices of one PCI function, such as the representors of a NIC's virtual
/// functions, only the first becomes a NIC.
///
/// A file contains no rates: an RDMA NIC gets the best rate of its model, another NIC 0 (unknown). RDMA devices of a file
/// are assumed to access GPU memory. A GPU with an unknown PCI id has sm 0. On this machine, rates and access come from
/// SystemFiles, which also adds interfaces without a PCI function.
///
/// errors  Corrupt: hwloc rejects the text (2.9 reads its formats 1.x and 2.x), or it exceeds kMaxXmlBytes.
///         InvalidArgument: hwloc rejects the synthetic description.  System: hwloc failed
Result<FoundMachine> find_in_hwloc_xml(const std::string& text, const std::string& where);
Result<FoundMachine> find_in_synthetic(const std::string& description);
Result<FoundMachine> find_on_this_machine(const SystemFiles& files);

}  // namespace ringside
