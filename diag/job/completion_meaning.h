#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::job {

/// The meaning of a failed verbs work completion for a job.
struct CompletionMeaning {
  std::string_view name;   ///< `transport retries exhausted`
  std::string_view cause;  ///< a clause: why the completion failed
  std::string_view fix;    ///< the first thing to do
};

/// Values of ibv_wc_status.
inline constexpr std::int64_t kFlushed = 5;  ///< IBV_WC_WR_FLUSH_ERR: never the first error
inline constexpr std::int64_t kRetriesExhausted = 12;  ///< IBV_WC_RETRY_EXC_ERR
inline constexpr std::int64_t kReceiverNotReady = 13;  ///< IBV_WC_RNR_RETRY_EXC_ERR

/// Returns the meaning of an ibv_wc_status from 1 to 13, or nullptr for another number.
/// source   rdma-core libibverbs/verbs.h, enum ibv_wc_status; docs/formats 4.2
const CompletionMeaning* meaning_of_completion(std::int64_t status);

}  // namespace ringside::job
