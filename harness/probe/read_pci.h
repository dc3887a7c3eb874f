#pragma once

#include <string>

#include "harness/probe/machine.h"

namespace ringside::probe {

/// Reads GPUs on the PCI bus, bridges with access control, and IOMMU modes into `machine`. Files that do not exist or
/// cannot be read are skipped.
/// root  prefix of /sys and /proc; empty: this machine
void read_pci(const std::string& root, Machine& machine);

}  // namespace ringside::probe
