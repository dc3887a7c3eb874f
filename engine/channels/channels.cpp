#include "engine/channels/channels.h"

#include <algorithm>

namespace ringside {
namespace {

/// One channel's way through a node: its first and last GPU, and which way round between them.
struct Walk {
  int first;
  int last;  ///< = first where the last one does not matter, or there is one GPU only
  int turn;  ///< +1 or -1
};

void append_walk(std::vector<Rank>& ring, int node, int gpus, Walk walk) {
  ring.push_back(Rank{node * gpus + walk.first});
  for (int i = 1; i < gpus; ++i) {
    const int gpu = (walk.first + walk.turn * i + i * gpus) % gpus;
    if (gpu != walk.last) ring.push_back(Rank{node * gpus + gpu});
  }
  if (walk.last != walk.first) ring.push_back(Rank{node * gpus + walk.last});
}

std::vector<Rank> ring_over_nodes(const Cluster& cluster, int channel) {
  const NodeType& node = cluster.node;
  const int nics = node.nics();
  const int partner = nics % 2 == 0 ? channel ^ 1 : (channel + 1) % nics;
  const int turn = channel % 2 == 0 ? -1 : 1;
  const int enter = node.nic_gpu[static_cast<std::size_t>(channel)];
  const int leave = node.nic_gpu[static_cast<std::size_t>(partner)];
  std::vector<Rank> ring;
  for (int i = 0; i < cluster.nodes; ++i) {
    const Walk walk = i % 2 == 0 ? Walk{enter, leave, turn} : Walk{leave, enter, -turn};
    append_walk(ring, i, node.gpus, walk);
  }
  return ring;
}

}  // namespace

int search_channels(const Cluster& cluster) {
  if (cluster.nodes > 1) return cluster.node.nics();
  constexpr double kLane = 30e9;
  constexpr int kMost = 16;
  return std::clamp(static_cast<int>(cluster.node.gpu_link.value / kLane), 1, kMost);
}

Channels cluster_channels(const Cluster& cluster) {
  Channels channels;
  for (int channel = 0; channel < search_channels(cluster); ++channel) {
    std::vector<Rank> ring;
    if (cluster.nodes > 1) {
      ring = ring_over_nodes(cluster, channel);
    } else {
      append_walk(ring, 0, cluster.node.gpus, {0, 0, channel % 2 == 0 ? -1 : 1});
    }
    std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), Rank{0}), ring.end());
    channels.rings.push_back(std::move(ring));
  }
  const std::vector<std::vector<Rank>> searched = channels.rings;
  channels.rings.insert(channels.rings.end(), searched.begin(), searched.end());
  return channels;
}

}  // namespace ringside
