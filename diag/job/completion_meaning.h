#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::job {

/// The meaning of a verbs work completion for a job.
struct CompletionMeaning {
  std::string_view name;   ///< `transport retries exhausted`
  std::string_view cause;  ///< a clause
  std::string_view fix;    ///< the first step
};

inline constexpr std::int64_t kFlushed = 5;  ///< IBV_WC_WR_FLUSH_ERR: never the first error

/// status   1 .. 13, as ibv_wc_status numbers the errors
/// returns  nullptr: another number
/// source   docs/formats 4.2
const CompletionMeaning* meaning_of_completion(std::int64_t status);

}  // namespace ringside::job
