#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ringside/trace_event.h"

namespace ringside {

/// One direction of one channel between two ranks.
struct TraceConnection {
  std::uint32_t communicator = 0;
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::uint16_t channel = 0;
  friend bool operator==(const TraceConnection&, const TraceConnection&) = default;
};

/// Return the connection that the event sends on or receives from; nullopt if it does not send, or
/// does not receive.
std::optional<TraceConnection> connection_to(const TraceEvent& event);
std::optional<TraceConnection> connection_from(const TraceEvent& event);

/// Returns true if a rank may send both contributions and results to the same rank on one channel,
/// in an order that differs between the two ends: then transfers are matched by buffer offset.
bool is_matched_by_place(const TraceEvent& event);

/// Returns true if a node's switch reduced and multicast in the call; false if copies replaced the
/// switch.
bool uses_switch(const TraceEvent& event);

/// The ends of a transfer that must be a recv_send for it to cross nodes. Only for calls that use
/// switches.
struct NetworkEnds {
  bool sends = false, receives = false;
};
NetworkEnds network_ends_of(Collective collective);

/// Returns true if the transfer used a node's switch.
bool goes_by_switch(const TraceEvent& send, const TraceEvent& receive);

/// The caller's numbers of an event, and of the primitive that it is part of.
struct TraceTag {
  std::uint32_t event = 0;
  std::uint32_t primitive = 0;
};

/// A transferred chunk: the primitive that sent it and the one that received it.
struct TraceTransfer {
  TraceConnection connection;
  /// Number that the matcher gave the connection, or the part of it: 0, 1, ...
  std::uint32_t connection_number = 0;
  std::uint32_t sequence = 0;
  std::int64_t send_begin_ns = 0;
  std::int64_t send_end_ns = 0;
  std::int64_t recv_begin_ns = 0;
  std::int64_t recv_end_ns = 0;
  TraceTag send = {};
  TraceTag recv = {};
};

/// Matches sends with receives, for each peer of a primitive separately: within a collective, the
/// nth send on a connection matches its nth receive. It stores only halves (sends or receives)
/// whose counterpart has not been added yet.
///
/// The heads of an all-reduce (NVLS, CollNet) receive contributions from the same ranks to which
/// they send results, on the same channel, in an order that differs between both ends. There, the
/// nth send of a buffer offset matches the nth receive of that offset. Such a connection has
/// several numbers.
///
/// Ordering   add events of one rank and channel in the order recorded, and lanes in any order.
///            Transfers of one connection number ascend at both ends: a later one has the later
///            send and the later receive.
/// Threads    one
class TransferMatcher {
 public:
  /// Maximum number of waiting halves (64 MiB); further ones count as unmatched.
  static constexpr std::size_t kMostWaiting = 1U << 20;

  explicit TransferMatcher(std::function<void(const TraceTransfer&)> on_transfer);

  /// Adds an event and calls on_transfer for each transfer that it completes: none, one or two.
  void add(const TraceEvent& event, TraceTag tag = {});

  /// Returns the number of unmatched halves: skipped ones and waiting ones.
  [[nodiscard]] std::uint64_t unmatched() const { return passed_over_ + waiting_; }

  /// Maximum numbers of one connection; transfers that fit none count as unmatched.
  static constexpr std::size_t kMostParts = 16;

 private:
  struct Half {
    std::uint32_t sequence;
    std::uint32_t ordinal;  ///< among the halves of this side and sequence
    std::int64_t begin_ns;
    std::int64_t end_ns;
    TraceTag tag;
  };
  struct Side {
    std::uint32_t sequence = 0;
    std::uint32_t next = 0;  ///< ordinal
  };
  struct State {
    std::uint32_t number = 0;
    Side send;
    Side recv;
    /// At most one side waits: halves of the other side were matched or skipped.
    bool do_sends_wait = false;
    std::size_t first = 0;  ///< index in `waiting` of the first half that still waits
    std::vector<Half> waiting;
  };
  struct Hash {
    std::size_t operator()(const TraceConnection& connection) const;
  };

  /// One buffer offset on one connection; only one side waits.
  struct PlaceKey {
    TraceConnection connection;
    std::uint32_t sequence = 0;
    std::uint64_t offset = 0;
    friend bool operator==(const PlaceKey&, const PlaceKey&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const PlaceKey& key) const;
  };
  struct AtPlace {
    bool are_sends = false;
    std::deque<Half> waiting;
  };
  /// A connection whose transfers are in several orders.
  struct Parts {
    std::uint32_t next_send = 0, next_recv = 0;  ///< ordinals
    struct Part {
      std::uint32_t number, last_send, last_recv;
    };
    std::vector<Part> parts;
  };

  void add_half(const TraceConnection& connection, const TraceEvent& event, TraceTag tag,
                bool is_send);
  void add_half_of_place(const TraceConnection& connection, const TraceEvent& event, TraceTag tag,
                         bool is_send);
  /// returns  nullopt: too many parts
  std::optional<std::uint32_t> number_of_part(Parts& parts, const Half& send, const Half& recv);

  std::function<void(const TraceTransfer&)> on_transfer_;
  std::unordered_map<TraceConnection, State, Hash> states_;
  std::unordered_map<PlaceKey, AtPlace, PlaceHash> places_;
  std::unordered_map<TraceConnection, Parts, Hash> parts_;
  std::uint32_t numbers_ = 0;  ///< given to connections
  std::uint64_t passed_over_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace ringside
