#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

/// The words of the field that cross every folder: what is called, how, and on which data.
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

enum class Algorithm : std::uint8_t {
  Tree = 0,
  Ring = 1,
  CollNetDirect = 2,
  CollNetChain = 3,
  Nvls = 4,
  NvlsTree = 5,
  Pat = 6,
  // Of hosts alone: NCCL's tables end before them.
  OneShot = 7,
  TwoShot = 8,
};

inline constexpr int kAlgorithmCount = 9;

enum class Protocol : std::uint8_t { LL = 0, LL128 = 1, Simple = 2 };

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
  Copy = 0,  ///< own input to own output: the whole of a collective among one rank
  Send = 1,
  CopySend = 2,
  Recv = 3,
  RecvCopySend = 4,
  RecvReduceSend = 5,
  RecvReduceCopy = 6,
  RecvReduceCopySend = 7,
  RecvSend = 8,  ///< passes on what arrives, keeping nothing: beside a switch or a network
};

/// What a primitive consists of. Every executor acts on these parts and on nothing else.
struct PrimitiveParts {
  bool receives;     ///< takes the next chunk from each of its receive ports, and reduces them
  bool reads_input;  ///< takes the chunk from this rank's input; with `receives` it reduces the two
  bool writes_output;
  bool sends;  ///< passes the result to each of its send ports
};

constexpr PrimitiveParts parts_of(Primitive primitive) {
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

/// Lower-case names as on the command line and in JSON: all_reduce, ring, ll128, float, sum.
const char* to_string(Collective collective);
const char* to_string(Algorithm algorithm);
const char* to_string(Protocol protocol);
const char* to_string(DataType type);
const char* to_string(RedOp op);
const char* to_string(Primitive primitive);

/// NCCL's own spellings, as in its variables and its log: AllReduce, NVLSTree, LL128.
const char* nccl_name(Collective collective);
const char* nccl_name(Algorithm algorithm);
const char* nccl_name(Protocol protocol);

/// errors  InvalidArgument: an unknown word; the nearest known one is named
Result<Collective> parse_collective(std::string_view text);
Result<Algorithm> parse_algorithm(std::string_view text);
Result<Protocol> parse_protocol(std::string_view text);
Result<DataType> parse_data_type(std::string_view text);
Result<RedOp> parse_redop(std::string_view text);

/// All known collective names, in the order of the table.
std::span<const std::string_view> collective_names();

Bytes size_of(DataType type);  ///< of one element

/// Whether the collective reduces: all_reduce, reduce_scatter, reduce.
bool is_reduction(Collective collective);

/// Whether NCCL has kernels of the algorithm that reduce elements of the type so. NVSwitches sum, and
/// compare all but the long floats; PAT scales no element.
/// source  NCCL 2.30.7 device/generate.py, enqueue.cc
bool can_reduce(Algorithm algorithm, DataType type, RedOp op);

/// What busbw is algbw times of: the share of the buffer that each rank's link has to carry.
/// returns  all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather, scatter (n-1)/n, and
///          all_gather_v of equal blocks; broadcast, reduce, send_recv, send, recv 1
/// source   NVIDIA/nccl-tests doc/PERFORMANCE.md and its programs (all_gather_v as all_gather)
double busbw_factor(Collective collective, int ranks);

}  // namespace ringside
