#pragma once

#include <string>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// The release of NCCL whose rules a job is judged by.
struct LogRelease {
  std::string name;      ///< release whose rules are used, for load_release(): "2.21.5"
  bool is_said = false;  ///< a line names it; false: the newest known release is assumed

  /// Returns "NCCL 2.21.5", or "NCCL 2.31, as no line says which" for an assumed release.
  [[nodiscard]] std::string text() const;
};

/// Returns the release of a job: of several versions that of most processes, of an unknown version the nearest known
/// release.
LogRelease release_of(const JobFacts& facts);

}  // namespace ringside::audit
