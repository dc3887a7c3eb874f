#include "engine/runtime/host/host_primitives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/engine_words.h"
#include "engine/reduce/copy.h"
#include "trace/clock.h"
#include "trace/step_event.h"

namespace ringside {
namespace {

/// Data that is processed twice stays in the first-level cache in tiles of this size.
constexpr std::size_t kTile = 8192;

/// From this size on, passing a reference costs less than the copy that it avoids.
constexpr std::size_t kLeastReferred = 1024;

/// Calls visit(index) for each end behind the ports.
template <typename End, typename Visit>
void for_each_end(const HostPorts::Side<End>& side, Ports ports, Visit&& visit) {
  for_each_port(ports, [&](int port) {
    for (std::uint32_t i = side.begin(port); i < side.end(port); ++i) visit(i);
  });
}

template <typename End>
std::uint32_t count_ends(const HostPorts::Side<End>& side, Ports ports) {
  std::uint32_t count = 0;
  for_each_port(ports, [&](int port) { count += side.end(port) - side.begin(port); });
  return count;
}

SharedSpan span_in(const SharedRegion& region, const std::byte* place) {
  return {&region, static_cast<std::size_t>(place - region.data())};
}

}  // namespace

HostPrimitives::HostPrimitives(const Setup& setup)
    : setup_(setup), inputs_(setup.ports->recv.ends.size() + 1) {}

void HostPrimitives::restart(const void* input, void* output, std::uint32_t sequence) {
  setup_.input = static_cast<const std::byte*>(input);
  setup_.output = static_cast<std::byte*>(output);
  setup_.event.sequence = sequence;
  step_ = 0;
  has_referred_ = false;
  has_looked_for_memory_ = false;
}

void HostPrimitives::find_memory() {
  has_looked_for_memory_ = true;
  input_memory_ = find_shared(setup_.input);
  output_memory_ = find_shared(setup_.output);
  if (!setup_.keeps_input && input_memory_ == output_memory_) input_memory_ = nullptr;
  if (!setup_.returns_results) output_memory_ = nullptr;
}

void HostPrimitives::run(Primitive primitive, int chunk, Ports from, Ports to) {
  if (setup_.failure->happened()) return;
  const PrimitiveParts parts = parts_of(primitive);
  const ChunkSpan span = setup_.map->at(loop_, chunk);
  ++step_;
  if (setup_.lane == nullptr) return move(parts, span, from, to);
  const std::int64_t begin_ns = trace_now().count();
  move(parts, span, from, to);
  record(primitive, span, from, to, begin_ns);
}

void HostPrimitives::record(Primitive primitive, const ChunkSpan& span, Ports from, Ports to,
                            std::int64_t begin_ns) {
  const PrimitiveParts parts = parts_of(primitive);
  TraceEvent event = setup_.event;
  event.begin_ns = begin_ns;
  event.end_ns = trace_now().count();
  event.primitive = primitive;
  event.step = step_ - 1;
  event.bytes = static_cast<std::uint64_t>(span.count) * setup_.element.value;
  event.offset = static_cast<std::uint64_t>(parts.writes_output ? span.output : span.input) *
                 setup_.element.value;
  const auto peers_of = [](const auto& side, Ports ports) {
    return [&side, ports](const auto& visit) {
      for_each_end(side, ports, [&](std::uint32_t i) { visit(side.peers[i]); });
    };
  };
  record_step(*setup_.lane, event, peers_of(setup_.ports->recv, from),
              peers_of(setup_.ports->send, to));
}

void HostPrimitives::move(PrimitiveParts parts, const ChunkSpan& span, Ports from, Ports to) {
  const std::size_t element = setup_.element.value;
  const std::size_t bytes = static_cast<std::size_t>(span.count) * element;
  const std::byte* input = setup_.input + static_cast<std::size_t>(span.input) * element;
  std::byte* output = setup_.output + static_cast<std::size_t>(span.output) * element;
  const std::size_t slot =
      parts.receives || parts.sends ? static_cast<std::size_t>(setup_.slot.value) : bytes;
  for (std::size_t done = 0; done < bytes && !setup_.failure->happened(); done += slot) {
    move_slice(parts, {input + done, output + done, std::min(slot, bytes - done)}, from, to);
  }
}

/// Returns whether this rank's input is processed even if nothing is added to it.
bool HostPrimitives::prepares(PrimitiveParts parts) const {
  return parts.reads_input && setup_.reduce != nullptr && setup_.reduce->has_pre_operation();
}

void HostPrimitives::move_slice(PrimitiveParts parts, const Slice& slice, Ports from, Ports to) {
  arrived_ = 0;
  if (parts.reads_input) inputs_[arrived_++] = slice.input;
  if (parts.receives) {
    const HostPorts::Side<RecvEnd>& side = setup_.ports->recv;
    const bool is_alone = !parts.reads_input && !parts.sends && count_ends(side, from) == 1;
    const bool is_plain = setup_.reduce == nullptr || !setup_.reduce->has_post_operation();
    if (is_alone && is_plain && !setup_.is_streaming) {
      take(slice, side.begin(from.first + std::countr_zero(from.bits)));
      return;
    }
    if (!receive(slice.bytes, from)) return;
  }
  const bool is_done =
      arrived_ > 1 || prepares(parts) ? reduce(parts, slice, to) : pass_on(parts, slice, to);
  if (is_done && parts.receives) release(from);
}

/// Passes one message, or this rank's input, to the ends of `to` and to the output.
bool HostPrimitives::pass_on(PrimitiveParts parts, const Slice& slice, Ports to) {
  const std::byte* from = inputs_[0];
  if (from == nullptr) return true;  // the data is already in the output
  bool is_sent = true;
  for_each_end(setup_.ports->send, to, [&](std::uint32_t i) {
    is_sent =
        is_sent && (from == slice.input ? send_input(i, slice) : send_to(i, {from, slice.bytes}));
  });
  if (is_sent && parts.writes_output) write_output(slice.output, from, slice.bytes);
  return is_sent;
}

/// Reduces this rank's input and the received messages into the output, into the places that peers have named, and
/// into the slot of the first end whose peer has named none; the other ends get a copy of that slot.
bool HostPrimitives::reduce(PrimitiveParts parts, const Slice& slice, Ports to) {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  std::optional<std::uint32_t> first;
  if (parts.sends) {
    for_each_end(side, to, [&](std::uint32_t i) {
      if (!first && !has_landing(side.peers[i])) first = i;
    });
  }
  std::span<std::byte> room;
  if (first && !acquire(*first, room)) return false;
  reduce_into(parts.writes_output ? slice.output : nullptr, room.data(), slice,
              parts.reads_input ? FirstInput::Own : FirstInput::Partial);
  if (!parts.sends) return true;
  bool is_sent = true;
  for_each_end(side, to, [&](std::uint32_t i) {
    if (!is_sent || i == first) return;
    is_sent =
        has_landing(side.peers[i]) ? announce(i, slice.bytes) : send_to(i, room.first(slice.bytes));
  });
  if (!is_sent || !first) return is_sent;
  if (Status posted = side.ends[*first]->post(Bytes{slice.bytes}); !posted) {
    return fail(posted.error(), side.peers[*first]), false;
  }
  side.counts[*first]->add(slice.bytes);
  return true;
}

bool HostPrimitives::has_landing(Rank peer) const {
  return std::ranges::find(landings_, peer, &Landing::peer) != landings_.end();
}

/// output, room  null: not written
void HostPrimitives::reduce_into(std::byte* output, std::byte* room, const Slice& slice,
                                 FirstInput first) {
  const ReduceOp& op = *setup_.reduce;
  const std::size_t element = setup_.element.value;
  const std::span<const std::byte* const> inputs(inputs_.data(), arrived_);
  // In place, the output's lines are already in the cache as this rank's input; likewise a peer's.
  const bool streams = setup_.is_streaming && output != nullptr && output != slice.input;
  if ((output == nullptr && landings_.empty()) || (!op.has_post_operation() && !streams)) {
    outputs_.clear();
    if (output != nullptr) outputs_.push_back(output);
    if (room != nullptr) outputs_.push_back(room);
    for (const Landing& landing : landings_) outputs_.push_back(landing.place);
    return op.reduce(outputs_, inputs, first, slice.bytes / element);
  }
  alignas(64) std::array<std::byte, kTile> own;
  for (std::size_t at = 0; at < slice.bytes; at += kTile) {
    const std::size_t tile = std::min(kTile, slice.bytes - at);
    std::byte* sum = room != nullptr ? room + at : own.data();
    op.reduce(std::span(&sum, 1), inputs, first, tile / element);
    if (output != nullptr) write_result(output + at, sum, tile, streams);
    for (const Landing& landing : landings_) {
      write_result(landing.place + at, sum, tile, streams && !landing.is_input);
    }
    for (std::size_t i = 0; i < arrived_; ++i) inputs_[i] += tile;
  }
}

void HostPrimitives::write_output(std::byte* output, const std::byte* from, std::size_t bytes) {
  write_result(output, from, bytes, setup_.is_streaming);
}

/// Copies a complete result, which contains the contributions of all ranks.
void HostPrimitives::write_result(std::byte* to, const std::byte* from, std::size_t bytes,
                                  bool is_streaming) {
  if (to != from) {
    if (is_streaming) {
      copy_streaming(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
  if (setup_.reduce != nullptr && setup_.reduce->has_post_operation()) {
    setup_.reduce->finish(to, bytes / setup_.element.value);
  }
}

/// Waits for a message from each end. returns  false after a failure
bool HostPrimitives::receive(std::size_t bytes, Ports from) {
  const HostPorts::Side<RecvEnd>& side = setup_.ports->recv;
  bool is_there = true;
  const bool is_alone = arrived_ == 0 && count_ends(side, from) == 1;
  landings_.clear();
  for_each_end(side, from, [&](std::uint32_t i) {
    if (!is_there) return;
    std::span<const std::byte> slot;
    is_there = wait_for(side, i, "a chunk", [&]() -> Result<bool> {
      RINGSIDE_TRY(slot, side.ends[i]->peek());
      return !slot.empty();
    });
    if (is_there) side.counts[i]->add(slot.size());
    if (is_there && slot.size() != bytes) {
      is_there = false;
      fail(other_size(slot.size(), bytes), side.peers[i]);
    }
    if (is_there && slot.data() == nullptr && !is_alone) {
      is_there = false;
      fail({ErrorCode::Corrupt, "it claims that its share is in the output of its sum"},
           side.peers[i]);
    }
    inputs_[arrived_++] = slot.data();
    if (const std::span<std::byte> place = side.ends[i]->landing(); !place.empty()) {
      landings_.push_back({side.peers[i], place.data(), place.data() == slot.data()});
    }
  });
  return is_there;
}

void HostPrimitives::release(Ports from) {
  const HostPorts::Side<RecvEnd>& side = setup_.ports->recv;
  for_each_end(side, from, [&](std::uint32_t i) {
    if (Status released = side.ends[i]->release(); !released) {
      fail(released.error(), side.peers[i]);
    }
  });
}

bool HostPrimitives::take(const Slice& slice, std::uint32_t index) {
  const HostPorts::Side<RecvEnd>& side = setup_.ports->recv;
  const bool is_there = wait_for(side, index, "a chunk", [&] {
    return side.ends[index]->take({slice.output, slice.bytes});
  });
  if (is_there) side.counts[index]->add(slice.bytes);
  return is_there;
}

bool HostPrimitives::send_to(std::uint32_t index, std::span<const std::byte> from) {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  const bool is_sent =
      wait_for(side, index, "a free slot", [&] { return side.ends[index]->send(from); });
  if (is_sent) side.counts[index]->add(from.size());
  return is_sent;
}

/// Sends this rank's input unchanged: if the receiver can reach the input, only its address is sent.
bool HostPrimitives::send_input(std::uint32_t index, const Slice& slice) {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  const bool is_sent = wait_for(side, index, "a free slot", [&] { return offer(index, slice); });
  if (is_sent) side.counts[index]->add(slice.bytes);
  return is_sent;
}

/// returns  false: there is no room
Result<bool> HostPrimitives::offer(std::uint32_t index, const Slice& slice) {
  SendEnd& end = *setup_.ports->send.ends[index];
  const bool may_refer = slice.bytes >= kLeastReferred && end.reaches_memory();
  if (may_refer && !has_looked_for_memory_) find_memory();
  if (!may_refer || input_memory_ == nullptr) return end.send({slice.input, slice.bytes});
  has_referred_ = true;
  const SharedSpan data = span_in(*input_memory_, slice.input);
  const SharedSpan result =
      output_memory_ != nullptr ? span_in(*output_memory_, slice.output) : SharedSpan{};
  return end.refer(data, result, slice.bytes);
}

bool HostPrimitives::announce(std::uint32_t index, std::size_t bytes) {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  const bool is_sent =
      wait_for(side, index, "a free slot", [&] { return side.ends[index]->announce(bytes); });
  if (is_sent) side.counts[index]->add(bytes);
  return is_sent;
}

bool HostPrimitives::acquire(std::uint32_t index, std::span<std::byte>& room) {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  return wait_for(side, index, "a free slot", [&]() -> Result<bool> {
    RINGSIDE_TRY(room, side.ends[index]->acquire());
    return !room.empty();
  });
}

/// Calls ready() until it returns true.
/// returns  false after a failure, which fail() has stored
template <typename End, typename Ready>
bool HostPrimitives::wait_for(const HostPorts::Side<End>& side, std::uint32_t index,
                              const char* what, Ready ready) {
  Waiter waiter(*setup_.wait);
  ConnectionCount& count = *side.counts[index];
  for (;;) {
    const Result<bool> answer = ready();
    if (!answer) return fail(answer.error(), side.peers[index]), false;
    if (*answer) {
      if (count.is_waiting.load(std::memory_order_relaxed)) count.is_waiting = false;
      return true;
    }
    if (!wait_on(waiter, *side.ends[index], count, side.peers[index], what)) return false;
  }
}

/// The work between two polls.
/// returns  whether to poll again
bool HostPrimitives::wait_on(Waiter& waiter, TransportEnd& end, ConnectionCount& count, Rank peer,
                             const char* what) {
  if (setup_.failure->happened() || !move_on()) return false;
  const Waiter::Advice advice = waiter.pause();
  if (advice == Waiter::Advice::LookAgain) return true;
  if (advice == Waiter::Advice::GiveUp) return give_up(peer, what), false;
  // A user who kills a hung job needs a trace that is complete up to now.
  if (setup_.recorder != nullptr) setup_.recorder->flush();
  return look_after(end, count, peer) && check_receivers();
}

/// Moves data that this rank has sent and the kernel has not accepted yet.
/// returns  false after a failure
bool HostPrimitives::move_on() {
  for (SendEnd* moving : setup_.ports->moving) {
    if (const Status moved = moving->progress(); !moved) {
      const HostPorts::Side<SendEnd>& side = setup_.ports->send;
      const auto at = std::ranges::find(side.ends, moving) - side.ends.begin();
      return fail(moved.error(), side.peers[static_cast<std::size_t>(at)]), false;
    }
  }
  return true;
}

void HostPrimitives::give_up(Rank peer, const char* what) {
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(setup_.wait->deadline);
  fail({ErrorCode::Timeout,
        fmt::format("{}{} s for {} of step {}", kWaited, waited.count(), what, step_ - 1),
        "see what that rank does, or raise the time-out of calls"},
       peer);
}

/// Checks an end that this rank has waited on for some time.
/// returns  false: the peer is gone
bool HostPrimitives::look_after(TransportEnd& end, ConnectionCount& count, Rank peer) {
  count.is_waiting = true;
  const Status alive = end.check_peer();
  if (!alive) fail(alive.error(), peer);
  return bool(alive);
}

/// Data that was sent may be lost while this rank waits for another peer. A receiver that has ended is no error: it
/// may have received everything.
bool HostPrimitives::check_receivers() {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  for (std::size_t i = 0; i < side.ends.size(); ++i) {
    if (side.ends[i] == nullptr) continue;
    const Status alive = side.ends[i]->check_peer();
    if (alive || alive.error().code == ErrorCode::PeerGone ||
        alive.error().code == ErrorCode::Aborted)
      continue;
    return fail(alive.error(), side.peers[i]), false;
  }
  return true;
}

void HostPrimitives::drain() {
  const HostPorts::Side<SendEnd>& side = setup_.ports->send;
  if (setup_.ports->moving.empty() && !has_referred_) return;
  for (std::size_t i = 0; i < side.ends.size() && !setup_.failure->happened(); ++i) {
    wait_for(side, static_cast<std::uint32_t>(i), "room on the wire",
             [&]() -> Result<bool> { return side.ends[i]->is_drained(); });
  }
}

void HostPrimitives::fail(const Error& error, Rank peer) {
  setup_.failure->set({error.code,
                       fmt::format("rank {} lost rank {} on channel {}: {}", setup_.event.rank,
                                   to_int(peer), setup_.event.channel, error.message),
                       error.help});
}

}  // namespace ringside
