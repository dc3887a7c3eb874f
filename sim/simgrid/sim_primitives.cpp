#include "sim/simgrid/sim_primitives.h"

#include <fmt/format.h>

#include <cmath>
#include <simgrid/s4u.hpp>

#include "trace/step_event.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

std::int64_t in_ns(double seconds) { return std::llround(seconds * 1e9); }

/// Calls visit(rank) for each rank behind the ports, a group's one after the other.
template <typename Visit>
void for_each_peer(const std::vector<SimPort>& side, Ports ports, const Visit& visit) {
  for_each_port(ports, [&](int number) {
    const SimPort& port = side[static_cast<std::size_t>(number)];
    if (port.members == nullptr) return visit(port.peer);
    for (const Rank rank : *port.members) visit(rank);
  });
}

}  // namespace

void SimPrimitives::run(Primitive primitive, int chunk, Ports from, Ports to) {
  const ChunkSpan span = setup_.map->at(loop_, chunk);
  const double begin = sg4::Engine::get_clock();
  if (span.count > 0) move(parts_of(primitive), chunk, span, from, to);
  if (setup_.lane != nullptr) record(primitive, span, begin, from, to);
  ++*setup_.step;
  if (++setup_.totals->steps >= setup_.totals->look_at) [[unlikely]]
    setup_.totals->look();
}

void SimPrimitives::move(const PrimitiveParts& parts, int chunk, const ChunkSpan& span, Ports from,
                         Ports to) {
  const SimMessage message{setup_.map->piece_of(loop_), chunk};
  if (parts.receives) {
    for_each_port(from, [&](int number) { await(recv_port(number), message); });
  }
  if (parts.sends) {
    for_each_port(to, [&](int number) { acquire(send_port(number)); });
  }
  if (parts.receives) {
    for_each_port(from,
                  [&](int number) { recv_port(number).recv->release(setup_.slots_per_chunk); });
  }
  if (!parts.sends) return;
  const double bytes = static_cast<double>(span.count) * static_cast<double>(setup_.element.value) *
                       setup_.wire_factor;
  for_each_port(to, [&](int number) { send_port(number).send->post(message, bytes); });
}

void SimPrimitives::await(const SimPort& port, const SimMessage& expected) {
  wait_ = Wait::Arrival;
  waits_on_ = port.peer;
  const SimMessage arrived = port.recv->await();
  wait_ = Wait::Nothing;
  if (arrived != expected && setup_.totals->mismatch.empty()) {
    setup_.totals->mismatch =
        fmt::format("{} expects chunk {} of piece {}, and chunk {} of piece {} comes", place(),
                    expected.chunk, expected.piece, arrived.chunk, arrived.piece);
  }
}

void SimPrimitives::acquire(const SimPort& port) {
  wait_ = Wait::Slots;
  waits_on_ = port.peer;
  port.send->acquire(setup_.slots_per_chunk);
  wait_ = Wait::Nothing;
}

void SimPrimitives::record(Primitive primitive, const ChunkSpan& span, double begin, Ports from,
                           Ports to) {
  const PrimitiveParts parts = parts_of(primitive);
  TraceEvent event = setup_.event;
  event.begin_ns = in_ns(begin);
  event.end_ns = in_ns(sg4::Engine::get_clock());
  const auto offset = static_cast<std::uint64_t>(parts.writes_output ? span.output : span.input);
  event.offset = offset * setup_.element.value;
  event.bytes = static_cast<std::uint64_t>(span.count) * setup_.element.value;
  event.step = *setup_.step;
  event.primitive = primitive;
  const auto peers_of = [](const std::vector<SimPort>& side, Ports ports) {
    return [&side, ports](const auto& visit) { for_each_peer(side, ports, visit); };
  };
  record_step(*setup_.lane, event, peers_of(*setup_.recv_ports, from),
              peers_of(*setup_.send_ports, to));
}

std::string SimPrimitives::place() const {
  return fmt::format("rank {} channel {} step {}", setup_.event.rank, setup_.event.channel,
                     *setup_.step);
}

std::string SimPrimitives::waits_for() const {
  const int peer = to_int(waits_on_);
  switch (wait_) {
    case Wait::Arrival:
      return fmt::format("{} waits for a chunk from rank {}", place(), peer);
    case Wait::Slots:
      return fmt::format("{} waits for a free slot to rank {}", place(), peer);
    case Wait::Nothing:
      return {};
  }
  return {};
}

}  // namespace ringside
