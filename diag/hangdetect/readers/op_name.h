#pragma once

#include <string_view>

#include "diag/hangdetect/readers/call.h"

namespace ringside::hang {

/// The parts of a recorder's `profiling_name`, as views into the parsed text.
struct OpText {
  std::string_view backend;  ///< empty: none
  std::string_view name;
  Op op = Op::Other;
  int source = -1;  ///< group rank; -1: not recorded, or any source
  int target = -1;  ///< group rank; -1: not recorded
};

/// Returns the operation of a name in any case and spelling, `_all_gather_base`, `ALLGATHER_coalesced` or `AllGather`;
/// Op::Other for an unknown name.
Op op_of(std::string_view name);

/// Parses a `profiling_name`: `nccl:all_reduce`, `nccl:send 0->3`, `nccl:recv 3<-2`, `nccl:recv 1<-?`.
/// source  PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, the names given to a work
OpText parse_op(std::string_view profiling_name);

/// Returns whether the backend is NCCL or modelled on it: calls complete on the GPU, independently on each rank, and
/// the recorder writes a dump when a call times out. Gloo's calls complete on all ranks or on none.
bool is_like_nccl(std::string_view backend);

}  // namespace ringside::hang
