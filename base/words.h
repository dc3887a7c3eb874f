#pragma once

#include <cstdint>

#include "base/device_code.h"

/// The vocabulary of collectives that all folders share: what is called, how, and on which data. Plain enough for
/// device code; algorithms are in base/algorithms.h, names and parsing in base/vocabulary.h.
/// Values are NCCL's indices where NCCL has one (ties in its cost table go to the lowest).
namespace ringside {

enum class Collective : std::uint8_t {
  Broadcast = 0,
  Reduce = 1,
  AllGather = 2,
  ReduceScatter = 3,
  AllReduce = 4,
  SendRecv = 5,  ///< a group of sends and receives
  Send = 6,
  Recv = 7,
  AllToAll = 8,
  Scatter = 9,
  Gather = 10,
  AllGatherV = 11,  ///< an all-gather of blocks of any length: broadcasts from all ranks at once
};

inline constexpr int kCollectiveCount = 12;

/// Whether the collective is a list of sends and receives; its algorithm is always given as Ring.
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

enum class Protocol : std::uint8_t { LL = 0, LL128 = 1, Simple = 2 };

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

enum class DataType : std::uint8_t {
  Int8 = 0,
  Uint8 = 1,
  Int32 = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Bfloat16 = 9,
  Float8E4m3 = 10,
  Float8E5m2 = 11,
};

enum class RedOp : std::uint8_t {
  Sum = 0,
  Prod = 1,
  Max = 2,
  Min = 3,
  Avg = 4,
  PreMulSum = 5,  ///< each rank's input times a number of its own, then the sum
};

/// One step of an algorithm: what a rank does with one chunk.
/// source  NCCL's device primitives; recv_reduce_copy_send is NCCL's recvReduceCopySend
enum class Primitive : std::uint8_t {
  Copy = 0,  ///< own input to own output: a whole collective with one rank
  Send = 1,
  CopySend = 2,
  Recv = 3,
  RecvCopySend = 4,
  RecvReduceSend = 5,
  RecvReduceCopy = 6,
  RecvReduceCopySend = 7,
  RecvSend = 8,  ///< forwards data without keeping it: next to a switch or network that reduces
};

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
