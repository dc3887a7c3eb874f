#include "diag/job/nccl_result.h"

#include <array>

namespace ringside::job {
namespace {

/// Indexed by the code.
constexpr std::array kNames{"ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
                            "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
                            "ncclRemoteError",   "ncclInProgress",         "ncclTimeout"};
constexpr std::int64_t kSuccess = 0, kInProgress = 7;

}  // namespace

bool is_nccl_failure(std::int64_t code) { return code > kSuccess && code != kInProgress; }

std::string nccl_result_text(std::int64_t code) {
  if (code < 0 || code >= static_cast<std::int64_t>(kNames.size())) {
    return "ncclResult " + std::to_string(code);
  }
  return std::string(kNames[static_cast<std::size_t>(code)]) + " (" + std::to_string(code) + ")";
}

}  // namespace ringside::job
