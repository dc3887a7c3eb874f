#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/match.h"
#include "trace/replay/event_table.h"

namespace ringside {

/// Which receive took what a send sent, and the way back. Ranks walk one text, so of most connections each transfer lies as
/// many events behind the one before it as that one did, at either end: such a run is kept as its first transfer, its two
/// strides and its length.
///
/// memory   12 bytes a run, 24 a connection. A run has two transfers at least, except where 2^11 events or more lie between
///          them, and 2^10 at most.
/// Threads  any, once finished
class TransferIndex {
 public:
  /// Numbers of events are those of transfer.send.event and transfer.recv.event.
  /// shape  as TransferMatcher hands them over: those of a connection number ascend at both ends
  void add(const TraceTransfer& transfer);
  void finish();  ///< after the last

  /// returns  kNoEvent: no receive, or no send, matches it.  takes  O(log runs)
  [[nodiscard]] EventId receive_of(const TraceConnection& connection, EventId send) const;
  [[nodiscard]] EventId send_of(const TraceConnection& connection, EventId receive) const;

  [[nodiscard]] std::size_t bytes() const {
    return connections_.size() * sizeof(Connection) + runs_.size() * sizeof(Run);
  }

 private:
  struct Run {
    static constexpr std::uint32_t kMostStride = (1U << 11) - 1;
    static constexpr std::uint32_t kMostBehind = (1U << 10) - 1;

    std::uint32_t send;  ///< of the first transfer
    std::uint32_t receive;
    std::uint32_t send_stride : 11;
    std::uint32_t receive_stride : 11;
    std::uint32_t behind : 10;  ///< transfers behind the first

    /// Whether the transfer is the run's next one; then it has become part of it.
    bool take(std::uint32_t next_send, std::uint32_t next_receive);
  };
  /// One end of a run's transfers.
  struct End {
    std::uint32_t first;
    std::uint32_t stride;
  };
  static End sends_of(const Run& run) { return {run.send, run.send_stride}; }
  static End receives_of(const Run& run) { return {run.receive, run.receive_stride}; }

  struct Key {
    std::uint64_t where = 0;  ///< communicator and channel
    std::uint64_t ranks = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key key_of(const TraceConnection& connection);

  struct Connection {
    Key key;
    std::size_t first = 0;  ///< of runs_; the next one's is their end
  };
  struct Pending {
    Key key;
    std::vector<Run> runs;
  };
  /// In each of the connection's parts.
  [[nodiscard]] EventId other_end(const TraceConnection& connection, EventId id,
                                  End (*own)(const Run&), End (*other)(const Run&)) const;
  static EventId other_end(std::span<const Run> runs, EventId id, End (*own)(const Run&),
                           End (*other)(const Run&));

  std::vector<Pending> pending_;  ///< by the matcher's number, until finish()
  std::vector<Connection>
      connections_;        ///< by key, one for each part; the one after the last has no key
  std::vector<Run> runs_;  ///< of a part of a connection: both ends ascend
};

}  // namespace ringside
