#include "cli/sweep/sweep_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/wording.h"

namespace ringside::cli {
namespace {

using study::SweepBest;
using study::SweepReport;
using study::SweepRow;

double percent_of(Seconds part, Seconds all) { return all > Seconds{} ? 100 * (part / all) : 0; }

/// Quotes a field of a CSV: RFC 4180.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string outcome_of(const SweepRow& row) {
  return row.result ? to_string(row.result->end) : "open";
}

/// Returns the axis that searches for layouts; nullopt: none.
std::optional<std::size_t> searched_axis(const SweepReport& report) {
  for (std::size_t i = 0; i < report.sweep.vary.size(); ++i) {
    const study::VaryAxis& axis = report.sweep.vary[i];
    const bool is_search = std::ranges::find(axis.values, study::kAnyLayout) != axis.values.end();
    if (axis.key == study::kLayoutKey && is_search) return i;
  }
  return std::nullopt;
}

/// Rows of the table: the grid's order, or the fastest first where layouts are searched for.
std::vector<std::size_t> rows_in_order(const SweepReport& report) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < report.rows.size(); ++i) order.push_back(i);
  if (!searched_axis(report)) return order;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const SweepRow& row = report.rows[i];
    return row.is_finished() ? report.per_work(row, row.result->step.count())
                             : std::numeric_limits<double>::max();
  });
  return order;
}

/// Returns the rows of each layout search except the best few.
std::set<std::size_t> slower_layouts(const SweepReport& report) {
  constexpr int kShown = 5;
  std::set<std::size_t> slow;
  const auto axis = searched_axis(report);
  if (!axis) return slow;
  std::map<std::tuple<std::size_t, std::size_t, study::Settings>, int> shown;
  for (const std::size_t i : rows_in_order(report)) {
    const SweepRow& row = report.rows[i];
    study::Settings others = row.point.settings;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*axis));
    if (row.is_finished() &&
        ++shown[{row.point.cluster, row.point.workload, std::move(others)}] > kShown) {
      slow.insert(i);
    }
  }
  return slow;
}

/// Returns `what` in words, with the distance to the next row.
std::string headline(const SweepReport& report, const char* what, const char* more,
                     const SweepBest& best, const std::string& figure) {
  const SweepRow& row = report.rows[best.row];
  std::string line = fmt::format("{}: {}, {}", what, report.label(row), figure);
  if (!best.second) return line;
  return line + "; " + rivals_text(report, best, more);
}

/// "2.31s a step, 12.3 days for 2 trillion tokens": the second part if the sweep gives the length of a run.
std::string with_run(const std::string& figure, const std::string& of_run,
                     const SweepReport& report) {
  if (of_run.empty()) return figure;
  return fmt::format("{}, {} for {} tokens", figure, of_run, in_words(report.sweep.tokens->value));
}

}  // namespace

std::string in_words(double count) {
  struct Word {
    double size;
    const char* name;
  };
  for (const Word& word : {Word{1e12, "trillion"}, Word{1e9, "billion"}, Word{1e6, "million"}}) {
    if (count >= word.size) return fmt::format("{:.4g} {}", count / word.size, word.name);
  }
  return fmt::format("{:.6g}", count);
}

std::string rivals_text(const SweepReport& report, const SweepBest& best, const char* more) {
  const auto text = [&](const char* what, std::size_t row, double ratio, bool is_beyond_error) {
    const std::string label = report.label(report.rows[row]);
    if (ratio == 1) return fmt::format("equal: {}", label);
    const double percent = 100 * (ratio - 1);
    return is_beyond_error
               ? fmt::format("{}: {}, {:.1f} % {}", what, label, percent, more)
               : fmt::format("{} is within the error bars ({:.1f} % {})", label, percent, more);
  };
  if (!best.sibling) return text("next", *best.second, best.ratio, best.is_beyond_error);
  return text("next", best.sibling->row, best.sibling->ratio, best.sibling->is_beyond_error) +
         "; " + text("next cluster", *best.second, best.ratio, best.is_beyond_error);
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e9) return fmt::format("{:.3g}", value);
  if (size < 1000) {
    const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(size))));
    return fmt::format("{:.{}f}", value, digits);
  }
  const int below = static_cast<int>(std::floor(std::log10(size))) - 2;
  const double step = std::pow(10, below);
  std::string digits = fmt::format("{:.0f}", std::round(value / step) * step);
  for (std::size_t at = digits.size(); at > 3 + (value < 0 ? 1U : 0U);) {
    at -= 3;
    digits.insert(at, " ");
  }
  return digits;
}

