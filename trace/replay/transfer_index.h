#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/match.h"
#include "trace/replay/event_table.h"

namespace ringside {

/// Finds the receive of a send, and the send of a receive. Ranks run one program, so on most
/// connections consecutive transfers are a constant number of events apart at each end. Such a run
/// is stored as its first transfer, two strides and a length.
///
/// memory   12 bytes per run, 24 per connection. A run has 2 to 2^10 transfers, or 1 if 2^11 events
///          or more lie between transfers.
/// Threads  any, after finish()
class TransferIndex {
 public:
  /// Adds a transfer. Event numbers are transfer.send.event and transfer.recv.event.
  /// shape  in the order of TransferMatcher: the transfers of a connection number ascend at both
  ///        ends
  void add(const TraceTransfer& transfer);
  void finish();  ///< call it after the last add()

  /// returns  kNoEvent: unmatched.  takes  O(log runs)
  [[nodiscard]] EventId receive_of(const TraceConnection& connection, EventId send) const;
  [[nodiscard]] EventId send_of(const TraceConnection& connection, EventId receive) const;

  [[nodiscard]] std::size_t bytes() const {
    return connections_.size() * sizeof(Connection) + runs_.size() * sizeof(Run);
  }

 private:
  struct Run {
    static constexpr std::uint32_t kMostStride = (1U << 11) - 1;
    static constexpr std::uint32_t kMostBehind = (1U << 10) - 1;

    std::uint32_t send;  ///< number of the first transfer's send
    std::uint32_t receive;
    std::uint32_t send_stride : 11;
    std::uint32_t receive_stride : 11;
    std::uint32_t behind : 10;  ///< transfers behind the first one

    /// Adds the transfer if it continues the run.  returns  true if it was added
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
    std::size_t first = 0;  ///< index into runs_; ends at the next connection's first
  };
  struct Pending {
    Key key;
    std::vector<Run> runs;
  };
  /// Searches each part of the connection.
  [[nodiscard]] EventId other_end(const TraceConnection& connection, EventId id,
                                  End (*own)(const Run&), End (*other)(const Run&)) const;
  static EventId other_end(std::span<const Run> runs, EventId id, End (*own)(const Run&),
                           End (*other)(const Run&));

  std::vector<Pending> pending_;  ///< by the matcher's number, until finish()
  /// By key, one entry per part of a connection; followed by an entry without key.
  std::vector<Connection> connections_;
  std::vector<Run> runs_;  ///< within a part of a connection, both ends ascend
};

}  // namespace ringside
