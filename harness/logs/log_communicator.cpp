#include "harness/logs/log_communicator.h"

#include <algorithm>
#include <utility>

namespace ringside {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Converts a place to the form of a log line, which has room for three children.
TreeEdges edges_of(const Channels::TreePlace& place) {
  TreeEdges edges;
  edges.up = place.parent == kNoRank ? -1 : to_int(place.parent);
  for (std::size_t i = 0; i < std::min(place.children.size(), edges.down.size()); ++i) {
    edges.down[i] = to_int(place.children[i]);
  }
  return edges;
}

}  // namespace

CommunicatorLayout::CommunicatorLayout(Job job, std::shared_ptr<const Tuner> tuner)
    : job_(std::move(job)), tuner_(std::move(tuner)) {
  places_.resize(at(nranks()));
  for (std::size_t node = 0; node < job_.nodes.size(); ++node) {
    const std::vector<int>& ranks = job_.nodes[node].ranks;
    for (std::size_t gpu = 0; gpu < ranks.size(); ++gpu) {
      places_[at(ranks[gpu])] = {static_cast<int>(node), static_cast<int>(gpu)};
    }
  }
  for (const std::vector<Rank>& ring : job_.connection.channels.rings) {
    std::vector<int> positions(ring.size());
    for (std::size_t i = 0; i < ring.size(); ++i)
      positions[at(to_int(ring[i]))] = static_cast<int>(i);
    ring_positions_.push_back(std::move(positions));
  }
}

int CommunicatorLayout::in_ring(int channel, int rank, int steps) const {
  const std::vector<Rank>& ring = job_.connection.channels.rings[at(channel)];
  const int size = static_cast<int>(ring.size());
  return to_int(ring[at((ring_positions_[at(channel)][at(rank)] + steps + size) % size)]);
}

TreeEdges CommunicatorLayout::tree(int channel, int rank) const {
  const auto& trees = job_.connection.channels.trees;
  if (at(channel) >= trees.size()) return {};
  return edges_of(trees[at(channel)][at(rank)]);
}

TreeEdges CommunicatorLayout::nvls_tree(int parity, int rank) const {
  const auto& trees = job_.connection.channels.nvls.trees;
  if (at(parity) >= trees.size()) return {};
  return edges_of(trees[at(parity)][at(rank)]);
}

NodePlace CommunicatorLayout::node_place(int rank) const {
  std::vector<int> ranks = node(rank).ranks;
  std::ranges::sort(ranks);
  const auto index = std::ranges::lower_bound(ranks, rank) - ranks.begin();
  return {.nnodes = static_cast<int>(job_.nodes.size()),
          .local_ranks = static_cast<int>(ranks.size()),
          .local_rank = static_cast<int>(index),
          .is_mnnvl = system(rank).nhosts > 1};
}

}  // namespace ringside