std::vector<std::string> sweep_headlines(const SweepReport& report) {
  std::vector<std::string> lines;
  for (const study::WorkloadReport& one : report.workloads) {
    const std::string of = one.name.empty() ? std::string{} : " at " + one.name;
    if (one.fastest) {
      const SweepRow& row = report.rows[one.fastest->row];
      const auto run = report.run_of(row);
      lines.push_back(
          headline(report, ("fastest" + of).c_str(), "slower", *one.fastest,
                   with_run(format_time(Seconds{report.per_work(row, row.result->step.count())}) +
                                " " + report.work(),
                            run ? short_number(run->days) + " days" : "", report)));
    }
    if (one.cheapest) {
      const SweepRow& row = report.rows[one.cheapest->row];
      const auto run = report.run_of(row);
      lines.push_back(headline(
          report, ("cheapest" + of).c_str(), "dearer", *one.cheapest,
          with_run(fmt::format("{} {} {}", short_number(report.per_work(row, *row.money)),
                               report.sweep.currency, report.work()),
                   run && run->money ? short_number(*run->money) + " " + report.sweep.currency : "",
                   report)));
    }
    if (one.leanest) {
      const SweepRow& row = report.rows[one.leanest->row];
      lines.push_back(
          headline(report, ("least energy" + of).c_str(), "more", *one.leanest,
                   short_number(report.per_work(row, *row.joules) / 1e6) + " MJ " + report.work()));
    }
  }
  return lines;
}

bool has_memory_column(const SweepReport& report) {
  return std::ranges::any_of(
      report.rows, [](const SweepRow& row) { return row.is_finished() && row.result->memory > 0; });
}

std::string memory_text(const PointResult& result) {
  return result.memory > 0 ? fmt::format("{:.1f}", result.memory / 1e9) : std::string();
}

std::string sweep_text(const SweepReport& report) {
  std::string text =
      fmt::format("{}: {} of {} done, {} with a time\n", report.sweep.name, report.done,
                  plural(report.rows.size(), "point", "points"), report.finished);
  std::size_t width = 8;
  for (const SweepRow& row : report.rows) width = std::max(width, report.full_label(row).size());
  width = std::min<std::size_t>(width, 70);
  const auto has = [&report](const auto& figure) {
    return std::ranges::any_of(report.rows,
                               [&](const SweepRow& row) { return (row.*figure).has_value(); });
  };
  const bool has_memory = has_memory_column(report);
  const bool has_money = has(&SweepRow::money);
  const bool has_energy = has(&SweepRow::joules);
  text += fmt::format("  {:<{}}{:>12}{:>8}{:>10}{:>10}{:>8}{:>7}", "point", width, "step", "+- %",
                      "compute %", "exposed %", "idle %", "GPUs");
  if (has_memory) text += fmt::format("{:>9}", "GB/GPU");
  if (has_money) text += fmt::format("{:>12}", report.sweep.currency + "/step");
  if (has_energy) text += fmt::format("{:>12}", "MJ/step");
  text += "\n";
  const std::set<std::size_t> slow = slower_layouts(report);
  for (const std::size_t i : rows_in_order(report)) {
    if (slow.contains(i)) continue;
    const SweepRow& row = report.rows[i];
    text += fmt::format("  {:<{}}", cut(report.full_label(row), static_cast<int>(width)), width);
    if (!row.is_finished()) {
      text += fmt::format("  {}{}\n", outcome_of(row),
                          row.result ? ": " + cut(row.result->reason, 110) : "");
      continue;
    }
    const PointResult& result = *row.result;
    text += fmt::format("{:>12}{:>8.1f}{:>10.1f}{:>10.1f}{:>8.1f}{:>7}", format_time(result.step),
                        percent_of(row.error, result.step), percent_of(result.compute, result.step),
                        percent_of(result.exposed, result.step),
                        percent_of(result.idle(), result.step), result.ranks);
    if (has_memory) text += fmt::format("{:>9}", memory_text(result));
    if (has_money) text += fmt::format("{:>12}", row.money ? short_number(*row.money) : "");
    if (has_energy)
      text += fmt::format("{:>12}", row.joules ? short_number(*row.joules / 1e6) : "");
    text += "\n";
  }
  if (!slow.empty()) {
    text += fmt::format("  {} more fit and are slower\n", plural(slow.size(), "layout", "layouts"));
  }
  for (const std::string& line : sweep_headlines(report)) text += line + "\n";
  return text;
}

