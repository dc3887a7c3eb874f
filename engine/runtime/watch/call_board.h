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

/// Shared memory in which the ranks of one host keep their call logs: one log for the collectives of each rank, and two
/// for the messages of each pair (one of the sender, one of the receiver).
///
/// The lowest rank of the host makes it (a memfd, sealed against shrinking, without a name in any file
/// system) and sends it to the others. Pages that are never written take no memory.
///
/// Threads  any; CallLog defines which thread writes where
class CallBoard {
 public:
  /// With more ranks than this on one host, pairs have no logs: their number grows with the square of the ranks.
  static constexpr std::size_t kMostPaired = 128;

  /// Makes the memory, or maps that of the host's lowest rank. Every rank calls it at the same time.
  /// host     a text that is equal exactly for the ranks of this host
  /// wanted   whether this rank wants the board; it is made only if every rank wants it
  /// returns  null: at least one rank does not want it
  /// errors   as Bootstrap::all_gather(); Timeout, PeerGone, System: the memory did not arrive
  static Result<std::unique_ptr<CallBoard>> make(Bootstrap& bootstrap, const std::string& host,
                                                 bool wanted, Deadline deadline);
  ~CallBoard();
  CallBoard(const CallBoard&) = delete;
  CallBoard& operator=(const CallBoard&) = delete;

  /// Returns all ranks that share the memory, this one included, ascending.
  [[nodiscard]] const std::vector<Rank>& local_ranks() const { return ranks_; }
  [[nodiscard]] bool is_local(Rank rank) const;

  /// shape  a local rank
  [[nodiscard]] CallLog::Memory& of_rank(Rank rank) const;

  [[nodiscard]] bool has_pairs() const { return ranks_.size() <= kMostPaired; }
  enum class Side { Sender, Receiver };
  /// Returns the log that the rank on `side` keeps of messages from `from` to `to`.
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
