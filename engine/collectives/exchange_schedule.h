#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

/// The order of point-to-point transfers that all ranks keep, so that in each round the rank that one
/// sends to is the one that receives from it.
/// source  NCCL 2.30: ncclTaskPrepare's p2p schedule, addP2pToPlan, ncclP2pChannelBaseForRound
namespace ringside {

/// One round of one rank: whom it sends to and receives from. Round 0 is itself.
struct PeersOfRound {
  Rank send{0};
  Rank recv{0};
  friend bool operator==(const PeersOfRound&, const PeersOfRound&) = default;
};

/// Ranks in blocks within their nodes: of 8 where there are several nodes, fewer where 8 does not divide
/// them; of one node, the whole.
struct ExchangeSchedule {
  std::vector<PeersOfRound> rounds;  ///< each rank of the job once in each direction
  int block = 1;
  int nodes = 1;
};

/// shape  `nodes` holds each rank once, `me` among them
ExchangeSchedule exchange_schedule(std::span<const std::vector<Rank>> nodes, Rank me);

/// The channel that a round's transfers begin on; part k goes to the channel k further, around.
/// shape  nchannels a power of two
int first_channel_of(const ExchangeSchedule& schedule, int round, int nchannels);

/// How one transfer is cut among channels: `parts` of them, of `each` bytes but for the last.
struct TransferCut {
  int parts = 1;
  std::int64_t each = 0;
};

/// What a transfer is cut by.
struct CutLimits {
  std::int64_t chunk = 0;  ///< bytes at most in a message of a connection
  int nranks = 1, nodes = 1;
  int nchannels = 1;  ///< a power of two
  int per_peer = 1;   ///< that one transfer gets at most; a power of two, nchannels at most
};

/// bytes  of the transfer
TransferCut cut_transfer(std::int64_t bytes, const CutLimits& limits);

}  // namespace ringside
