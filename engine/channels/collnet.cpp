#include <algorithm>

#include "engine/channels/heads.h"
#include "engine/channels/join.h"

namespace ringside {
namespace {

/// Returns the heads in the order that `rank` uses: a head lists itself first, every other rank keeps the
/// given order.
std::vector<Rank> as_seen_by(Rank rank, std::vector<Rank> heads) {
  const auto own = std::ranges::find(heads, rank);
  if (own != heads.end()) std::ranges::rotate(heads, own);
  return heads;
}

void join_chain(const JobView& job, int node, std::vector<std::array<Rank, 2>>& places) {
  const std::vector<int>& chain = job.report(node).graphs[GraphId::CollNetChain].intra.front();
  const Rank network{job.nranks};
  for (std::size_t i = 0; i < chain.size(); ++i) {
    auto& [up, down] = places[static_cast<std::size_t>(to_int(job.rank(node, chain[i])))];
    up = i == 0 ? network : job.rank(node, chain[i - 1]);
    down = i + 1 == chain.size() ? kNoRank : job.rank(node, chain[i + 1]);
  }
}

}  // namespace

Channels::CollNet join_collnet(const JobView& job, int direct_channels) {
  Channels::CollNet collnet;
  const Graph& direct = job.report(0).graphs[GraphId::CollNetDirect];
  for (const int gpu : head_gpus(direct, direct_channels)) {
    collnet.heads.push_back(job.rank(0, gpu));
  }
  collnet.direct_heads = as_seen_by(Rank{0}, collnet.heads);
  collnet.rails.resize(collnet.heads.size());
  for (int node = 0; node < job.nnodes(); ++node) {
    const std::vector<int> gpus =
        head_gpus(job.report(node).graphs[GraphId::CollNetDirect], direct_channels);
    if (gpus.size() != collnet.rails.size()) {  // the nodes do not match: a rail has no peer
      collnet.rails.clear();
      break;
    }
    for (std::size_t head = 0; head < gpus.size(); ++head) {
      collnet.rails[head].push_back(job.rank(node, gpus[head]));
    }
  }
  collnet.chain.resize(static_cast<std::size_t>(job.nranks), {kNoRank, kNoRank});
  for (int node = 0; node < job.nnodes(); ++node) join_chain(job, node, collnet.chain);
  return collnet;
}

}  // namespace ringside
