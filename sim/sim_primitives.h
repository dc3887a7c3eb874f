#pragma once

#include <deque>
#include <simgrid/s4u.hpp>
#include <string>

#include "engine/collectives/run.h"
#include "trace/event.h"
#include "trace/recorder.h"

namespace ringside {

/// One chunk on its way. Which one it is travels along, so that its receiver sees when an algorithm's
/// steps do not fit together: without data nobody would.
struct SimChunk {
  simgrid::s4u::CommPtr comm;
  std::int64_t loop = 0;
  int chunk = 0;
};

/// One direction of one channel between neighbours on its ring. Chunks cross it one after the other, as
/// they do in a FIFO: two at once would share the link and both come late. Actors run one at a time,
/// so both ends use it without locks.
struct SimConnection {
  simgrid::s4u::Mailbox* mailbox = nullptr;
  int free_slots = 0;
  /// Where the sender waits for slots to come back. (Suspending an actor would halt its chunks, too.)
  simgrid::s4u::SemaphorePtr room = nullptr;
  bool is_sender_waiting = false;
  /// Chunks sent and not yet received, oldest first: only the last one may still be on its way.
  std::deque<SimChunk> chunks;
};

/// What all actors of a simulation share.
struct SimTotals {
  std::int64_t transfers = 0;
  std::int64_t steps = 0;
  volatile std::int64_t* progress = nullptr;  ///< steps so far, where the parent process sees them
  std::string mismatch = {};  ///< the first chunk that was not the one expected; empty: none
};

/// The model that moves no bytes: a chunk is one SimGrid communication.
///
/// Threads    one actor each; all actors of an engine share one thread
/// Ordering   as Primitives; a send is under way when the step returns
/// Ownership  everything in Setup outlives the object
class SimPrimitives : public NamedPrimitives<SimPrimitives> {
 public:
  struct Setup {
    const ChunkMap* map = nullptr;
    SimConnection* send = nullptr;
    SimConnection* recv = nullptr;
    Seconds
        recv_latency;  ///< from when a chunk's last byte has crossed the links until it is there
    int slots_per_chunk = 1;
    Bytes element;
    SimTotals* totals = nullptr;
    TraceLane* lane = nullptr;  ///< null: not traced
    TraceEvent event;           ///< what all events of this actor share
  };

  explicit SimPrimitives(const Setup& setup) : setup_(setup) {}

  void begin_loop(std::int64_t loop) { loop_ = loop; }

  template <Primitive kPrimitive>
  void step(int chunk, Ports /*from*/, Ports /*to*/) {
    run(kPrimitive, chunk);
  }

  /// Waits until the last chunk sent has crossed its links: an actor that ends cancels what it sends.
  void drain();

  /// What the actor waits for, for people; empty while it does not wait.
  [[nodiscard]] std::string waits_for() const;

  /// "rank 1 channel 0 step 3", for people.
  [[nodiscard]] std::string place() const;

 private:
  enum class Wait : std::uint8_t { Nothing, Arrival, Slots };

  void run(Primitive primitive, int chunk);
  void await_arrival(int chunk);
  void acquire_slots();
  void release_slots();
  void post(int chunk, std::uint64_t bytes);
  void record(Primitive primitive, const ChunkSpan& span, double begin);

  Setup setup_;
  simgrid::s4u::CommPtr last_send_;
  std::int64_t loop_ = 0;
  std::uint32_t step_ = 0;
  Wait wait_ = Wait::Nothing;
};

}  // namespace ringside
