#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of calls, of NCCL's choices for them, and of their results.
/// source  docs/formats 1.3, 3.1 to 3.3
namespace ringside::logs {

/// `AllReduce: opCount 1f sendbuff .. recvbuff .. count .. datatype .. op .. root .. comm .. [nranks=..] stream ..`
/// It shows that the rank called, not that a kernel started. Do not compare op_count between ranks.
struct CollCall {
  static constexpr RecordKind kKind = RecordKind::CollCall;
  std::int16_t datatype = -1;
  std::int32_t op = -1;    ///< ncclRedOp_t; 5 and more: created by the user
  std::int32_t root = -1;  ///< root; for Send and Recv the peer
  std::int32_t nranks = -1;
  std::uint64_t count = 0;     ///< elements
  std::uint64_t op_count = 0;  ///< hexadecimal in the line
  std::uint64_t comm = 0;
  std::int32_t global_rank = -1;  ///< RCCL
  std::string_view function;      ///< `AllReduce`
};

/// A line of subsystem TUNING. The numbers are NCCL's: algorithms 0 TREE, 1 RING, 2 COLLNET_DIRECT,
/// 3 COLLNET_CHAIN, 4 NVLS, 5 NVLS_TREE, 6 PAT; protocols 0 LL, 1 LL128, 2 SIMPLE.
struct TuningChoice {
  static constexpr RecordKind kKind = RecordKind::TuningChoice;
  std::int8_t algorithm = -1;  ///< -1: a kernel without an algorithm (symmetric, copy engine)
  std::int8_t protocol = -1;
  std::int16_t channel_low = -1, channel_high = -1;
  float time_us = -1;  ///< up to 2.23: a model's estimate
  std::uint64_t bytes = 0;
  std::string_view function;  ///< empty up to 2.22
  std::string_view kernel;    ///< 2.27+, symmetric
};

/// `ncclAllReduce(<args>)`, a line of level CALL.
struct ApiCall {
  static constexpr RecordKind kKind = RecordKind::ApiCall;
  std::string_view function;   ///< `ncclGroupStart`
  std::string_view arguments;  ///< text in the parentheses
};

/// `<file>:<line> -> <code>`: NCCL logs these lines as an error propagates up the call stack, the innermost first.
struct ResultStack {
  static constexpr RecordKind kKind = RecordKind::ResultStack;
  /// ncclResult: 1 CUDA, 2 system, 3 internal, 4, 5 usage, 6 remote, 7 in progress
  std::int32_t code = -1;
  std::int32_t line = -1;
  std::string_view file;
  std::string_view function;  ///< 2.30
  std::string_view thread;    ///< `Async thread`, `Proxy Thread`, `Progress Thread`
};

}  // namespace ringside::logs
