#include <algorithm>

#include "base/assert.h"
#include "engine/channels/join.h"

namespace ringside {
namespace {

/// Returns whether an odd node uses the path of the other ring of its pair.
bool is_swapped(const JobView& job, const CommShape& shape, int node, RingSwap swap) {
  const int merged = shape.graph(GraphId::Ring).cross_nic;
  switch (swap) {
    case RingSwap::Never:
      return false;
    case RingSwap::EvenNodes:
      return merged != 0 && job.nnodes() % 2 == 0;
    case RingSwap::Crossing:
      return merged != 0;
    case RingSwap::Alternate:
      return merged == 2;
    case RingSwap::PerNode:
      return job.report(node).graphs[GraphId::Ring].cross_nic == 2;
  }
  return false;
}

}  // namespace

std::vector<std::vector<Rank>> join_rings(const JobView& job, const CommShape& shape,
                                          RingSwap swap) {
  const int nchannels = shape.graph(GraphId::Ring).nchannels;
  std::vector<bool> swaps;
  for (int node = 0; node < job.nnodes(); ++node) {
    swaps.push_back(nchannels % 2 == 0 && node % 2 == 1 && is_swapped(job, shape, node, swap));
  }
  std::vector<std::vector<Rank>> rings(static_cast<std::size_t>(nchannels));
  for (int channel = 0; channel < nchannels; ++channel) {
    std::vector<Rank>& ring = rings[static_cast<std::size_t>(channel)];
    ring.reserve(static_cast<std::size_t>(job.nranks));
    for (int node = 0; node < job.nnodes(); ++node) {
      const int lane = swaps[static_cast<std::size_t>(node)] ? channel ^ 1 : channel;
      const Graph& own = job.report(node).graphs[GraphId::Ring];
      for (const int gpu : own.intra[static_cast<std::size_t>(lane)]) {
        ring.push_back(job.rank(node, gpu));
      }
    }
    const auto first = std::ranges::find(ring, Rank{0});
    RINGSIDE_ASSERT(first != ring.end(), "ring {} lacks rank 0", channel);
    std::ranges::rotate(ring, first);
  }
  return rings;
}

}  // namespace ringside
