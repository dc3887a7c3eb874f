#pragma once

#include <concepts>

#include "base/vocabulary.h"

namespace ringside {

/// What an algorithm is written over: one method a primitive, each of them on one chunk of the
/// current loop. A chunk is an index; which elements it stands for is the ChunkMap's business, how
/// it travels is the model's (host: bytes through slots; sim: a SimGrid activity; record: a note).
///
/// Ordering  calls happen one after the other; a later call may overlap an earlier one's sending
/// errors    none: after an abort each primitive returns at once, and the runtime holds the Error
template <typename P>
concept Primitives = requires(P& p, int chunk) {
  { p.copy(chunk) } -> std::same_as<void>;
  { p.send(chunk) } -> std::same_as<void>;
  { p.copy_send(chunk) } -> std::same_as<void>;
  { p.recv(chunk) } -> std::same_as<void>;
  { p.recv_copy_send(chunk) } -> std::same_as<void>;
  { p.recv_reduce_send(chunk) } -> std::same_as<void>;
  { p.recv_reduce_copy(chunk) } -> std::same_as<void>;
  { p.recv_reduce_copy_send(chunk) } -> std::same_as<void>;
};

/// Gives `Model` the methods above, all in terms of its one `template <Primitive> void step(int)`.
template <typename Model>
class NamedPrimitives {
 public:
  void copy(int chunk) { step<Primitive::Copy>(chunk); }
  void send(int chunk) { step<Primitive::Send>(chunk); }
  void copy_send(int chunk) { step<Primitive::CopySend>(chunk); }
  void recv(int chunk) { step<Primitive::Recv>(chunk); }
  void recv_copy_send(int chunk) { step<Primitive::RecvCopySend>(chunk); }
  void recv_reduce_send(int chunk) { step<Primitive::RecvReduceSend>(chunk); }
  void recv_reduce_copy(int chunk) { step<Primitive::RecvReduceCopy>(chunk); }
  void recv_reduce_copy_send(int chunk) { step<Primitive::RecvReduceCopySend>(chunk); }

 private:
  template <Primitive kPrimitive>
  void step(int chunk) {
    static_cast<Model*>(this)->template step<kPrimitive>(chunk);
  }
};

}  // namespace ringside
