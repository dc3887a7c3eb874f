#pragma once

#include <vector>

#include "base/ids.h"
#include "base/vocabulary.h"

namespace ringside {

/// The peers of a rank in PAT, the parallel aggregated trees of all-gather and reduce-scatter: one pair for each power
/// of two.
struct PatPeers {
  int distance = 1;  ///< 2^k < nranks
  Rank send = kNoRank;
  Rank recv = kNoRank;

  friend bool operator==(const PatPeers&, const PatPeers&) = default;
};

/// Returns the peers by distance, nearest first; empty for one rank.
///
/// collective  ReduceScatter sends ahead and receives from behind, AllGather the other way round
/// shape       nranks >= 1, 0 <= rank < nranks
/// source      NCCL 2.30.7 transport/generic.cc: ncclTransportPatConnect
std::vector<PatPeers> pat_peers(Collective collective, Rank rank, int nranks);

}  // namespace ringside
