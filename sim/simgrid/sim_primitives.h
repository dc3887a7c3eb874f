#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/collectives/chunk_map.h"
#include "engine/collectives/primitives.h"
#include "ringside/trace_event.h"
#include "sim/simgrid/sim_ends.h"
#include "sim/slices.h"
#include "trace/recorder.h"

namespace ringside {

/// One rank's view of a port. Only the end of the port's own direction is set.
struct SimPort {
  SimSendEnd* send = nullptr;
  SimRecvEnd* recv = nullptr;
  Rank peer = kNoRank;  ///< of a group its first member
  /// Of a group: its members at the other side; else null.
  const std::vector<Rank>* members = nullptr;
};

/// Counters that all actors of a simulation share.
struct SimTotals {
  std::int64_t steps = 0;
  /// Number of steps at which look() is called; look() sets the next one.
  std::int64_t look_at = INT64_MAX;
  std::function<void()> look = {};
  std::string mismatch = {};  ///< text about the first unexpected chunk; empty: none
};

/// Primitives that move no bytes: each slice of a chunk is one SimGrid communication.
///
/// Threads    one actor each, which runs one strand; all actors of an engine share one thread
/// Ordering   as Primitives; a send is in progress when the step returns
/// Ownership  everything in Setup outlives the object
class SimPrimitives : public NamedPrimitives<SimPrimitives> {
 public:
  struct Setup {
    const ChunkMap* map = nullptr;
    const std::vector<SimPort>* send_ports = nullptr;
    const std::vector<SimPort>* recv_ports = nullptr;
    Slices slices;
    Bytes element;
    double wire_factor = 1;  ///< bytes on the wire for each byte of data
    SimTotals* totals = nullptr;
    std::uint32_t* step = nullptr;    ///< steps executed by all strands of this rank and channel
    TraceLane* lane = nullptr;        ///< null: not traced
    std::uint32_t* traced = nullptr;  ///< steps (or slices) recorded in the trace
    bool traces_slices = false;
    TraceEvent event;  ///< fields that all events of this actor share
  };

  explicit SimPrimitives(const Setup& setup) : setup_(setup) {}

  void begin_loop(std::int64_t loop) { loop_ = loop; }

  template <Primitive kPrimitive>
  void step(int chunk, Ports from, Ports to) {
    run(kPrimitive, chunk, from, to);
  }

  /// Returns a text about the peer that the actor waits for; empty while it does not wait.
  [[nodiscard]] std::string waits_for() const;

 private:
  enum class Wait : std::uint8_t { Nothing, Arrival, Slots };

  void run(Primitive primitive, int chunk, Ports from, Ports to);
  void move(Primitive primitive, int chunk, const ChunkSpan& span, Ports from, Ports to);
  void move_slice(const PrimitiveParts& parts, const SimMessage& message, std::int64_t count,
                  Ports from, Ports to);
  void await(const SimPort& port, const SimMessage& expected);
  void acquire(const SimPort& port);
  void record(Primitive primitive, const ChunkSpan& span, double begin, Ports from, Ports to);
  [[nodiscard]] const SimPort& send_port(int number) const {
    return (*setup_.send_ports)[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] const SimPort& recv_port(int number) const {
    return (*setup_.recv_ports)[static_cast<std::size_t>(number)];
  }

  Setup setup_;
  std::int64_t loop_ = 0;
  Wait wait_ = Wait::Nothing;
  Rank waits_on_ = kNoRank;
};

}  // namespace ringside
