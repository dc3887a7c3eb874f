#include "study/sweep/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "study/scenario/scenario_run.h"

namespace ringside::study {
namespace {

constexpr double kHoursOfYear = 8766;  // 365.25 days
constexpr double kJoulesOfKwh = 3.6e6;
constexpr double kSecondsOfDay = 86400;

double value_or(const std::optional<SweepFigure>& figure, double otherwise) {
  return figure ? figure->value : otherwise;
}

/// Returns the error of a step's compute time, in seconds. A scenario's kernels take exactly the given time.
double compute_error(const Sweep& sweep, const PointResult& result) {
  const double usual = result.tokens > 0 ? kComputeErrorPercent : 0;
  return result.compute.count() * value_or(sweep.compute_error, usual) / 100;
}
double exposed_error(const PointResult& result) {
  return result.exposed.count() * result.call_error_percent / 100;
}

std::optional<double> joules_of(const SweepPower& power, const PointResult& result) {
  if (!power.host) return std::nullopt;
  const double busy = power.host->value;
  const double waiting = value_or(power.waiting, busy);
  const double joules =
      busy * result.compute.count() + waiting * (result.step - result.compute).count();
  return result.hosts * joules * value_or(power.overhead, 1);
}

std::optional<double> money_of(const SweepPrice& price, const PointResult& result,
                               std::optional<double> joules) {
  const double hours = result.step.count() / 3600;
  double money = 0;
  if (price.host_hour) {
    money = price.host_hour->value * result.hosts * hours;
  } else if (price.gpu_hour) {
    money = price.gpu_hour->value * result.ranks * hours;
  } else if (price.host) {
    const double each = price.host->value + value_or(price.fabric, 0);
    money = each / (price.years->value * kHoursOfYear) * result.hosts * hours;
  } else {
    return std::nullopt;
  }
  if (price.kwh && joules) money += price.kwh->value * *joules / kJoulesOfKwh;
  return money;
}

/// Returns the figure of a row that is minimised; nullopt: the row has no such figure.
using Measure = std::function<std::optional<double>(const SweepRow&)>;

/// Returns the error of the difference of two rows' figures. Figures follow from times: money and energy have their
/// errors. Equal compute times have the same error, and rows with equal times have the same error in everything.
double error_between(const Sweep& sweep, const SweepRow& one, double figure_of_one,
                     const SweepRow& other, double figure_of_other) {
  const PointResult& first = *one.result;
  const PointResult& second = *other.result;
  const double each_first = figure_of_one / first.step.count();
  const double each_second = figure_of_other / second.step.count();
  const auto of_part = [&](double error_of_first, double error_of_second, bool is_shared) {
    return is_shared ? (each_second - each_first) * error_of_first
                     : std::hypot(each_first * error_of_first, each_second * error_of_second);
  };
  const bool is_same_compute = first.compute == second.compute;
  const bool is_same_step =
      is_same_compute && first.exposed == second.exposed && first.step == second.step;
  return std::hypot(
      of_part(compute_error(sweep, first), compute_error(sweep, second), is_same_compute),
      of_part(exposed_error(first), exposed_error(second), is_same_step));
}

std::optional<SweepBest> best_of(const Sweep& sweep, const std::vector<SweepRow>& rows,
                                 const std::vector<std::size_t>& among, const Measure& measure) {
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t i : among) {
    if (const auto value = measure(rows[i])) order.emplace_back(*value, i);
  }
  if (order.empty()) return std::nullopt;
  std::ranges::sort(order);
  SweepBest best{.row = order[0].second};
  if (order.size() < 2) return best;
  const auto other = std::ranges::find_if(order, [&](const auto& one) {
    return rows[one.second].point.cluster != rows[best.row].point.cluster;
  });
  const auto& second = other == order.end() ? order[1] : *other;
  best.second = second.second;
  best.ratio = order[0].first > 0 ? second.first / order[0].first : 1;
  const auto is_beyond = [&](const std::pair<double, std::size_t>& one) {
    return one.first - order[0].first >
           error_between(sweep, rows[best.row], order[0].first, rows[one.second], one.first);
  };
  best.is_beyond_error = is_beyond(second);
  if (order[1].second != second.second) {
    best.sibling = {order[1].second, order[0].first > 0 ? order[1].first / order[0].first : 1,
                    is_beyond(order[1])};
  }
  return best;
}

bool do_tokens_differ(const std::vector<SweepRow>& rows, bool is_one_job) {
  std::map<std::size_t, std::set<double>> by_workload;
  for (const SweepRow& row : rows) {
    if (!row.is_finished()) continue;
    if (row.result->tokens <= 0) return false;
    by_workload[is_one_job ? 0 : row.point.workload].insert(row.result->tokens);
  }
  return std::ranges::any_of(by_workload, [](const auto& one) { return one.second.size() > 1; });
}

std::string keys_text(const auto& keys) {
  std::string text;
  for (const auto& [key, value] : keys) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

std::vector<GivenFigure> figures_of(const Sweep& sweep) {
  std::vector<GivenFigure> all;
  const auto add = [&all](const std::string& of, const char* what,
                          const std::optional<SweepFigure>& figure, const std::string& unit) {
    if (!figure) return;
    all.push_back({.of = of,
                   .what = what,
                   .text = fmt::format("{:.10g}{}{}", figure->value, unit.empty() ? "" : " ", unit),
                   .source = figure->source,
                   .is_assumed = figure->is_assumed});
  };
  const std::string& money = sweep.currency;
  add("", "training tokens of the run", sweep.tokens, "tokens");
  add("", "error of compute times, plus or minus", sweep.compute_error, "%");
  for (const SweepCluster& cluster : sweep.clusters) {
    const std::string& name = cluster.name;
    if (!cluster.workload.empty()) {
      all.push_back({.of = name, .what = "workload", .text = keys_text(cluster.workload)});
    }
    add(name, "price per host-hour", cluster.price.host_hour, money);
    add(name, "price per GPU-hour, GPUs with a rank", cluster.price.gpu_hour, money);
    add(name, "purchase price per host", cluster.price.host, money);
    add(name, "purchase price of the network per host", cluster.price.fabric, money);
    add(name, "depreciation period, straight-line, never idle", cluster.price.years, "years");
    add(name, "energy price per kWh", cluster.price.kwh, money);
    add(name, "power of a host while its GPUs compute", cluster.power.host, "W");
    add(name, "power of a host while its GPUs wait", cluster.power.waiting, "W");
    add(name, "power usage effectiveness (PUE)", cluster.power.overhead, "");
  }
  for (const SweepWorkload& workload : sweep.workloads) {
    const bool is_file = workload.kind.empty();
    all.push_back({.of = workload.name,
                   .what = is_file ? "scenario file" : workload.kind,
                   .text = is_file ? workload.scenario : keys_text(workload.keys)});
  }
  return all;
}

std::vector<std::string> assumptions_of(const Sweep& sweep, const SweepMethod& method) {
  std::vector<std::string> all = sweep.assumptions;
  if (!sweep.compute_error) {
    all.push_back(fmt::format(
        "compute times follow from the stated efficiency. Error bars assume an error of {} % in "
        "compute times, about that of one efficiency on three published training steps "
        "(docs/reference/scenarios.md)",
        kComputeErrorPercent));
  }
  all.push_back(
      "error bars combine the error of compute times with the typical error of exposed "
      "communication: its median over comparable systems that did not calibrate the simulator "
      "(docs/accuracy.md). The two errors count as independent. Two points with the same compute "
      "time share the error of that time; their other errors count as independent");
  all.push_back(
      "not modelled: the optimizer, kernels other than matrix products, overlap of "
      "tensor-parallel calls with compute, data loading, checkpoints, failures "
      "(docs/reference/scenarios.md). Measured errors on published training steps: "
      "docs/accuracy.md");
  all.push_back(
      fmt::format("simulated by ringside {}, fidelity {}", method.version, method.fidelity));
  return all;
}

}  // namespace

std::string SweepReport::cluster_name(const SweepRow& row) const {
  return sweep.clusters[row.point.cluster].name;
}

std::string SweepReport::workload_name(const SweepRow& row) const {
  return sweep.workloads[row.point.workload].name;
}

std::string SweepReport::label(const SweepRow& row, std::optional<std::size_t> but) const {
  std::vector<std::string> parts;
  if (sweep.clusters.size() > 1) parts.push_back(cluster_name(row));
  if (sweep.workloads.size() > 1 && sweep.is_one_job) parts.push_back(workload_name(row));
  for (std::size_t i = 0; i < sweep.vary.size(); ++i) {
    const auto& [key, value] = row.point.settings[i];
    if (key == kLayoutKey && i != but) parts.push_back(value);
    if (sweep.vary[i].values.size() < 2 || i == but || key == kLayoutKey) continue;
    const std::size_t dot = key.rfind('.');
    parts.push_back(
        fmt::format("{} {}", dot == std::string::npos ? key : key.substr(dot + 1), value));
  }
  if (parts.empty()) parts.push_back(cluster_name(row));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string SweepReport::full_label(const SweepRow& row) const {
  // label() omits the workload's name where each workload has a report of its own.
  const bool omits_workload = sweep.workloads.size() > 1 && !sweep.is_one_job;
  return omits_workload ? workload_name(row) + ": " + label(row) : label(row);
}

double SweepReport::per_work(const SweepRow& row, double of_step) const {
  return is_per_tokens ? of_step * 1e6 / row.result->tokens : of_step;
}

std::optional<SweepRun> SweepReport::run_of(const SweepRow& row) const {
  if (!sweep.tokens || !row.is_finished() || row.result->tokens <= 0) return std::nullopt;
  const double steps = sweep.tokens->value / row.result->tokens;
  SweepRun run{.days = steps * row.result->step.count() / kSecondsOfDay};
  if (row.money) run.money = steps * *row.money;
  if (row.joules) run.megawatt_hours = steps * *row.joules / kJoulesOfKwh / 1000;
  return run;
}

void add_costs(const Sweep& sweep, SweepRow& row) {
  if (!row.is_finished()) return;
  const PointResult& result = *row.result;
  const SweepCluster& cluster = sweep.clusters[row.point.cluster];
  row.error = Seconds{std::hypot(compute_error(sweep, result), exposed_error(result))};
  row.joules = joules_of(cluster.power, result);
  row.money = money_of(cluster.price, result, row.joules);
}

SweepReport make_sweep_report(Sweep sweep, std::vector<SweepRow> rows, const SweepMethod& method) {
  SweepReport report{.sweep = std::move(sweep), .rows = std::move(rows)};
  for (SweepRow& row : report.rows) {
    add_costs(report.sweep, row);
    if (row.result) ++report.done;
    if (row.is_finished()) ++report.finished;
  }
  report.is_per_tokens = do_tokens_differ(report.rows, report.sweep.is_one_job);
  const Measure time = [&report](const SweepRow& row) {
    return std::optional(report.per_work(row, row.result->step.count()));
  };
  const auto per_work = [&report](std::optional<double> SweepRow::*figure) -> Measure {
    return [&report, figure](const SweepRow& row) {
      const std::optional<double>& value = row.*figure;
      return value ? std::optional(report.per_work(row, *value)) : std::nullopt;
    };
  };
  const bool is_one_question = report.sweep.is_one_job || report.sweep.workloads.size() == 1;
  for (std::size_t i = 0; i < (is_one_question ? 1 : report.sweep.workloads.size()); ++i) {
    WorkloadReport one;
    if (!is_one_question) one.name = report.sweep.workloads[i].name;
    for (std::size_t row = 0; row < report.rows.size(); ++row) {
      const SweepRow& own = report.rows[row];
      if (own.is_finished() && (is_one_question || own.point.workload == i))
        one.rows.push_back(row);
    }
    std::ranges::stable_sort(one.rows, {},
                             [&](std::size_t row) { return *time(report.rows[row]); });
    one.fastest = best_of(report.sweep, report.rows, one.rows, time);
    one.cheapest = best_of(report.sweep, report.rows, one.rows, per_work(&SweepRow::money));
    one.leanest = best_of(report.sweep, report.rows, one.rows, per_work(&SweepRow::joules));
    report.workloads.push_back(std::move(one));
  }
  report.figures = figures_of(report.sweep);
  report.assumptions = assumptions_of(report.sweep, method);
  return report;
}

}  // namespace ringside::study
