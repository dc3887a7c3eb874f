#include "trace/match.h"

#include <compare>
#include <utility>

#include "base/mixed.h"

namespace ringside {

std::size_t TransferMatcher::Hash::operator()(const TraceConnection& connection) const {
  const std::uint64_t ranks = (std::uint64_t{static_cast<std::uint32_t>(connection.sender)} << 32) |
                              static_cast<std::uint32_t>(connection.receiver);
  const std::uint64_t where = (std::uint64_t{connection.communicator} << 16) | connection.channel;
  return mixed(ranks + mixed(where));
}

TransferMatcher::TransferMatcher(std::function<void(const TraceTransfer&)> on_transfer)
    : on_transfer_(std::move(on_transfer)) {}

std::optional<TraceConnection> connection_to(const TraceEvent& event) {
  if (event.kind == EventKind::Collective || !parts_of(event.primitive).sends ||
      event.send_peer < 0)
    return std::nullopt;
  return TraceConnection{event.communicator, event.rank, event.send_peer, event.channel};
}

std::optional<TraceConnection> connection_from(const TraceEvent& event) {
  if (event.kind == EventKind::Collective || !parts_of(event.primitive).receives ||
      event.recv_peer < 0)
    return std::nullopt;
  return TraceConnection{event.communicator, event.recv_peer, event.rank, event.channel};
}

void TransferMatcher::add(const TraceEvent& event, TraceTag tag) {
  if (const auto from = connection_from(event)) add_half(*from, event, tag, false);
  if (const auto to = connection_to(event)) add_half(*to, event, tag, true);
}

void TransferMatcher::add_half(const TraceConnection& connection, const TraceEvent& event,
                               TraceTag tag, bool is_send) {
  const auto [found, is_new] = states_.try_emplace(connection);
  State& state = found->second;
  if (is_new) state.number = static_cast<std::uint32_t>(states_.size() - 1);
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

}  // namespace ringside
