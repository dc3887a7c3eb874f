#include "engine/topology/pci_tree.h"

#include <algorithm>

namespace ringside {
namespace {

/// Returns the upstream ports above a device, starting at the CPU.
std::vector<HostPci> switches_above(const std::vector<FoundDevice::Bridge>& above) {
  std::vector<HostPci> ports;
  for (std::size_t i = 0; i < above.size();) {
    if (above[i].is_switch) {
      ports.push_back(above[i].function);
      i += 1;
    } else {
      if (i + 1 < above.size()) ports.push_back(above[i + 1].function);
      i += 2;
    }
  }
  std::reverse(ports.begin(), ports.end());
  return ports;
}

/// Returns the element with that bus id among its siblings; appends one if there is none.
HostPci& place(std::vector<HostPci>& siblings, const HostPci& function) {
  const auto found = std::find_if(siblings.begin(), siblings.end(), [&](const HostPci& sibling) {
    return sibling.bus_id == function.bus_id;
  });
  if (found != siblings.end()) return *found;
  return siblings.emplace_back(function);
}

class Layout {
 public:
  explicit Layout(std::vector<HostCpu> cpus) : known_(std::move(cpus)) {}

  void add(const FoundDevice& device) {
    HostCpu& cpu = cpu_of(device.numa);
    if (device.function.bus_id.empty()) {
      cpu.nics.push_back(*device.function.nic);
      return;
    }
    std::vector<HostPci>* siblings = &cpu.pci;
    for (const HostPci& port : switches_above(device.above)) {
      siblings = &place(*siblings, port).children;
    }
    place(*siblings, device.function);
  }

  [[nodiscard]] std::vector<HostCpu> used() && { return std::move(used_); }
  [[nodiscard]] std::vector<HostCpu> known() && { return std::move(known_); }

 private:
  HostCpu& cpu_of(int numa) {
    const auto is_it = [&](const HostCpu& cpu) { return cpu.numa == numa; };
    const auto found = std::find_if(used_.begin(), used_.end(), is_it);
    if (found != used_.end()) return *found;
    const auto known = std::find_if(known_.begin(), known_.end(), is_it);
    return used_.emplace_back(known == known_.end() ? HostCpu{.numa = numa} : *known);
  }

  std::vector<HostCpu> known_, used_;
};

}  // namespace

Host lay_out(FoundMachine machine) {
  std::sort(machine.gpus.begin(), machine.gpus.end(),
            [](const FoundDevice& a, const FoundDevice& b) {
              return a.function.bus_id < b.function.bus_id;
            });
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    machine.gpus[i].function.gpu->dev = static_cast<int>(i);
    machine.gpus[i].function.gpu->rank = static_cast<int>(i);
  }
  int dev = 0;
  for (FoundDevice& nic : machine.nics) {
    for (HostNet& net : nic.function.nic->nets) net.dev = dev++;
  }

  Layout layout{std::move(machine.cpus)};
  if (!machine.gpus.empty()) layout.add(machine.gpus.front());
  for (const FoundDevice& nic : machine.nics) layout.add(nic);
  for (std::size_t i = 1; i < machine.gpus.size(); ++i) layout.add(machine.gpus[i]);
  Host host;
  host.cpus = machine.gpus.empty() ? std::move(layout).known() : std::move(layout).used();
  return host;
}

}  // namespace ringside
