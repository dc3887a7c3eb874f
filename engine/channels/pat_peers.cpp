#include "engine/channels/pat_peers.h"

#include "base/assert.h"

namespace ringside {

std::vector<PatPeers> pat_peers(Collective collective, Rank rank, int nranks) {
  const int own = to_int(rank);
  RINGSIDE_ASSERT(own >= 0 && own < nranks, "rank {} of {}", own, nranks);
  const bool sends_ahead = collective == Collective::ReduceScatter;
  RINGSIDE_ASSERT(sends_ahead || collective == Collective::AllGather, "PAT does no {}",
                  to_string(collective));

  std::vector<PatPeers> peers;
  for (int distance = 1; distance < nranks; distance *= 2) {
    const Rank ahead{(own + distance) % nranks};
    const Rank behind{(own - distance + nranks) % nranks};
    peers.push_back({distance, sends_ahead ? ahead : behind, sends_ahead ? behind : ahead});
  }
  return peers;
}

}  // namespace ringside