std::string sweep_csv(const SweepReport& report) {
  std::string text = "cluster,workload";
  for (const study::VaryAxis& axis : report.sweep.vary) text += "," + field(axis.key);
  text +=
      ",outcome,nranks,hosts,step_us,error_percent,compute_us,exposed_us,idle_us,tokens,money,"
      "currency,energy_j,limit,reason,simulated_in_s,memory_gb\n";
  for (const SweepRow& row : report.rows) {
    text += field(report.cluster_name(row)) + "," + field(report.workload_name(row));
    for (const auto& [key, value] : row.point.settings) text += "," + field(value);
    text += "," + outcome_of(row);
    if (!row.result) {
      text += ",,,,,,,,,,,,,,,\n";
      continue;
    }
    const PointResult& result = *row.result;
    if (row.is_finished()) {
      text += fmt::format(
          ",{},{},{:.3f},{:.2f},{:.3f},{:.3f},{:.3f},{:.0f},{},{},{},{},{},{:.3f},{}\n",
          result.ranks, result.hosts, in_us(result.step), percent_of(row.error, result.step),
          in_us(result.compute), in_us(result.exposed), in_us(result.idle()), result.tokens,
          row.money ? fmt::format("{:.6g}", *row.money) : "",
          field(row.money ? report.sweep.currency : ""),
          row.joules ? fmt::format("{:.6g}", *row.joules) : "", field(result.limit),
          field(result.reason), row.wall_s, memory_text(result));
    } else {
      text += fmt::format(",{},{},,,,,,,,,,,{},{:.3f},\n", result.ranks, result.hosts,
                          field(result.reason), row.wall_s);
    }
  }
  return text;
}

Json sweep_document(const SweepReport& report) {
  Json points = Json::array();
  for (const SweepRow& row : report.rows) {
    Json settings = Json::object();
    for (const auto& [key, value] : row.point.settings) settings[key] = value;
    Json point{{"key", row.point.key},
               {"cluster", report.cluster_name(row)},
               {"workload", report.workload_name(row)},
               {"settings", std::move(settings)},
               {"outcome", outcome_of(row)}};
    if (row.result && !row.result->reason.empty()) point["reason"] = row.result->reason;
    if (row.is_finished()) {
      const PointResult& result = *row.result;
      point["nranks"] = result.ranks;
      point["hosts"] = result.hosts;
      point["step_time_us"] = in_us(result.step);
      point["error_percent"] = percent_of(row.error, result.step);
      point["compute_us"] = in_us(result.compute);
      point["exposed_us"] = in_us(result.exposed);
      point["idle_us"] = in_us(result.idle());
      point["tokens"] = result.tokens;
      point["memory_gb"] = nullptr;
      if (result.memory > 0) point["memory_gb"] = result.memory / 1e9;
      point["limit"] = result.limit;
      point["cost"] = {
          {"money", nullptr}, {"currency", report.sweep.currency}, {"energy_j", nullptr}};
      if (row.money) point["cost"]["money"] = *row.money;
      if (row.joules) point["cost"]["energy_j"] = *row.joules;
      if (const auto run = report.run_of(row)) {
        point["run"] = {{"days", run->days}, {"money", nullptr}, {"energy_mwh", nullptr}};
        if (run->money) point["run"]["money"] = *run->money;
        if (run->megawatt_hours) point["run"]["energy_mwh"] = *run->megawatt_hours;
      }
    }
    point["simulated_in_s"] = row.wall_s;
    points.push_back(std::move(point));
  }
  Json figures = Json::array();
  for (const study::GivenFigure& one : report.figures) {
    figures.push_back({{"of", one.of},
                       {"what", one.what},
                       {"figure", one.text},
                       {"source", one.source},
                       {"assumed", one.is_assumed}});
  }
  return {{"schema", "ringside.sweep/1"},
          {"name", report.sweep.name},
          {"done", report.done},
          {"points", std::move(points)},
          {"headlines", sweep_headlines(report)},
          {"figures", std::move(figures)},
          {"assumptions", report.assumptions}};
}

}  // namespace ringside::cli
