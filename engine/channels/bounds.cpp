#include "engine/channels/bounds.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace ringside {
namespace {

BytesPerSecond bound(BytesPerSecond rate, int nchannels, const std::vector<int>& rings_through) {
  const auto busiest = std::max_element(rings_through.begin(), rings_through.end());
  if (busiest == rings_through.end() || *busiest == 0) {
    return {std::numeric_limits<double>::infinity()};
  }
  return rate * (static_cast<double>(nchannels) / *busiest);
}

}  // namespace

RingBounds ring_bounds(const Cluster& cluster, const Channels& channels, int nchannels) {
  RINGSIDE_ASSERT(nchannels >= 1 && nchannels <= channels.count(), "{} of {} channels", nchannels,
                  channels.count());
  const NodeType& node = cluster.node;
  // [direction x ports + port]: a port's up link and down link are two links.
  const auto gpu_ports = static_cast<std::size_t>(cluster.nranks());
  const auto nic_ports = static_cast<std::size_t>(cluster.nodes * node.nics());
  std::vector<int> gpu_rings(2 * gpu_ports, 0);
  std::vector<int> nic_rings(2 * nic_ports, 0);
  for (int channel = 0; channel < nchannels; ++channel) {
    const std::vector<Rank>& ring = channels.rings[static_cast<std::size_t>(channel)];
    if (ring.size() == 1) continue;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const int from = to_int(ring[i]);
      const int to = to_int(ring[(i + 1) % ring.size()]);
      if (from / node.gpus == to / node.gpus) {
        ++gpu_rings[static_cast<std::size_t>(from)];
        ++gpu_rings[gpu_ports + static_cast<std::size_t>(to)];
      } else {
        const auto nic = [&](int rank) {
          return static_cast<std::size_t>(rank / node.gpus * node.nics() +
                                          node.nic_of(rank % node.gpus));
        };
        ++nic_rings[nic(from)];
        ++nic_rings[nic_ports + nic(to)];
      }
    }
  }
  return {bound(node.gpu_link, nchannels, gpu_rings),
          bound(node.nic_bandwidth(), nchannels, nic_rings)};
}

}  // namespace ringside
