#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/sweep/point_result.h"
#include "study/sweep/sweep_file.h"

namespace ringside::study {

/// One cluster, one workload, one value of each setting.
struct SweepPoint {
  std::size_t cluster = 0, workload = 0;  ///< of the sweep's
  Settings settings = {};
  /// A digest of all inputs of its result: the hosts, the fabric, the workload, the settings, the fidelity, the
  /// version of ringside. Not of prices, names and notes: these may change, and finished points stay valid.
  std::string key = {};

  [[nodiscard]] std::string settings_text() const;  ///< "nics=4 nccl=2.27"; empty without any
};

/// How points are computed.
struct SweepMethod {
  std::string fidelity = "auto";
  std::string version = {};  ///< of ringside
};

inline constexpr std::size_t kMostPoints = 100'000;

/// The grid; the last setting changes fastest.
/// errors  Corrupt, as `file:line: what`: a cluster that cannot be loaded, a scenario that cannot be read, too many points,
///         a workload whose keys are wrong at every point
Result<std::vector<SweepPoint>> points_of(const Sweep& sweep, const SweepMethod& method);

/// Simulates a point. If it cannot be simulated, the result has the reason.
PointResult run_point(const Sweep& sweep, const SweepPoint& point, const SweepMethod& method);

}  // namespace ringside::study
