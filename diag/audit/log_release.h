#pragma once

#include <string>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// The release of NCCL whose rules a job is judged by.
struct LogRelease {
  std::string name;      ///< whose rules are used, as load_release() takes it: "2.21.5"
  bool is_said = false;  ///< a line names it; else the newest known release is used

  /// "NCCL 2.21.5", "NCCL 2.30, as no line says which"
  [[nodiscard]] std::string text() const;
};

/// Of several versions in one job, that of most processes. For an unknown release, the nearest known one.
LogRelease release_of(const JobFacts& facts);

}  // namespace ringside::audit
