#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/scenario/workload.h"
#include "study/sweep/sweep_file.h"
#include "study/sweep/sweep_points.h"

/// The workload keys of a sweep's points.
namespace ringside::study {

/// Looks up the GPU of hosts once for all points on them.
class GpuKeys {
 public:
  /// Returns gpu_keys_of_hosts(); empty for hosts that cannot be loaded, which the point reports.
  const WorkloadKeys& of_hosts(const std::string& on);

 private:
  std::map<std::string, WorkloadKeys> by_hosts_;
};

/// returns  nullptr: the point does not set `key`.  Ownership  the point's
const std::string* setting_of(const SweepPoint& point, std::string_view key);

/// Returns the workload's keys, overridden by the cluster's, overridden by the point's. A GPU that none of them names
/// is the one of the hosts; if the hosts are varied, that applies to every GPU. The layout is not in them.
WorkloadKeys keys_of(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus);

/// Returns keys_of() in the point's layout.
/// errors  InvalidArgument: as gpus_per_domain(), with_layout(); no layout fits
Result<WorkloadKeys> laid_out_keys(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus);

/// Returns a point for each layout that fits; the point itself if it requests none, or none fits.
std::vector<SweepPoint> points_in_layouts(const Sweep& sweep, const SweepPoint& point,
                                          GpuKeys& gpus);

/// Checks that each workload has a point with valid keys; an unknown model or a missing efficiency is an error. A step
/// that is too large for its GPUs is a result, not an error.
/// errors  Corrupt, as `file:line: what`: the first error of a workload without such a point
Status check_keys(const Sweep& sweep, const std::vector<SweepPoint>& points, GpuKeys& gpus);

}  // namespace ringside::study
