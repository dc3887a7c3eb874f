#include "engine/runtime/host_primitives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

/// What is divided after the sum stays in the first-level cache until it is copied on.
constexpr std::size_t kTile = 8192;

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != from) std::memcpy(to, from, bytes);
}

}  // namespace

void HostPrimitives::run(Primitive primitive, int chunk) {
  if (setup_.failure->happened()) return;
  const PrimitiveParts parts = parts_of(primitive);
  const ChunkSpan span = setup_.map->at(loop_, chunk);
  ++step_;
  if (setup_.lane == nullptr) return move(parts, span);

  TraceEvent event = setup_.event;
  event.begin_ns = trace_now().count();
  move(parts, span);
  event.end_ns = trace_now().count();
  event.primitive = primitive;
  event.step = step_ - 1;
  event.bytes = static_cast<std::uint64_t>(span.count) * setup_.element.value;
  event.offset = static_cast<std::uint64_t>(parts.writes_output ? span.output : span.input) *
                 setup_.element.value;
  if (!parts.receives) event.recv_peer = to_int(kNoRank);
  if (!parts.sends) event.send_peer = to_int(kNoRank);
  setup_.lane->record(event);
}

void HostPrimitives::move(PrimitiveParts parts, const ChunkSpan& span) {
  const std::size_t element = setup_.element.value;
  const std::size_t bytes = static_cast<std::size_t>(span.count) * element;
  const std::byte* input = setup_.input + static_cast<std::size_t>(span.input) * element;
  std::byte* output = setup_.output + static_cast<std::size_t>(span.output) * element;
  if (!parts.receives && !parts.sends) {
    return combine(parts, input, nullptr, output, nullptr, bytes);
  }
  const std::size_t slot =
      parts.sends ? setup_.send->slot_size().value : setup_.recv->slot_size().value;
  for (std::size_t done = 0; done < bytes && !setup_.failure->happened(); done += slot) {
    move_slice(parts, input + done, output + done, std::min(slot, bytes - done));
  }
}

void HostPrimitives::move_slice(PrimitiveParts parts, const std::byte* input, std::byte* output,
                                std::size_t bytes) {
  const std::byte* arrived = nullptr;
  if (parts.receives) {
    const std::span<const std::byte> slot = wait_for_arrival();
    if (slot.empty()) return;
    if (slot.size() != bytes) {
      return fail({ErrorCode::InvalidArgument,
                   fmt::format("it sent {} bytes where this rank expects {}", slot.size(), bytes),
                   "call the collective with the same count and type on every rank"},
                  Rank{setup_.event.recv_peer});
    }
    arrived = slot.data();
  }
  std::byte* room = nullptr;
  if (parts.sends) {
    const std::span<std::byte> slot = wait_for_room();
    if (slot.empty()) return;
    room = slot.data();
  }

  combine(parts, input, arrived, output, room, bytes);
  if (parts.sends) {
    if (Status posted = setup_.send->post(Bytes{bytes}); !posted) {
      return fail(posted.error(), Rank{setup_.event.send_peer});
    }
  }
  if (parts.receives) {
    if (Status released = setup_.recv->release(); !released) {
      return fail(released.error(), Rank{setup_.event.recv_peer});
    }
  }
}

/// The data part of a step: the slice from own input and what arrived to own output and the slot to send.
void HostPrimitives::combine(PrimitiveParts parts, const std::byte* input, const std::byte* arrived,
                             std::byte* output, std::byte* room, std::size_t bytes) {
  const ReduceOp* op = setup_.reduce;
  const bool reduces = parts.receives && parts.reads_input;
  const bool prepares = parts.reads_input && op != nullptr && op->has_pre_operation();
  if (!reduces && !prepares) {
    const std::byte* from = parts.receives ? arrived : input;
    if (parts.writes_output) copy_bytes(output, from, bytes);
    if (parts.sends) copy_bytes(room, from, bytes);
    return;
  }
  const std::array<const std::byte*, 2> from{input, arrived};
  const std::span inputs(from.data(), parts.receives ? 2 : 1);
  const std::size_t element = setup_.element.value;
  // Own input meets the rest and stays here at the last addition only: then the result is whole.
  if (reduces && parts.writes_output && op->has_post_operation()) {
    for (std::size_t at = 0; at < bytes; at += kTile) {
      const std::size_t tile = std::min(kTile, bytes - at);
      op->combine(output + at, input + at, arrived + at, FirstInput::Own, tile / element);
      op->finish(output + at, tile / element);
      if (parts.sends) copy_bytes(room + at, output + at, tile);
    }
    return;
  }
  const std::array<std::byte*, 2> to{parts.writes_output ? output : room, room};
  const std::span outputs(to.data(), parts.writes_output && parts.sends ? 2 : 1);
  op->reduce(outputs, inputs, FirstInput::Own, bytes / element);
}

/// Calls ready() until it says yes. returns  false after a failure, which fail() has noted
template <typename Ready>
bool HostPrimitives::wait_for(TransportEnd& end, Rank peer, const char* what, Ready ready) {
  Waiter waiter(*setup_.wait);
  for (;;) {
    const Result<bool> answer = ready();
    if (!answer) return fail(answer.error(), peer), false;
    if (*answer) return true;
    if (setup_.failure->happened()) return false;
    if (setup_.send != nullptr) {
      if (const Status moved = setup_.send->progress(); !moved) {
        return fail(moved.error(), Rank{setup_.event.send_peer}), false;
      }
    }
    const Waiter::Advice advice = waiter.pause();
    if (advice == Waiter::Advice::LookAgain) continue;
    if (advice == Waiter::Advice::GiveUp) {
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(setup_.wait->deadline);
      fail({ErrorCode::Timeout,
            fmt::format("waited {} s for {} of step {}", waited.count(), what, step_ - 1),
            "see what that rank does, or give more time with --op-timeout"},
           peer);
      return false;
    }
    // Whoever kills a hung job wants to see in the trace how far it came.
    if (setup_.recorder != nullptr) setup_.recorder->flush();
    if (const Status alive = end.check_peer(); !alive) return fail(alive.error(), peer), false;
  }
}

std::span<const std::byte> HostPrimitives::wait_for_arrival() {
  std::span<const std::byte> slot;
  wait_for(*setup_.recv, Rank{setup_.event.recv_peer}, "a chunk", [&]() -> Result<bool> {
    RINGSIDE_TRY(slot, setup_.recv->peek());
    return !slot.empty();
  });
  return slot;
}

std::span<std::byte> HostPrimitives::wait_for_room() {
  std::span<std::byte> slot;
  wait_for(*setup_.send, Rank{setup_.event.send_peer}, "a free slot", [&]() -> Result<bool> {
    RINGSIDE_TRY(slot, setup_.send->acquire());
    return !slot.empty();
  });
  return slot;
}

void HostPrimitives::drain() {
  if (setup_.send == nullptr || setup_.failure->happened()) return;
  wait_for(*setup_.send, Rank{setup_.event.send_peer}, "room on the wire",
           [&]() -> Result<bool> { return setup_.send->is_drained(); });
}

void HostPrimitives::fail(const Error& error, Rank peer) {
  setup_.failure->set({error.code,
                       fmt::format("rank {} lost rank {} on channel {}: {}", setup_.event.rank,
                                   to_int(peer), setup_.event.channel, error.message),
                       error.help});
}

}  // namespace ringside
