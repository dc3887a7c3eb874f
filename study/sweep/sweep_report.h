#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/sweep/sweep_points.h"

/// Evaluates a sweep: times with error bars, costs, energy, and the best points.
namespace ringside::study {

/// One point with its result.
struct SweepRow {
  SweepPoint point = {};
  std::optional<PointResult> result = {};  ///< none: not done yet
  double wall_s = 0;                       ///< time that its simulation took

  // For finished points:
  Seconds error{};  ///< typical error of `step`: half of the measurements are within it
  std::optional<double> money = {};   ///< cost of a step, in the sweep's currency
  std::optional<double> joules = {};  ///< energy of a step, with the site's overhead

  [[nodiscard]] bool is_finished() const {
    return result && result->end == PointResult::End::Finished;
  }
};

/// The best point of a workload, or of all points if the workloads are one job.
struct SweepBest {
  std::size_t row = 0;
  /// Best point of another cluster; if there is one cluster, the next best point.
  std::optional<std::size_t> second = {};
  double ratio = 1;              ///< value of `second` divided by that of the best
  bool is_beyond_error = false;  ///< the two are further apart than their error bars
  /// The next best point, if it belongs to the best's cluster and is not `second`.
  struct Sibling {
    std::size_t row = 0;
    double ratio = 1;
    bool is_beyond_error = false;
  };
  std::optional<Sibling> sibling = {};
};

/// The clusters that suit one workload best.
struct WorkloadReport {
  std::string name = {};               ///< name of the workload; empty: all workloads are one job
  std::vector<std::size_t> rows = {};  ///< finished rows, the fastest first
  std::optional<SweepBest> fastest = {}, cheapest = {}, leanest = {};
};

/// A training run over Sweep::tokens, at the speed of one row.
struct SweepRun {
  double days = 0;
  std::optional<double> money = {}, megawatt_hours = {};
};

/// An input figure of the results.
struct GivenFigure {
  std::string of;    ///< name of the cluster; empty: all clusters
  std::string what;  ///< "power of a host while its GPUs compute"
  std::string text;  ///< "10200 W"
  std::string source = {};
  bool is_assumed = true;
};

/// The results of a sweep.
struct SweepReport {
  Sweep sweep;
  std::vector<SweepRow> rows = {};  ///< in the order of the grid
  std::vector<WorkloadReport> workloads = {};
  /// Prices, powers and keys of workloads in the file.
  std::vector<GivenFigure> figures = {};
  std::vector<std::string> assumptions = {};  ///< other assumptions, as sentences
  std::size_t done = 0, finished = 0;
  /// True if steps of one workload train on different numbers of tokens: results are then per
  /// million tokens, not per step.
  bool is_per_tokens = false;

  /// Converts a figure per step to one per unit of work().  shape  the row is finished
  [[nodiscard]] double per_work(const SweepRow& row, double of_step) const;
  [[nodiscard]] const char* work() const { return is_per_tokens ? "a million tokens" : "a step"; }

  [[nodiscard]] std::string cluster_name(const SweepRow& row) const;
  [[nodiscard]] std::string workload_name(const SweepRow& row) const;
  /// Returns the names that distinguish the row from others. Omits names that all rows share, and
  /// the workload if each workload has a report of its own.
  /// but  index of a setting to omit, too
  [[nodiscard]] std::string label(const SweepRow& row, std::optional<std::size_t> but = {}) const;
  /// Returns the label, with the workload if there are several.
  [[nodiscard]] std::string full_label(const SweepRow& row) const;
  /// Returns the training run by this row; none: the row trains nothing, or the sweep has no
  /// tokens.
  [[nodiscard]] std::optional<SweepRun> run_of(const SweepRow& row) const;
};

/// Sets a finished row's money, joules and error; leaves another row as it is.
void add_costs(const Sweep& sweep, SweepRow& row);

/// Evaluates the rows.  shape  rows are the sweep's points, in their order
SweepReport make_sweep_report(Sweep sweep, std::vector<SweepRow> rows, const SweepMethod& method);

}  // namespace ringside::study
