#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

/// The order of point-to-point transfers, equal on all ranks: if a rank sends to a peer in a round, the peer receives
/// from it in the same round.
/// source  NCCL 2.30: ncclTaskPrepare's p2p schedule, addP2pToPlan, ncclP2pChannelBaseForRound
namespace ringside {

/// The peers of one rank in one round. In round 0 both are the rank itself.
struct PeersOfRound {
  Rank send{0};
  Rank recv{0};
  friend bool operator==(const PeersOfRound&, const PeersOfRound&) = default;
};

/// A schedule. Within nodes, ranks are grouped in blocks: of 8 with several nodes, fewer if 8 does not divide a node's
/// ranks; with one node, all ranks form one block.
struct ExchangeSchedule {
  std::vector<PeersOfRound> rounds;  ///< each rank of the job appears once in each direction
  int block = 1;
  int nodes = 1;
};

/// shape  `nodes` holds each rank once, `me` among them
ExchangeSchedule exchange_schedule(std::span<const std::vector<Rank>> nodes, Rank me);

/// Returns the channel of the first part of a round's transfers; part k uses this channel + k, modulo nchannels.
/// shape  nchannels a power of two
int first_channel_of(const ExchangeSchedule& schedule, int round, int nchannels);

/// How a transfer is split over channels: into `parts` parts of `each` bytes. The last part that holds
/// data may be shorter, and the parts after it are empty.
struct TransferCut {
  int parts = 1;
  std::int64_t each = 0;
};

/// The limits for splitting a transfer.
struct CutLimits {
  std::int64_t chunk = 0;  ///< largest message of a connection, bytes
  int nranks = 1, nodes = 1;
  int nchannels = 1;  ///< a power of two
  int per_peer = 1;   ///< most channels of one transfer; a power of two, at most nchannels
};

/// Splits a transfer.  bytes: size of the transfer
TransferCut cut_transfer(std::int64_t bytes, const CutLimits& limits);

}  // namespace ringside
