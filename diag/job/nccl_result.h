#pragma once

#include <cstdint>
#include <string>

namespace ringside::job {

/// Returns whether an ncclResult_t is a failure: neither success nor an operation in progress.
/// source  NCCL 2.31.2 nccl.h, ncclResult_t
bool is_nccl_failure(std::int64_t code);

/// Returns the name of an ncclResult_t: "ncclSystemError (2)"; "ncclResult 99" for an unknown code.
/// source  as for is_nccl_failure()
std::string nccl_result_text(std::int64_t code);

}  // namespace ringside::job
