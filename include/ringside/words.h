#pragma once

#include <ringside/export.h>

#include <cstdint>

/// The field's words that all folders use: operations, algorithms, protocols and data types. Names and parsing are in
/// vocabulary.h. Values are NCCL's indices if NCCL has one (ties in its cost table go to the lowest).
namespace RINGSIDE_API ringside {

/// A collective or point-to-point operation.
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

/// How a collective moves data between ranks.
enum class Algorithm : std::uint8_t {
  Tree = 0,
  Ring = 1,
  CollNetDirect = 2,
  CollNetChain = 3,
  Nvls = 4,
  NvlsTree = 5,
  Pat = 6,
  // Not in NCCL, whose tables end before these.
  OneShot = 7,
  TwoShot = 8,
};

/// How a connection signals that data has arrived.
enum class Protocol : std::uint8_t { LL = 0, LL128 = 1, Simple = 2 };

/// The type of an element.
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

/// A reduction.
enum class RedOp : std::uint8_t {
  Sum = 0,
  Prod = 1,
  Max = 2,
  Min = 3,
  Avg = 4,
  PreMulSum = 5,  ///< multiplies each rank's input by the rank's own factor, then sums
};

/// One step of an algorithm on one chunk.
/// source  NCCL's device primitives; recv_reduce_copy_send is NCCL's recvReduceCopySend
enum class Primitive : std::uint8_t {
  Copy = 0,  ///< copies own input to own output: the whole collective if there is one rank
  Send = 1,
  CopySend = 2,
  Recv = 3,
  RecvCopySend = 4,
  RecvReduceSend = 5,
  RecvReduceCopy = 6,
  RecvReduceCopySend = 7,
  RecvSend = 8,  ///< passes received data on without storing it: next to a switch or a network
};

}  // namespace ringside
