#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/sweep/point_result.h"
#include "study/sweep/sweep_file.h"

namespace ringside::study {

/// A point of the grid: one cluster, one workload, one value of each setting.
struct SweepPoint {
  std::size_t cluster = 0, workload = 0;  ///< indexes into the sweep's lists
  Settings settings = {};
  /// A digest of all inputs of the result: hosts, fabric, workload, settings, fidelity, ringside's
  /// version. Prices, names and notes are excluded, so finished points stay valid when these
  /// change.
  std::string key = {};

  [[nodiscard]] std::string settings_text() const;  ///< "nics=4 nccl=2.27"; empty without any
};

/// Settings for the computation of points.
struct SweepMethod {
  std::string fidelity = "auto";
  std::string version = {};  ///< ringside's version
  /// Points that a sweep may have: a day at a second each.
  std::size_t most_points = 100'000;
};

/// Adds `file:line: what` to an error of a part of a sweep's file.
Error sweep_error(const Sweep& sweep, int line, const std::string& what, const Error& error);

/// Returns all points of the grid; the last setting changes fastest.
/// errors  Corrupt, as `file:line: what`: a cluster that cannot be loaded, a scenario that cannot be read, too many points,
///         a workload whose keys are wrong at every point
Result<std::vector<SweepPoint>> points_of(const Sweep& sweep, const SweepMethod& method);

/// Simulates a point. If that fails, the result holds the reason.
PointResult run_point(const Sweep& sweep, const SweepPoint& point, const SweepMethod& method);

}  // namespace ringside::study
