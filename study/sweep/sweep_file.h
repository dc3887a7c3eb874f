#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/workload.h"
#include "ringside/units.h"
#include "study/what_if.h"

/// Parses a sweep file: clusters x workloads x settings, and their costs.
namespace ringside::study {

/// A number given by the user, and its source.
struct SweepFigure {
  double value = 0;
  std::string source = {};
  bool is_assumed = true;  ///< false if the source is a measurement, a contract or a data sheet
};

/// The cost of a host: rented by the hour, or bought, with straight-line depreciation over `years`.
struct SweepPrice {
  std::optional<SweepFigure> host_hour = {}, gpu_hour = {};
  /// Purchase prices; fabric: the host's share of the network.
  std::optional<SweepFigure> host = {}, fabric = {};
  std::optional<SweepFigure> years = {};
  std::optional<SweepFigure> kwh = {};  ///< price of energy, if it is billed separately
};

/// The power of a host, in W; network and cooling are part of `overhead`.
struct SweepPower {
  std::optional<SweepFigure> host = {};     ///< while its GPUs compute
  std::optional<SweepFigure> waiting = {};  ///< while its GPUs wait; none: as `host`
  /// Power usage effectiveness (PUE): power of the site divided by that of its hosts, 1.3.
  std::optional<SweepFigure> overhead = {};
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A cluster that a sweep compares.
struct SweepCluster {
  std::string name, about = {};
  std::string on = {};  ///< in the form of `--on`; paths are relative to this process's folder
  std::optional<int> nodes = {};
  Settings set = {};       ///< keys of `--vary`
  Settings workload = {};  ///< override the keys of each workload
  SweepPrice price = {};
  SweepPower power = {};
  /// Line in the file, for messages.
  int line = 0;
};

/// A workload that is generated from keys, or read from a scenario file.
struct SweepWorkload {
  std::string name;
  std::string kind = {};  ///< one of workload_kinds(); empty: a scenario
  WorkloadKeys keys = {};
  std::string scenario = {};  ///< path, relative to this process's folder
  int line = 0;
};

/// A sweep as its file describes it.
struct Sweep {
  std::string name, about = {}, where = {};
  std::string currency = {};
  /// Workloads are variants of one job: the best is chosen among all of them.
  bool is_one_job = false;
  std::optional<SweepFigure> tokens = {};         ///< tokens of a whole training run
  std::optional<SweepFigure> compute_error = {};  ///< error of compute times, in %
  std::vector<SweepCluster> clusters = {};
  std::vector<SweepWorkload> workloads = {};
  std::vector<VaryAxis> vary = {};  ///< keys of `--vary`, or `workload.KEY`
  std::vector<std::string> assumptions = {};
};

/// Prefix of a setting of the workload: `workload.tensor`.
inline constexpr std::string_view kWorkloadPrefix = "workload.";

/// The setting that splits a workload's ranks over tensor, pipeline and data: a split as with_layout() takes it, or
/// kAnyLayout, each one that divides and fits.
inline constexpr std::string_view kLayoutKey = "layout";
inline constexpr std::string_view kAnyLayout = "auto";

/// Returns whether a setting is one of the workload, and not of the cluster.
inline bool is_workload_setting(std::string_view key) {
  return key == kLayoutKey || key.starts_with(kWorkloadPrefix);
}

/// Returns the scenario as a sweep with one cluster and one workload, over these values. If the hosts vary (`on`), the
/// workload has no GPU of its own: each host's GPUs count.
/// path    of the scenario's file
/// vary    each as `--vary` takes it
/// errors  InvalidArgument: a scenario without a cluster, or with faults; as parse_vary(); a key that appears twice, or
///         that neither the cluster nor the workload has; an invalid value of the cluster's
Result<Sweep> sweep_of_scenario(const Scenario& scenario, const std::string& path,
                                const std::vector<std::string>& vary);

/// Parses the text of a sweep file. The values of workloads are checked at each point (sweep_points.h).
/// where   for messages: the file; paths in it start at its folder
/// errors  Corrupt: `where:line: what`, with the fix
Result<Sweep> parse_sweep(const std::string& text, const std::string& where);

/// Loads a sweep file. A name without a folder may be that of a shipped file.
/// errors  as read_description(), with the shipped files' names; parse_sweep()
Result<Sweep> load_sweep(const std::string& path);

}  // namespace ringside::study
