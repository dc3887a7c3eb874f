#pragma once

#include <string_view>

#include "diag/hangdetect/readers/call.h"

namespace ringside::hang {

/// What `profiling_name` of a recorder says. Views into the text given.
struct OpText {
  std::string_view backend;  ///< empty where there is none
  std::string_view name;
  Op op = Op::Other;
  int source = -1;  ///< group ranks; -1 where not recorded or any
  int target = -1;
};

/// The op that a name stands for, whatever its case, underscores and variant: `_all_gather_base`,
/// `ALLGATHER_coalesced`, `AllGather`.
/// returns  Op::Other for a name that we do not know
Op op_of(std::string_view name);

/// `nccl:all_reduce`, `nccl:send 0->3`, `nccl:recv 3<-2`, `nccl:recv 1<-?`.
/// source  PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, the names given to a work
OpText parse_op(std::string_view profiling_name);

/// Whether the backend's calls end on a GPU, one rank after the other, and its recorder writes a dump when a call times
/// out: NCCL's, and those that are made after it. Gloo's calls end for all or for none.
bool is_like_nccl(std::string_view backend);

}  // namespace ringside::hang
