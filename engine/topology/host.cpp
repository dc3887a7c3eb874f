#include "engine/topology/host.h"

namespace ringside {
namespace {

void collect(const std::vector<HostPci>& functions, std::vector<const HostGpu*>& gpus) {
  for (const HostPci& function : functions) {
    if (function.gpu && function.gpu->rank) gpus.push_back(&*function.gpu);
    collect(function.children, gpus);
  }
}

}  // namespace

std::vector<int> run_of_hosts(const JobHosts& hosts) {
  if (!hosts.order.empty()) return hosts.order;
  std::vector<int> list;
  for (std::size_t run = 0; run < hosts.runs.size(); ++run) {
    list.insert(list.end(), static_cast<std::size_t>(hosts.runs[run].count), static_cast<int>(run));
  }
  return list;
}

std::vector<const HostGpu*> gpus_of(const Host& host) {
  std::vector<const HostGpu*> gpus;
  for (const HostCpu& cpu : host.cpus) collect(cpu.pci, gpus);
  return gpus;
}

}  // namespace ringside
