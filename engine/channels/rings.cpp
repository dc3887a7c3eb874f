#include <algorithm>

#include "base/assert.h"
#include "engine/channels/join.h"

namespace ringside {
namespace {

/// A node's way through its GPUs on a channel of the job.
const std::vector<int>& way_through(const JobView& job, int node, int channel, int nchannels) {
  const Graph& ring = job.report(node).graphs[GraphId::Ring];
  const bool swaps = ring.cross_nic == 2 && nchannels % 2 == 0 && node % 2 == 1;
  return ring.intra[static_cast<std::size_t>(swaps ? channel ^ 1 : channel)];
}

}  // namespace

std::vector<std::vector<Rank>> join_rings(const JobView& job, int nchannels) {
  std::vector<std::vector<Rank>> rings(static_cast<std::size_t>(nchannels));
  for (int channel = 0; channel < nchannels; ++channel) {
    std::vector<Rank>& ring = rings[static_cast<std::size_t>(channel)];
    ring.reserve(static_cast<std::size_t>(job.nranks));
    for (int node = 0; node < job.nnodes(); ++node) {
      for (const int gpu : way_through(job, node, channel, nchannels)) {
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
