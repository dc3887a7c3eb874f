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

/// Caches the workload keys that describe the GPU of hosts: loading hosts takes milliseconds, and many points share them.
class GpuKeys {
 public:
  /// Returns gpu_keys_of_hosts(). The reference is valid as long as this object.
  /// errors  as gpu_keys_of_hosts(): the hosts cannot be loaded
  const Result<WorkloadKeys>& of_hosts(const std::string& on);

 private:
  std::map<std::string, Result<WorkloadKeys>> by_hosts_;
};

/// returns  nullptr: the point does not set `key`.  Ownership  the point's
const std::string* setting_of(const SweepPoint& point, std::string_view key);

/// Returns the workload keys of a point: those of the workload; the cluster's replace them, and the point's settings
/// `workload.KEY` replace both. The setting `layout` is not applied.
///
/// If no key names a GPU, the hosts' GPU is added. If the point varies the hosts, the keys of the workload and the cluster
/// that describe a GPU are ignored. Hosts that cannot be loaded add no GPU. The workload of a scenario file gets no GPU: the
/// scenario reads it.
WorkloadKeys keys_of(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus);

/// Returns keys_of() with the point's layout applied.
/// shape   one of points_in_layouts(): its layout is `auto` only if no layout fits
/// errors  InvalidArgument: as with_layout(); the layout is `auto`, with the reason why no layout fits. As load_job_hosts():
///         the point varies the hosts, and these cannot be loaded
Result<WorkloadKeys> laid_out_keys(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus);

/// Returns a copy of the point for each layout that fits, if its layout is `auto`. Returns the point itself if it has another
/// layout or none, if no layout fits, or if the hosts or keys are invalid (laid_out_keys() gives the reason).
std::vector<SweepPoint> points_in_layouts(const Sweep& sweep, const SweepPoint& point,
                                          GpuKeys& gpus);

/// Checks that each workload has a point whose keys are valid, without the layout if that cannot be applied. An unknown model
/// or a missing efficiency is an error of the file. A step that needs more memory than a GPU has is no error: the result of
/// its point says so.
/// errors  Corrupt, as `file:line: what`: a workload without such a point, with the error of its first point
Status check_keys(const Sweep& sweep, const std::vector<SweepPoint>& points, GpuKeys& gpus);

}  // namespace ringside::study
