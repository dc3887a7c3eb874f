#pragma once

#include "engine/topology/host.h"

namespace ringside {

/// Visits the direct children of a CPU in the order of the file, PCI functions and NICs mixed.
template <typename VisitPci, typename VisitNic>
void in_order(const HostCpu& cpu, VisitPci visit_pci, VisitNic visit_nic) {
  int pci_seen = 0;
  std::size_t next_nic = 0;
  for (const HostPci& function : cpu.pci) {
    while (next_nic < cpu.nics.size() && cpu.nics[next_nic].pci_before >= 0 &&
           cpu.nics[next_nic].pci_before <= pci_seen) {
      visit_nic(cpu.nics[next_nic++]);
    }
    visit_pci(function);
    ++pci_seen;
  }
  while (next_nic < cpu.nics.size()) visit_nic(cpu.nics[next_nic++]);
}

}  // namespace ringside
