#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "diag/audit/finding.h"

/// What numbers and short texts of drivers and libraries mean for a job.
/// source  docs/formats 4.2, 4.3, 8.1
namespace ringside::audit {

inline constexpr std::int64_t kFlushed = 5;  ///< IBV_WC_WR_FLUSH_ERR: never the first error

struct WorkStatus {
  std::string_view name;
  std::string_view cause;
  std::string_view fix;
};

/// Of a work completion of verbs.
WorkStatus meaning_of_status(std::int64_t status);

std::string cause_of_cuda_error(std::string_view text);

}  // namespace ringside::audit
