#pragma once

#include <concepts>

#include "base/words.h"
#include "engine/collectives/ports.h"

namespace ringside {

/// The interface over which algorithms are written: one method per primitive, each on one chunk of the current loop. A
/// chunk is an index; the ChunkMap maps it to elements, and the model moves it (host: bytes through slots; sim: a
/// SimGrid activity; record: a list entry).
///
/// A primitive receives one message from each port of `from` and sends its result to each port of `to`.
/// The default is port 0: the previous and the next rank of the ring. Received data is reduced left to right: own input
/// first, then the ports by number.
///
/// Ordering  calls of one strand happen one after the other; a later call may overlap an earlier one's
///           sending. A port belongs to one strand.
/// errors    none: after an abort each primitive returns at once, and the runtime holds the Error
template <typename P>
concept Primitives = requires(P& p, int chunk, Ports from, Ports to) {
  { p.copy(chunk) } -> std::same_as<void>;
  { p.send(chunk, to) } -> std::same_as<void>;
  { p.copy_send(chunk, to) } -> std::same_as<void>;
  { p.recv(chunk, from) } -> std::same_as<void>;
  { p.recv_send(chunk, from, to) } -> std::same_as<void>;
  { p.recv_copy_send(chunk, from, to) } -> std::same_as<void>;
  { p.recv_reduce_send(chunk, from, to) } -> std::same_as<void>;
  { p.recv_reduce_copy(chunk, from) } -> std::same_as<void>;
  { p.recv_reduce_copy_send(chunk, from, to) } -> std::same_as<void>;
};

/// Gives `Model` the methods above, all in terms of its one
/// `template <Primitive> void step(int chunk, Ports from, Ports to)`; a side that a primitive does not use is kNoPorts.
/// A model for GPUs marks its step() with RINGSIDE_HD.
template <typename Model>
class NamedPrimitives {
 public:
  RINGSIDE_HD void copy(int chunk) { step<Primitive::Copy>(chunk, kNoPorts, kNoPorts); }
  RINGSIDE_HD void send(int chunk, Ports to = {}) { step<Primitive::Send>(chunk, kNoPorts, to); }
  RINGSIDE_HD void copy_send(int chunk, Ports to = {}) {
    step<Primitive::CopySend>(chunk, kNoPorts, to);
  }
  RINGSIDE_HD void recv(int chunk, Ports from = {}) {
    step<Primitive::Recv>(chunk, from, kNoPorts);
  }
  RINGSIDE_HD void recv_send(int chunk, Ports from = {}, Ports to = {}) {
    step<Primitive::RecvSend>(chunk, from, to);
  }
  RINGSIDE_HD void recv_copy_send(int chunk, Ports from = {}, Ports to = {}) {
    step<Primitive::RecvCopySend>(chunk, from, to);
  }
  RINGSIDE_HD void recv_reduce_send(int chunk, Ports from = {}, Ports to = {}) {
    step<Primitive::RecvReduceSend>(chunk, from, to);
  }
  RINGSIDE_HD void recv_reduce_copy(int chunk, Ports from = {}) {
    step<Primitive::RecvReduceCopy>(chunk, from, kNoPorts);
  }
  RINGSIDE_HD void recv_reduce_copy_send(int chunk, Ports from = {}, Ports to = {}) {
    step<Primitive::RecvReduceCopySend>(chunk, from, to);
  }

 private:
  template <Primitive kPrimitive>
  RINGSIDE_HD void step(int chunk, Ports from, Ports to) {
    static_cast<Model*>(this)->template step<kPrimitive>(chunk, from, to);
  }
};

}  // namespace ringside
