#include <algorithm>
#include <limits>
#include <map>

#include "engine/topology/build_system.h"

namespace ringside {
namespace {

constexpr int kNobody = std::numeric_limits<int>::max();

/// By GPU: its place among the host's ranks.
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

bool has_nets(const std::vector<HostNic>& nics) {
  return std::any_of(nics.begin(), nics.end(),
                     [](const HostNic& nic) { return !nic.nets.empty(); });
}

struct Placed {
  HostPci function;
  int first_seen = kNobody;  ///< the first rank whose view holds it
};

/// The functions that some rank's view holds, in the order in which they join.
std::vector<Placed> placed(const std::vector<HostPci>& functions, const Order& order) {
  std::vector<Placed> kept;
  for (const HostPci& function : functions) {
    Placed here{function, kNobody};
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
    if (here.first_seen != kNobody) kept.push_back(std::move(here));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Placed& a, const Placed& b) { return a.first_seen < b.first_seen; });
  return kept;
}

}  // namespace

Host joined_view(const Host& host) {
  const Order order = rank_order(host);
  std::vector<std::pair<int, HostCpu>> kept;
  for (const HostCpu& cpu : host.cpus) {
    HostCpu here = cpu;
    here.pci.clear();
    int first_seen = has_nets(cpu.nics) ? 0 : kNobody;
    for (Placed& function : placed(cpu.pci, order)) {
      first_seen = std::min(first_seen, function.first_seen);
      here.pci.push_back(std::move(function.function));
    }
    if (first_seen != kNobody) kept.emplace_back(first_seen, std::move(here));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Host view{host.name, {}};
  for (auto& [first_seen, cpu] : kept) view.cpus.push_back(std::move(cpu));
  return view;
}

}  // namespace ringside
