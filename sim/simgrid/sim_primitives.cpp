#include "sim/simgrid/sim_primitives.h"

#include <cmath>
#include <simgrid/s4u.hpp>

#include "sim/call_trace.h"
#include "sim/outcome.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

}  // namespace

void SimPrimitives::run(Primitive primitive, int chunk, Ports from, Ports to) {
  const ChunkSpan span = setup_.map->at(loop_, chunk);
  const double begin = sg4::Engine::get_clock();
  const bool is_cut = setup_.traces_slices && span.count > 0;
  if (span.count > 0) move(primitive, chunk, span, from, to);
  if (setup_.lane != nullptr && !is_cut) record(primitive, span, begin, from, to);
  ++*setup_.step;
  if (++setup_.totals->steps >= setup_.totals->look_at) [[unlikely]]
    setup_.totals->look();
}

void SimPrimitives::move(Primitive primitive, int chunk, const ChunkSpan& span, Ports from,
                         Ports to) {
  const SimMessage message{setup_.map->piece_of(loop_), chunk};
  ChunkSpan slice = span;
  for (std::int64_t left = span.count; left > 0; left -= slice.count) {
    slice.count = setup_.slices.next(span.count, left);
    const double begin = sg4::Engine::get_clock();
    move_slice(parts_of(primitive), message, slice.count, from, to);
    if (setup_.lane != nullptr && setup_.traces_slices) record(primitive, slice, begin, from, to);
    slice.input += slice.count;
    slice.output += slice.count;
  }
}

void SimPrimitives::move_slice(const PrimitiveParts& parts, const SimMessage& message,
                               std::int64_t count, Ports from, Ports to) {
  if (parts.receives) {
    for_each_port(from, [&](int number) { await(recv_port(number), message); });
  }
  if (parts.sends) {
    for_each_port(to, [&](int number) { acquire(send_port(number)); });
  }
  if (parts.receives) {
    for_each_port(from,
                  [&](int number) { recv_port(number).recv->release(setup_.slices.slots()); });
  }
  if (!parts.sends) return;
  const double bytes =
      static_cast<double>(count) * static_cast<double>(setup_.element.value) * setup_.wire_factor;
  for_each_port(to, [&](int number) { send_port(number).send->post(message, bytes); });
}

void SimPrimitives::await(const SimPort& port, const SimMessage& expected) {
  wait_ = Wait::Arrival;
  waits_on_ = port.peer;
  const SimMessage arrived = port.recv->await();
  wait_ = Wait::Nothing;
  if (arrived != expected && setup_.totals->mismatch.empty()) {
    setup_.totals->mismatch =
        mismatch_text(setup_.event.rank, setup_.event.channel, *setup_.step, expected.chunk,
                      expected.piece, arrived.chunk, arrived.piece);
  }
}

void SimPrimitives::acquire(const SimPort& port) {
  wait_ = Wait::Slots;
  waits_on_ = port.peer;
  port.send->acquire(setup_.slices.slots());
  wait_ = Wait::Nothing;
}

void SimPrimitives::record(Primitive primitive, const ChunkSpan& span, double begin, Ports from,
                           Ports to) {
  const SimStep step{.primitive = primitive,
                     .span = span,
                     .element = setup_.element,
                     .begin = Seconds{begin},
                     .end = Seconds{sg4::Engine::get_clock()},
                     .number = (*setup_.traced)++};
  const auto ranks_of = [](const std::vector<SimPort>& side, Ports ports) {
    return [&side, ports](const auto& visit) {
      for_each_rank(
          ports,
          [&side](int number) {
            const SimPort& port = side[static_cast<std::size_t>(number)];
            return PortRanks{port.peer, port.members};
          },
          visit);
    };
  };
  record_sim_step(*setup_.lane, setup_.event, step, ranks_of(*setup_.recv_ports, from),
                  ranks_of(*setup_.send_ports, to));
}

std::string SimPrimitives::waits_for() const {
  if (wait_ == Wait::Nothing) return {};
  return waits_text(setup_.event.rank, setup_.event.channel, *setup_.step, wait_ == Wait::Arrival,
                    to_int(waits_on_));
}

}  // namespace ringside
