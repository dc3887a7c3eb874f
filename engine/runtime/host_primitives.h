#pragma once

#include <span>

#include "base/ids.h"
#include "engine/collectives/chunk_map.h"
#include "engine/collectives/primitives.h"
#include "engine/reduce/reduce_op.h"
#include "engine/runtime/failure.h"
#include "engine/runtime/wait.h"
#include "engine/transport/end.h"
#include "trace/event.h"

namespace ringside {

class TraceLane;
class TraceRecorder;

/// The model that moves real bytes: a chunk goes through the connection's slots, a slot at a time, so
/// that the next rank starts on the first slice while this one still works on the second.
///
/// Threads    one a channel
/// Ordering   slices of a chunk in order; both sides cut a chunk alike, because they share the map
/// Ownership  everything in Setup outlives the object
class HostPrimitives : public NamedPrimitives<HostPrimitives> {
 public:
  struct Setup {
    const ChunkMap* map = nullptr;
    SendEnd* send = nullptr;  ///< to the next rank; null when this rank sends to nobody
    RecvEnd* recv = nullptr;  ///< from the rank before
    const std::byte* input = nullptr;
    std::byte* output = nullptr;       ///< may be the input's own place: in place
    Bytes element;                     ///< size of one element
    const ReduceOp* reduce = nullptr;  ///< null: the collective reduces nothing
    const WaitPolicy* wait = nullptr;
    Failure* failure =
        nullptr;                ///< where the first Error goes; once it holds one, steps do nothing
    TraceLane* lane = nullptr;  ///< null: not traced
    TraceRecorder* recorder = nullptr;  ///< the lane's; flushed when a wait gets long; null with it
    TraceEvent event;  ///< what all events of this call share: ranks, channel, sequence, ...
  };

  explicit HostPrimitives(const Setup& setup) : setup_(setup) {}

  void begin_loop(std::int64_t loop) { loop_ = loop; }

  template <Primitive kPrimitive>
  void step(int chunk, Ports /*from*/, Ports /*to*/) {
    run(kPrimitive, chunk);
  }

  /// Waits until everything sent has left this process.
  void drain();

 private:
  void run(Primitive primitive, int chunk);
  void move(PrimitiveParts parts, const ChunkSpan& span);
  void move_slice(PrimitiveParts parts, const std::byte* input, std::byte* output,
                  std::size_t bytes);
  void combine(PrimitiveParts parts, const std::byte* input, const std::byte* arrived,
               std::byte* output, std::byte* room, std::size_t bytes);
  std::span<const std::byte> wait_for_arrival();
  std::span<std::byte> wait_for_room();
  template <typename Ready>
  bool wait_for(TransportEnd& end, Rank peer, const char* what, Ready ready);
  void fail(const Error& error, Rank peer);

  Setup setup_;
  std::int64_t loop_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace ringside
