#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/collectives/exchange_schedule.h"
#include "study/explain/explanation.h"

/// "What does NCCL do with a collective that consists of sends and receives?" It has no choice of an algorithm, and
/// no model of its time: rounds, channels, parts, and paths.
namespace ringside::study {

/// One size: how the transfer between two ranks is cut.
struct ExchangeSize {
  Bytes bytes;     ///< of the call, as benchmarks count
  Bytes transfer;  ///< between two ranks
  int parts = 1;   ///< channels that carry it side by side
  Bytes part;      ///< of each but the last
};

struct ExchangeExplanation {
  std::string nccl;  ///< version, "2.30.7"
  CommShape shape;
  Calls calls;
  int channels = 1;                        ///< of point-to-point: a power of two
  int peers = 0;                           ///< that rank 0 sends to, itself not among them
  int block = 1;                           ///< ranks of a node that take turns together
  std::vector<PeersOfRound> first_rounds;  ///< of rank 0, some
  std::vector<ExchangeSize> sizes;
  Rank far{0};                   ///< another rank, of another node where there is one
  std::vector<std::string> way;  ///< links from rank 0 to it
  bool is_relayed = false;       ///< another GPU of the node hands the message to its NIC (PXN)
};

/// Whether the question is about such a collective; false if it names none.
/// errors  as parse_calls()
Result<bool> is_exchange(const ExplainQuestion& question);

/// errors  as explain(); InvalidArgument: a collective that does not consist of sends and receives
Result<ExchangeExplanation> explain_exchange(const ExplainQuestion& question);

}  // namespace ringside::study
