#include <cstdint>
#include <string>

#include "base/assert.h"
#include "study/sweep/sweep_points.h"

/// Feeds a sweep from a stranger: it is refused with the place of the error and the fix, or read as a grid whose
/// points are all distinct.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::study;
  const auto sweep = parse_sweep(std::string(data, data + size), "s.yaml");
  if (!sweep) {
    RINGSIDE_ASSERT(sweep.error().message.starts_with("s.yaml"), "an error without its place: {}",
                    sweep.error().message);
    RINGSIDE_ASSERT(!sweep.error().help.empty(), "no fix: {}", sweep.error().message);
    return 0;
  }
  // A cluster's name is an argument of --on and may name any file; other fuzz targets read those files.
  Sweep own = *sweep;
  for (SweepCluster& cluster : own.clusters) {
    cluster.on = "one-gpu-one-nic";
    cluster.set.clear();
  }
  for (SweepWorkload& workload : own.workloads) {
    if (workload.kind.empty()) return 0;
  }
  std::size_t all = own.clusters.size() * own.workloads.size();
  for (const VaryAxis& axis : own.vary) all *= axis.values.size();
  if (all > 1000) return 0;
  const auto points = points_of(own, {});
  RINGSIDE_ASSERT(points && points->size() == all, "{} points", all);
  return 0;
}
