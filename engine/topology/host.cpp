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

std::vector<const HostGpu*> gpus_of(const Host& host) {
  std::vector<const HostGpu*> gpus;
  for (const HostCpu& cpu : host.cpus) collect(cpu.pci, gpus);
  return gpus;
}

}  // namespace ringside
