#include "trace/match.h"

#include <compare>
#include <utility>

#include "base/mixed.h"
#include "base/words.h"

namespace ringside {

bool is_matched_by_place(const TraceEvent& event) {
  return event.collective == Collective::AllReduce &&
         (event.algorithm == Algorithm::Nvls || event.algorithm == Algorithm::NvlsTree ||
          event.algorithm == Algorithm::CollNetDirect);
}

bool uses_switch(const TraceEvent& event) {
  return !event.is_modelled &&
         (event.algorithm == Algorithm::Nvls || event.algorithm == Algorithm::NvlsTree);
}

// source  engine/collectives/nvls.h: what a head passes on comes from its node or goes there, and of a gather and a scatter
// the other end of it is in another node.
NetworkEnds network_ends_of(Collective collective) {
  return {.sends = collective != Collective::AllGather,
          .receives = collective != Collective::ReduceScatter};
}

bool goes_by_switch(const TraceEvent& send, const TraceEvent& receive) {
  const NetworkEnds needed = network_ends_of(send.collective);
  const bool is_between_nodes = (!needed.sends || send.primitive == Primitive::RecvSend) &&
                                (!needed.receives || receive.primitive == Primitive::RecvSend);
  return uses_switch(send) && !is_between_nodes;
}

std::size_t TransferMatcher::Hash::operator()(const TraceConnection& connection) const {
  const std::uint64_t ranks = (std::uint64_t{static_cast<std::uint32_t>(connection.sender)} << 32) |
                              static_cast<std::uint32_t>(connection.receiver);
  const std::uint64_t where = (std::uint64_t{connection.communicator} << 16) | connection.channel;
  return static_cast<std::size_t>(mixed(ranks + mixed(where)));
}

std::size_t TransferMatcher::PlaceHash::operator()(const PlaceKey& key) const {
  return static_cast<std::size_t>(
      mixed(Hash()(key.connection) + mixed(key.offset + mixed(key.sequence))));
}

TransferMatcher::TransferMatcher(std::function<void(const TraceTransfer&)> on_transfer)
    : on_transfer_(std::move(on_transfer)) {}

namespace {
bool is_step(const TraceEvent& event) {
  return event.kind == EventKind::Primitive || event.kind == EventKind::Peer;
}
}  // namespace

std::optional<TraceConnection> connection_to(const TraceEvent& event) {
  if (!is_step(event) || !parts_of(event.primitive).sends || event.send_peer < 0)
    return std::nullopt;
  return TraceConnection{event.communicator, event.rank, event.send_peer, event.channel};
}

std::optional<TraceConnection> connection_from(const TraceEvent& event) {
  if (!is_step(event) || !parts_of(event.primitive).receives || event.recv_peer < 0)
    return std::nullopt;
  return TraceConnection{event.communicator, event.recv_peer, event.rank, event.channel};
}

void TransferMatcher::add(const TraceEvent& event, TraceTag tag) {
  if (const auto from = connection_from(event)) add_half(*from, event, tag, false);
  if (const auto to = connection_to(event)) add_half(*to, event, tag, true);
}

void TransferMatcher::add_half(const TraceConnection& connection, const TraceEvent& event,
                               TraceTag tag, bool is_send) {
  if (is_matched_by_place(event)) return add_half_of_place(connection, event, tag, is_send);
  const auto [found, is_new] = states_.try_emplace(connection);
  State& state = found->second;
  if (is_new) state.number = numbers_++;
  Side& side = is_send ? state.send : state.recv;
  if (side.sequence != event.sequence) side = {event.sequence, 0};
  const Half half{event.sequence, side.next++, event.begin_ns, event.end_ns, tag};

  // Both sides count upwards, so a waiting half that lies before this one has lost its other half.
  while (state.first < state.waiting.size() && state.do_sends_wait != is_send) {
    const Half& other = state.waiting[state.first];
    const auto order =
        std::pair(other.sequence, other.ordinal) <=> std::pair(half.sequence, half.ordinal);
    if (order > 0) {
      ++passed_over_;
      return;
    }
    const Half& send = is_send ? half : other;
    const Half& recv = is_send ? other : half;
    const TraceTransfer transfer{connection,    state.number, half.sequence,
                                 send.begin_ns, send.end_ns,  recv.begin_ns,
                                 recv.end_ns,   send.tag,     recv.tag};
    --waiting_;
    if (++state.first == state.waiting.size()) {
      state.waiting.clear();
      state.first = 0;
    }
    if (order == 0) return on_transfer_(transfer);
    ++passed_over_;
  }

  if (waiting_ >= kMostWaiting) {
    ++passed_over_;
    return;
  }
  state.do_sends_wait = is_send;
  state.waiting.push_back(half);
  ++waiting_;
}

// Of one place, a head's share comes before its result and goes before it: their order is the same at both ends.
void TransferMatcher::add_half_of_place(const TraceConnection& connection, const TraceEvent& event,
                                        TraceTag tag, bool is_send) {
  Parts& parts = parts_[connection];
  const Half half{event.sequence, is_send ? parts.next_send++ : parts.next_recv++, event.begin_ns,
                  event.end_ns, tag};
  const auto at = places_.try_emplace({connection, event.sequence, event.offset}).first;
  AtPlace& place = at->second;
  if (place.waiting.empty() || place.are_sends == is_send) {
    if (waiting_ >= kMostWaiting) {
      ++passed_over_;
      if (place.waiting.empty()) places_.erase(at);
      return;
    }
    place.are_sends = is_send;
    place.waiting.push_back(half);
    ++waiting_;
    return;
  }
  const Half other = place.waiting.front();
  place.waiting.pop_front();
  --waiting_;
  if (place.waiting.empty()) places_.erase(at);
  const Half& send = is_send ? half : other;
  const Half& recv = is_send ? other : half;
  const auto number = number_of_part(parts, send, recv);
  if (!number) {
    passed_over_ += 2;
    return;
  }
  on_transfer_({connection, *number, half.sequence, send.begin_ns, send.end_ns, recv.begin_ns,
                recv.end_ns, send.tag, recv.tag});
}

std::optional<std::uint32_t> TransferMatcher::number_of_part(Parts& parts, const Half& send,
                                                             const Half& recv) {
  // Of the parts that the transfer goes on with, the one that ends nearest before it.
  Parts::Part* best = nullptr;
  for (Parts::Part& part : parts.parts) {
    const bool goes_on = part.last_send < send.ordinal && part.last_recv < recv.ordinal;
    if (goes_on && (best == nullptr || part.last_send > best->last_send)) best = &part;
  }
  if (best == nullptr) {
    if (parts.parts.size() >= kMostParts) return std::nullopt;
    best = &parts.parts.emplace_back(Parts::Part{numbers_++, 0, 0});
  }
  best->last_send = send.ordinal;
  best->last_recv = recv.ordinal;
  return best->number;
}

}  // namespace ringside
