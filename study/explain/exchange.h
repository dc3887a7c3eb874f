#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/collectives/exchange_schedule.h"
#include "study/explain/explanation.h"

/// Explains collectives that consist of sends and receives: their rounds, channels, parts and
/// paths. NCCL chooses no algorithm for them and has no model of their time.
namespace ringside::study {

/// The parts of a transfer between two ranks, for one size of the call.
struct ExchangeSize {
  Bytes bytes;     ///< size of the call, as benchmarks count it
  Bytes transfer;  ///< between two ranks
  int parts = 1;   ///< number of channels that carry the transfer in parallel
  Bytes part;      ///< size of each part but the last
};

/// How NCCL carries out sends and receives between all ranks.
struct ExchangeExplanation {
  std::string nccl;  ///< version, "2.30.7"
  CommShape shape;
  Calls calls;
  int channels = 1;  ///< point-to-point channels: a power of two
  int peers = 0;     ///< number of ranks that rank 0 sends to, without itself
  /// Number of ranks of a node that send in the same round.
  int block = 1;
  std::vector<PeersOfRound> first_rounds;  ///< the first rounds of rank 0
  std::vector<ExchangeSize> sizes;
  Rank far{0};                   ///< example peer of rank 0, on another node if there is one
  std::vector<std::string> way;  ///< names of the links from rank 0 to `far`
  bool is_relayed = false;       ///< another GPU of the node passes the message to its NIC (PXN)
};

/// Returns true if the question names such a collective; false also if it names none.
/// errors  as parse_calls()
Result<bool> is_exchange(const ExplainQuestion& question);

/// errors  as explain(); InvalidArgument: a collective that does not consist of sends and receives
Result<ExchangeExplanation> explain_exchange(const ExplainQuestion& question);

}  // namespace ringside::study
