#pragma once

#include <string_view>

#include "diag/hangdetect/readers/call.h"

namespace ringside::hang {

/// The parts of a recorder's `profiling_name`. Views into the text given.
struct OpText {
  std::string_view backend;  ///< empty where there is none
  std::string_view name;
  Op op = Op::Other;
  int source = -1;  ///< group ranks; -1 where not recorded or any
  int target = -1;
};

/// The op of a name in any case, with underscores or variants: `_all_gather_base`, `ALLGATHER_coalesced`,
/// `AllGather`.
/// returns  Op::Other for an unknown name
Op op_of(std::string_view name);

/// `nccl:all_reduce`, `nccl:send 0->3`, `nccl:recv 3<-2`, `nccl:recv 1<-?`.
/// source  PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, the names given to a work
OpText parse_op(std::string_view profiling_name);

/// Whether the backend's calls end on a GPU, one rank after the other, and its recorder writes a dump when a call
/// times out: NCCL's, and backends modelled on it. Gloo's calls end for all ranks or for none.
bool is_like_nccl(std::string_view backend);

}  // namespace ringside::hang
