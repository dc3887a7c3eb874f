#pragma once

#include <cstdint>

#include "base/device_code.h"
#include "ringside/words.h"

/// The vocabulary of collectives that all folders share: operations, algorithms, and data types. Plain enough for
/// device code; properties of algorithms are in base/algorithms.h, names and parsing in base/vocabulary.h. Values are
/// NCCL's indices if NCCL has one (ties in its cost table go to the lowest).
namespace ringside {

inline constexpr int kCollectiveCount = 12;

/// Returns whether the collective is a list of sends and receives; its algorithm is always given as Ring.
RINGSIDE_HD constexpr bool is_point_to_point(Collective collective) {
  switch (collective) {
    case Collective::SendRecv:
    case Collective::Send:
    case Collective::Recv:
    case Collective::AllToAll:
    case Collective::Scatter:
    case Collective::Gather:
      return true;
    default:
      return false;
  }
}

/// The graphs that are searched for in a node's topology, and used for channels. The values are NCCL's.
/// source  NCCL 2.30.7 include/graph.h
enum class GraphId : std::uint8_t {
  Ring = 0,
  Tree = 1,
  CollNetChain = 2,
  Nvls = 3,
  CollNetDirect = 4
};

/// Number of slots of one connection, with any transport.
/// source  NCCL_STEPS
inline constexpr int kSlots = 8;

/// The parts of a primitive. Every executor acts on these parts and on nothing else.
struct PrimitiveParts {
  bool receives;     ///< takes the next chunk from each of its receive ports, and reduces them
  bool reads_input;  ///< takes the chunk from this rank's input; with `receives` it reduces the two
  bool writes_output;
  bool sends;  ///< passes the result to each of its send ports
};

RINGSIDE_HD constexpr PrimitiveParts parts_of(Primitive primitive) {
  switch (primitive) {
    case Primitive::Copy:
      return {false, true, true, false};
    case Primitive::Send:
      return {false, true, false, true};
    case Primitive::CopySend:
      return {false, true, true, true};
    case Primitive::Recv:
      return {true, false, true, false};
    case Primitive::RecvCopySend:
      return {true, false, true, true};
    case Primitive::RecvReduceSend:
      return {true, true, false, true};
    case Primitive::RecvReduceCopy:
      return {true, true, true, false};
    case Primitive::RecvReduceCopySend:
      return {true, true, true, true};
    case Primitive::RecvSend:
      return {true, false, false, true};
  }
  return {};
}

}  // namespace ringside
