#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/watch/call_log.h"

namespace ringside {

class Bootstrap;

/// The memory in which the ranks of one host keep their logs of calls: one for the collectives of each
/// rank, and two for the messages of each pair, the sender's and the receiver's.
///
/// The lowest rank of the host makes it (a memfd, sealed against shrinking, without a name in any file
/// system) and sends it to the others. Pages that no rank writes to take no memory.
///
/// Threads  any; CallLog defines which thread writes where
class CallBoard {
 public:
  /// Pairs have no logs beyond this number of ranks of one host: the logs grow with its square.
  static constexpr std::size_t kMostPaired = 128;

  /// Every rank calls it at the same time.
  /// host     a text that is the same on the ranks of this host, and on no others
  /// wanted   by this rank; if any rank does not want it, there is none
  /// returns  null: not wanted
  /// errors   as Bootstrap::all_gather(); Timeout, PeerGone, System: the memory did not come
  static Result<std::unique_ptr<CallBoard>> make(Bootstrap& bootstrap, const std::string& host,
                                                 bool wanted, Deadline deadline);
  ~CallBoard();
  CallBoard(const CallBoard&) = delete;
  CallBoard& operator=(const CallBoard&) = delete;

  /// All ranks that share the memory, this one among them, in order.
  [[nodiscard]] const std::vector<Rank>& local_ranks() const { return ranks_; }
  [[nodiscard]] bool is_local(Rank rank) const;

  /// shape  a local rank
  [[nodiscard]] CallLog::Memory& of_rank(Rank rank) const;

  [[nodiscard]] bool has_pairs() const { return ranks_.size() <= kMostPaired; }
  enum class Side { Sender, Receiver };
  /// The log of the rank on `side` for messages from the one to the other.
  /// shape  two local ranks; has_pairs()
  [[nodiscard]] CallLog::Memory& of_pair(Rank from, Rank to, Side side) const;

 private:
  CallBoard(std::vector<Rank> ranks, std::byte* memory, std::size_t size);
  [[nodiscard]] std::size_t index_of(Rank rank) const;

  std::vector<Rank> ranks_;
  std::byte* memory_;
  std::size_t size_;
};

}  // namespace ringside
