#include "sim/sim_primitives.h"

#include <fmt/format.h>

#include <cmath>

#include "base/assert.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

// What travels through the mailboxes: SimGrid wants an address, nobody looks behind it.
int nothing = 0;

std::int64_t in_ns(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

void SimPrimitives::run(Primitive primitive, int chunk) {
  const PrimitiveParts parts = parts_of(primitive);
  const ChunkSpan span = setup_.map->at(loop_, chunk);
  const double begin = sg4::Engine::get_clock();
  if (span.count > 0) {
    if (parts.receives) await_arrival(chunk);
    if (parts.sends) acquire_slots();
    if (parts.receives) release_slots();
    if (parts.sends) post(chunk, static_cast<std::uint64_t>(span.count) * setup_.element.value);
  }
  if (setup_.lane != nullptr) record(primitive, span, begin);
  ++step_;
  ++setup_.totals->steps;
  if (setup_.totals->progress != nullptr) *setup_.totals->progress = setup_.totals->steps;
}

void SimPrimitives::await_arrival(int chunk) {
  wait_ = Wait::Arrival;
  SimConnection& connection = *setup_.recv;
  connection.mailbox->get<int>();
  // The latency is waited for here, and is none of the link's: so the next chunk follows on the link
  // without a gap, and a chunk that has lain here for long is not late.
  const double crossed = connection.chunks.front().comm->get_finish_time();
  RINGSIDE_ASSERT(crossed >= 0, "a chunk was received that SimGrid calls unfinished");
  const double arrival = crossed + setup_.recv_latency.count();
  const SimChunk& arrived = connection.chunks.front();
  if ((arrived.chunk != chunk || arrived.loop != loop_) && setup_.totals->mismatch.empty()) {
    setup_.totals->mismatch =
        fmt::format("{} expects chunk {} of loop {}, and chunk {} of loop {} comes", place(), chunk,
                    loop_, arrived.chunk, arrived.loop);
  }
  connection.chunks.pop_front();
  if (arrival > sg4::Engine::get_clock()) sg4::this_actor::sleep_until(arrival);
  wait_ = Wait::Nothing;
}

void SimPrimitives::acquire_slots() {
  SimConnection& connection = *setup_.send;
  while (connection.free_slots < setup_.slots_per_chunk) {
    wait_ = Wait::Slots;
    connection.is_sender_waiting = true;
    connection.room->acquire();
  }
  wait_ = Wait::Nothing;
  connection.free_slots -= setup_.slots_per_chunk;
}

void SimPrimitives::release_slots() {
  SimConnection& connection = *setup_.recv;
  connection.free_slots += setup_.slots_per_chunk;
  if (connection.is_sender_waiting) {
    connection.is_sender_waiting = false;
    connection.room->release();
  }
}

void SimPrimitives::post(int chunk, std::uint64_t bytes) {
  drain();
  last_send_ = setup_.send->mailbox->put_async(&nothing, bytes);
  setup_.send->chunks.push_back({last_send_, loop_, chunk});
  ++setup_.totals->transfers;
}

void SimPrimitives::drain() {
  if (last_send_ != nullptr) last_send_->wait();
}

void SimPrimitives::record(Primitive primitive, const ChunkSpan& span, double begin) {
  const PrimitiveParts parts = parts_of(primitive);
  TraceEvent event = setup_.event;
  event.begin_ns = in_ns(begin);
  event.end_ns = in_ns(sg4::Engine::get_clock());
  const auto offset = static_cast<std::uint64_t>(parts.writes_output ? span.output : span.input);
  event.offset = offset * setup_.element.value;
  event.bytes = static_cast<std::uint64_t>(span.count) * setup_.element.value;
  event.step = step_;
  event.primitive = primitive;
  if (!parts.receives) event.recv_peer = -1;
  if (!parts.sends) event.send_peer = -1;
  setup_.lane->record(event);
}

std::string SimPrimitives::place() const {
  return fmt::format("rank {} channel {} step {}", setup_.event.rank, setup_.event.channel, step_);
}

std::string SimPrimitives::waits_for() const {
  const TraceEvent& event = setup_.event;
  const std::string who = place();
  switch (wait_) {
    case Wait::Arrival:
      return fmt::format("{} waits for a chunk from rank {}", who, event.recv_peer);
    case Wait::Slots:
      return fmt::format("{} waits for a free slot to rank {}", who, event.send_peer);
    case Wait::Nothing:
      return {};
  }
  return {};
}

}  // namespace ringside
