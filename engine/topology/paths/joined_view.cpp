#include <algorithm>
#include <limits>
#include <map>

#include "engine/topology/paths/build_system.h"

namespace ringside {
namespace {

constexpr int kNoRankYet = std::numeric_limits<int>::max();

/// [GPU]: its index among the host's ranks.
using Order = std::map<const HostGpu*, int>;

Order rank_order(const Host& host) {
  std::vector<const HostGpu*> gpus = gpus_of(host);
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const HostGpu* a, const HostGpu* b) { return *a->rank < *b->rank; });
  Order order;
  for (std::size_t place = 0; place < gpus.size(); ++place) {
    order[gpus[place]] = static_cast<int>(place);
  }
  return order;
}

struct Placed {
  HostPci function;
  int first_seen = kNoRankYet;  ///< the first rank whose view contains it
  int place = 0;                ///< index among its siblings in the file
};

/// Returns the functions that any rank's view contains, in the order in which they are merged.
std::vector<Placed> placed(const std::vector<HostPci>& functions, const Order& order) {
  std::vector<Placed> kept;
  int place = 0;
  for (const HostPci& function : functions) {
    Placed here{function, kNoRankYet, place++};
    here.function.children.clear();
    for (Placed& child : placed(function.children, order)) {
      here.first_seen = std::min(here.first_seen, child.first_seen);
      here.function.children.push_back(std::move(child.function));
    }
    if (function.gpu) {
      const auto rank = order.find(&*function.gpu);
      if (rank == order.end()) {
        here.function.gpu.reset();
      } else {
        here.first_seen = std::min(here.first_seen, rank->second);
      }
    }
    if (function.nic && !function.nic->nets.empty()) here.first_seen = 0;
    if (here.first_seen != kNoRankYet) kept.push_back(std::move(here));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Placed& a, const Placed& b) { return a.first_seen < b.first_seen; });
  return kept;
}

/// Every rank's view contains the NICs that are attached directly to a CPU, so they keep their position in rank 0's
/// view.
void place_bare_nics(HostCpu& view, const HostCpu& cpu, const std::vector<Placed>& functions) {
  view.nics.clear();
  for (const HostNic& nic : cpu.nics) {
    if (nic.nets.empty()) continue;
    const auto comes_first = [&](const Placed& function) {
      return function.first_seen == 0 && (nic.pci_before < 0 || function.place < nic.pci_before);
    };
    view.nics.push_back(nic);
    view.nics.back().pci_before =
        static_cast<int>(std::count_if(functions.begin(), functions.end(), comes_first));
  }
}

}  // namespace

Host joined_view(const Host& host) {
  const Order order = rank_order(host);
  std::vector<std::pair<int, HostCpu>> kept;
  for (const HostCpu& cpu : host.cpus) {
    HostCpu here = cpu;
    here.pci.clear();
    std::vector<Placed> functions = placed(cpu.pci, order);
    place_bare_nics(here, cpu, functions);
    int first_seen = here.nics.empty() ? kNoRankYet : 0;
    for (Placed& function : functions) {
      first_seen = std::min(first_seen, function.first_seen);
      here.pci.push_back(std::move(function.function));
    }
    if (first_seen != kNoRankYet) kept.emplace_back(first_seen, std::move(here));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Host view{host.name, {}};
  for (auto& [first_seen, cpu] : kept) view.cpus.push_back(std::move(cpu));
  return view;
}

}  // namespace ringside
