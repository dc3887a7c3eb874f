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

/// The connection that the event sends on, or receives from; none where it has no part in a transfer on that side.
std::optional<TraceConnection> connection_to(const TraceEvent& event);
std::optional<TraceConnection> connection_from(const TraceEvent& event);

/// Whether a rank may send another one shares and results on one channel, in an order that differs between the two ends:
/// then both ends of a transfer name one place of the buffer.
bool is_matched_by_place(const TraceEvent& event);

/// Whether in the call a node's switch reduced and multicast. False where copies replaced the switch.
bool uses_switch(const TraceEvent& event);

/// Which ends of a transfer have to be a recv_send for the transfer to be one between nodes. Of the calls that use switches.
struct NetworkEnds {
  bool sends = false, receives = false;
};
NetworkEnds network_ends_of(Collective collective);

/// Whether a transfer went through a node's switch.
bool goes_by_switch(const TraceEvent& send, const TraceEvent& receive);

/// How the code that adds an event identifies it: the event, and the primitive that it is part of.
struct TraceTag {
  std::uint32_t event = 0;
  std::uint32_t primitive = 0;
};

/// A chunk on its way: the primitive that sent it and the one that received it.
struct TraceTransfer {
  TraceConnection connection;
  std::uint32_t connection_number =
      0;  ///< of the matcher: 0, 1, ...; of one connection or a part of it
  std::uint32_t sequence = 0;
  std::int64_t send_begin_ns = 0;
  std::int64_t send_end_ns = 0;
  std::int64_t recv_begin_ns = 0;
  std::int64_t recv_end_ns = 0;
  TraceTag send = {};
  TraceTag recv = {};
};

/// Matches sends with receives, each of a primitive's peers for itself: within a collective, the nth send on a connection feeds
/// its nth receive. Holds only the halves whose other half has not come yet.
///
/// Heads of an all-reduce (NVLS, CollNet) get shares from the same ranks to which they send results, on the same channel,
/// in an order that differs between the two ends. There both ends of a transfer name one place of the buffer, and the nth
/// primitive that sends that place feeds the nth that receives it. Such a connection has several numbers.
///
/// Ordering   events of one rank and channel come in the order recorded; lanes may come in any order. So do the transfers
///            of one connection number, at both ends: the later one has the later send and the later receive.
/// Threads    one
class TransferMatcher {
 public:
  /// Halves that wait at once, at most (64 MiB); further ones count as unmatched.
  static constexpr std::size_t kMostWaiting = 1U << 20;

  explicit TransferMatcher(std::function<void(const TraceTransfer&)> on_transfer);

  /// Calls on_transfer for each transfer that the event completes: none, one or two.
  void add(const TraceEvent& event, TraceTag tag = {});

  /// Unmatched halves: those that were skipped, and those that still wait.
  [[nodiscard]] std::uint64_t unmatched() const { return passed_over_ + waiting_; }

  /// The most numbers of one connection; transfers that fit into none count as unmatched.
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
    bool do_sends_wait =
        false;              ///< one side at most waits: the other has been matched or passed over
    std::size_t first = 0;  ///< of `waiting` that still waits
    std::vector<Half> waiting;
  };
  struct Hash {
    std::size_t operator()(const TraceConnection& connection) const;
  };

  /// One place of the buffer on one connection: only one side waits.
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
  /// A connection whose transfers have several orders.
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
  /// returns  none: there are too many
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
