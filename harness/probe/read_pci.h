#pragma once

#include <string>

#include "harness/probe/machine.h"

namespace ringside::probe {

/// GPUs on the PCI bus, bridges with access control, and what the IOMMU does for devices; into `machine`.
void read_pci(const std::string& root, Machine& machine);

}  // namespace ringside::probe
