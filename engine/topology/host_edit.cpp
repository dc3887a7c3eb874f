#include "engine/topology/host_edit.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside {
namespace {

void collect_nets(std::vector<HostPci>& functions, std::vector<HostNetPlace>& found) {
  for (HostPci& function : functions) {
    if (function.nic) {
      for (HostNet& net : function.nic->nets) found.push_back({&net, &function});
    }
    collect_nets(function.children, found);
  }
}

void collect_gpus(std::vector<HostPci>& functions, HostCpu& cpu, std::vector<HostGpuPlace>& found) {
  for (HostPci& function : functions) {
    if (function.gpu && function.gpu->rank) found.push_back({&*function.gpu, &function, &cpu});
    collect_gpus(function.children, cpu, found);
  }
}

using Keep = std::function<bool(const HostNet&)>;

void keep_of(HostNic& nic, const Keep& keep) {
  std::erase_if(nic.nets, [&](const HostNet& net) { return !keep(net); });
}

void keep_of(std::vector<HostPci>& functions, const Keep& keep) {
  for (HostPci& function : functions) {
    if (function.nic) keep_of(*function.nic, keep);
    keep_of(function.children, keep);
  }
  std::erase_if(functions,
                [](const HostPci& function) { return function.nic && function.nic->nets.empty(); });
}

/// Inserts a function before the function with that bus id.
/// returns  whether that function is in this list or below it
bool insert_before(std::vector<HostPci>& functions, const std::string& bus_id,
                   const HostPci& function) {
  for (auto place = functions.begin(); place != functions.end(); ++place) {
    if (place->bus_id == bus_id) {
      functions.insert(place, function);
      return true;
    }
    if (insert_before(place->children, bus_id, function)) return true;
  }
  return false;
}

}  // namespace

std::vector<HostNetPlace> nets_of(Host& host) {
  std::vector<HostNetPlace> found;
  for (HostCpu& cpu : host.cpus) {
    collect_nets(cpu.pci, found);
    for (HostNic& nic : cpu.nics) {
      for (HostNet& net : nic.nets) found.push_back({&net, nullptr});
    }
  }
  std::ranges::stable_sort(found, {}, [](const HostNetPlace& place) { return place.net->dev; });
  return found;
}

std::vector<HostGpuPlace> gpu_places_of(Host& host) {
  std::vector<HostGpuPlace> found;
  for (HostCpu& cpu : host.cpus) collect_gpus(cpu.pci, cpu, found);
  std::ranges::stable_sort(found, {}, [](const HostGpuPlace& place) { return *place.gpu->rank; });
  return found;
}

void keep_nets(Host& host, const Keep& keep) {
  for (HostCpu& cpu : host.cpus) {
    keep_of(cpu.pci, keep);
    for (HostNic& nic : cpu.nics) keep_of(nic, keep);
    std::erase_if(cpu.nics, [](const HostNic& nic) { return nic.nets.empty(); });
  }
  int dev = 0;
  for (const HostNetPlace& place : nets_of(host)) place.net->dev = dev++;
}

void replace_nets(Host& host, const HostPci& function, const HostNet& net, int count) {
  keep_nets(host, [](const HostNet&) { return false; });
  const int gpus = static_cast<int>(gpu_places_of(host).size());
  for (int i = 0; i < count; ++i) {
    HostPci one = function;
    // Uses a separate PCI domain, in which no preset has a device.
    one.bus_id = fmt::format("1000:{:02x}:00.0", i + 1);
    HostNet own = net;
    own.dev = i;
    own.name += std::to_string(i);
    own.guid = 0xa0000001U + 16U * static_cast<unsigned>(i);
    one.nic = HostNic{{std::move(own)}};
    const std::string beside =
        gpu_places_of(host)[static_cast<std::size_t>(i * gpus / count)].function->bus_id;
    for (HostCpu& cpu : host.cpus) {
      if (insert_before(cpu.pci, beside, one)) break;
    }
  }
}

void keep_gpus(Host& host, std::span<const int> ranks) {
  for (const HostGpuPlace& place : gpu_places_of(host)) {
    const auto found = std::ranges::find(ranks, *place.gpu->rank);
    if (found == ranks.end()) {
      place.gpu->rank.reset();
    } else {
      place.gpu->rank = static_cast<int>(found - ranks.begin());
    }
  }
}

void add_ethernet(Host& host, const std::string& name, int mbits_per_second) {
  HostNet net{.name = name};
  net.mbits_per_second = mbits_per_second;
  net.port = 0;
  net.dev = static_cast<int>(nets_of(host).size());
  HostNic nic;
  nic.nets.push_back(net);
  host.cpus.front().nics.push_back(nic);
}

}  // namespace ringside
