#pragma once

#include <cstdint>
#include <string>

namespace ringside::job {

/// Whether an ncclResult_t reports a failure: neither success nor an operation in progress.
/// source  ecosystem-facts 2.7 (the header of NCCL 2.31.2)
bool is_nccl_failure(std::int64_t code);

/// returns  "ncclSystemError (2)"; "ncclResult 99" for a code that the header does not name
/// source   as is_nccl_failure()
std::string nccl_result_text(std::int64_t code);

}  // namespace ringside::job
