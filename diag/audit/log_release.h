#pragma once

#include <string>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// The release of NCCL by which a job is judged.
struct LogRelease {
  std::string name;      ///< that decides, as load_release() takes it: "2.21.5"
  bool is_said = false;  ///< by a line; else the newest that is described

  /// "NCCL 2.21.5", "NCCL 2.30, as no line says which"
  [[nodiscard]] std::string text() const;
};

/// Of several versions in one job, that of most processes. A release that is not described is judged by the nearest.
LogRelease release_of(const JobFacts& facts);

}  // namespace ringside::audit
