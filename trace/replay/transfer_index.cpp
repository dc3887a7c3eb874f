#include "trace/replay/transfer_index.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {

TransferIndex::Key TransferIndex::key_of(const TraceConnection& connection) {
  return {(std::uint64_t{connection.communicator} << 16) | connection.channel,
          (std::uint64_t{static_cast<std::uint32_t>(connection.sender)} << 32) |
              static_cast<std::uint32_t>(connection.receiver)};
}

bool TransferIndex::Run::take(std::uint32_t next_send, std::uint32_t next_receive) {
  const std::uint32_t last_send = send + behind * send_stride;
  const std::uint32_t last_receive = receive + behind * receive_stride;
  RINGSIDE_ASSERT(next_send > last_send && next_receive > last_receive,
                  "transfer {} -> {} behind {} -> {}", next_send, next_receive, last_send,
                  last_receive);
  const std::uint32_t sends_apart = next_send - last_send;
  const std::uint32_t receives_apart = next_receive - last_receive;
  if (behind == 0) {
    if (sends_apart > kMostStride || receives_apart > kMostStride) return false;
    send_stride = sends_apart & kMostStride;
    receive_stride = receives_apart & kMostStride;
  } else if (behind == kMostBehind || sends_apart != send_stride ||
             receives_apart != receive_stride) {
    return false;
  }
  ++behind;
  return true;
}

void TransferIndex::add(const TraceTransfer& transfer) {
  if (transfer.connection_number >= pending_.size())
    pending_.resize(transfer.connection_number + 1);
  Pending& connection = pending_[transfer.connection_number];
  if (connection.runs.empty()) connection.key = key_of(transfer.connection);
  const std::uint32_t send = transfer.send.event;
  const std::uint32_t receive = transfer.recv.event;
  if (connection.runs.empty() || !connection.runs.back().take(send, receive)) {
    connection.runs.push_back({send, receive, 0, 0, 0});
  }
}

void TransferIndex::finish() {
  std::erase_if(pending_, [](const Pending& one) { return one.runs.empty(); });
  std::ranges::sort(pending_, {}, &Pending::key);
  std::size_t runs = 0;
  for (const Pending& one : pending_) runs += one.runs.size();
  runs_.reserve(runs);
  connections_.reserve(pending_.size() + 1);
  for (Pending& one : pending_) {
    connections_.push_back({one.key, runs_.size()});
    runs_.insert(runs_.end(), one.runs.begin(), one.runs.end());
    one.runs = std::vector<Run>();  // = {} would keep its memory
  }
  connections_.push_back({{}, runs_.size()});
  pending_ = std::vector<Pending>();
}

EventId TransferIndex::other_end(const TraceConnection& connection, EventId id,
                                 End (*own)(const Run&), End (*other)(const Run&)) const {
  const Key key = key_of(connection);
  const auto last = std::prev(connections_.end());
  const auto [begin, end] =
      std::ranges::equal_range(connections_.begin(), last, key, {}, &Connection::key);
  for (auto part = begin; part != end; ++part) {
    const auto runs = std::span(runs_).subspan(part->first, std::next(part)->first - part->first);
    const EventId found = other_end(runs, id, own, other);
    if (found != kNoEvent) return found;
  }
  return kNoEvent;
}

EventId TransferIndex::other_end(std::span<const Run> runs, EventId id, End (*own)(const Run&),
                                 End (*other)(const Run&)) {
  const auto behind = std::ranges::upper_bound(runs, to_int(id), {},
                                               [own](const Run& run) { return own(run).first; });
  if (behind == runs.begin()) return kNoEvent;
  const Run& run = *std::prev(behind);
  const End here = own(run);
  const End there = other(run);
  const std::uint32_t apart = to_int(id) - here.first;
  if (apart == 0) return EventId{there.first};
  if (here.stride == 0 || apart % here.stride != 0) return kNoEvent;
  const std::uint32_t nth = apart / here.stride;
  return nth > run.behind ? kNoEvent : EventId{there.first + nth * there.stride};
}

EventId TransferIndex::receive_of(const TraceConnection& connection, EventId send) const {
  return other_end(connection, send, sends_of, receives_of);
}

EventId TransferIndex::send_of(const TraceConnection& connection, EventId receive) const {
  return other_end(connection, receive, receives_of, sends_of);
}

}  // namespace ringside
