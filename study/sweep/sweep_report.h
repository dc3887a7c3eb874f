#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/sweep/sweep_points.h"

/// The results of a sweep: times with error bars, money, energy, and which point is best.
namespace ringside::study {

/// One point, and its result if it is done.
struct SweepRow {
  SweepPoint point = {};
  std::optional<PointResult> result = {};  ///< none: not done yet
  double wall_s = 0;                       ///< the time that simulating it took

  // For finished points:
  Seconds error{};  ///< typical error of `step`: half of the measurements are within it
  std::optional<double> money = {};   ///< of a step, in the sweep's currency
  std::optional<double> joules = {};  ///< of a step, the site's overhead with it

  [[nodiscard]] bool is_finished() const {
    return result && result->end == PointResult::End::Finished;
  }
};

/// The best point, among those of a workload, or among all if they are one job.
struct SweepBest {
  std::size_t row = 0;
  std::optional<std::size_t> second =
      {};                        ///< the best of another cluster; of a single one the next best
  double ratio = 1;              ///< the second's over the best's
  bool is_beyond_error = false;  ///< the two are further apart than their error bars
  /// The next one of all, if it is a point of the best's own cluster and not `second`.
  struct Sibling {
    std::size_t row = 0;
    double ratio = 1;
    bool is_beyond_error = false;
  };
  std::optional<Sibling> sibling = {};
};

struct WorkloadReport {
  std::string name = {};               ///< of the workload; empty: there is one question alone
  std::vector<std::size_t> rows = {};  ///< those that finished, the fastest first
  std::optional<SweepBest> fastest = {}, cheapest = {}, leanest = {};
};

/// A whole training run of Sweep::tokens.
struct SweepRun {
  double days = 0;
  std::optional<double> money = {}, megawatt_hours = {};
};

/// A figure that results depend on.
struct GivenFigure {
  std::string of;    ///< a cluster's name; empty: of all
  std::string what;  ///< "a host while its GPUs compute"
  std::string text;  ///< "10200 W"
  std::string source = {};
  bool is_assumed = true;
};

struct SweepReport {
  Sweep sweep;
  std::vector<SweepRow> rows = {};  ///< in the grid's order
  std::vector<WorkloadReport> workloads = {};
  std::vector<GivenFigure> figures =
      {};  ///< prices, powers, keys of workloads: what the file gives
  std::vector<std::string> assumptions = {};  ///< the other assumptions, as sentences
  std::size_t done = 0, finished = 0;
  /// Steps of one workload train on different numbers of tokens: then the measure is a million tokens instead of a
  /// step.
  bool is_per_tokens = false;

  /// The figure of a step, or of a million tokens. shape  the row is finished
  [[nodiscard]] double per_work(const SweepRow& row, double of_step) const;
  [[nodiscard]] const char* work() const { return is_per_tokens ? "a million tokens" : "a step"; }

  [[nodiscard]] std::string cluster_name(const SweepRow& row) const;
  [[nodiscard]] std::string workload_name(const SweepRow& row) const;
  /// The names that distinguish the row from others: names that all rows share are omitted, and so is the workload if
  /// each has a report of its own.
  /// but  this setting is omitted, too
  [[nodiscard]] std::string label(const SweepRow& row, std::optional<std::size_t> but = {}) const;
  /// The label, always with the workload if there are several.
  [[nodiscard]] std::string full_label(const SweepRow& row) const;
  /// none: the row trains nothing, or the sweep has no tokens
  [[nodiscard]] std::optional<SweepRun> run_of(const SweepRow& row) const;
};

/// Computes the costs of a finished row. Sets money, joules and error from the rest of the row.
void add_costs(const Sweep& sweep, SweepRow& row);

/// shape  rows are the sweep's points in their order
SweepReport make_sweep_report(Sweep sweep, std::vector<SweepRow> rows, const SweepMethod& method);

}  // namespace ringside::study
