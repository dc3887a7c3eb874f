#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "study/sweep/sweep_report.h"

namespace ringside::cli {

/// How a sweep is run.
struct SweepOptions {
  study::SweepMethod method;
  int jobs = 0;           ///< points at once; 0: one a core
  double limit_s = 3600;  ///< of one point, which counts as failed after it
  bool is_report_only = false;
  bool is_forced = false;  ///< into a folder with other files
};

/// Simulates the points of the sweep that the folder has no result of.
/// returns  none: another rank of the launcher's job reports
/// errors   InvalidArgument: the launcher's variables are wrong; unless `is_forced`, the folder has other files.  Also
///          those of points_of(), ResultStore, run_worker() and parse_point_result()
Result<std::optional<study::SweepReport>> run_sweep(study::Sweep sweep, const std::string& folder,
                                                    const SweepOptions& how);

/// Returns the exit status of a report: a hung or failed point is a finding, as is a sweep without a time.
int sweep_status(const study::SweepReport& report);

}  // namespace ringside::cli
