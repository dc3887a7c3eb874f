#include "cli/sweep/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/markup.h"
#include "base/text.h"
#include "base/wording.h"
#include "cli/sweep/sweep_plots.h"
#include "cli/sweep/sweep_tables.h"
#include "diag/report/page.h"

namespace ringside::cli {
namespace {

using report::Page;
using study::SweepBest;
using study::SweepReport;
using study::SweepRow;

/// A chart with more bars is not readable.
constexpr std::size_t kMostBars = 40;

constexpr std::string_view kStyle = R"(
:root{--compute:#4a7db5;--exposed:#d55e00;--idle:#b9b9b9;--best:#e7f2e4}
@media(prefers-color-scheme:dark){:root{--compute:#5f93cc;--exposed:#e8803c;--idle:#6b6b6b;--best:#22381f}}
h1{max-width:56rem;line-height:1.3;margin-bottom:1.1rem}
.answers{display:flex;flex-wrap:wrap;gap:.9rem;margin:0 0 1rem}
.answer{flex:1 1 17rem;background:var(--card);border-top:.3rem solid var(--compute);padding:.7rem 1rem}
.answer .what{color:var(--soft);font-size:.85rem}.answer .who{font-size:1.12rem;font-weight:650;margin:.1rem 0}
.answer .figure{font-size:1.6rem;font-weight:650;line-height:1.2}.answer .next{color:var(--soft);font-size:.88rem}
figure{margin:.6rem 0 1.6rem}figcaption{color:var(--soft);font-size:.88rem;max-width:52rem}
td,th{padding:.14rem .5rem;font-size:.9rem}td:first-child,th:first-child{text-align:left}th{white-space:normal;overflow-wrap:normal;
vertical-align:bottom}.assumed{color:var(--warn);font-size:.82rem}tr.best td{background:var(--best)}td.what{text-align:left}td.text{text-align:left;white-space:normal}
li{margin:.15rem 0}footer{margin-top:2.5rem;color:var(--soft);font-size:.85rem}
@media print{body{max-width:none}figure,.answer,tr{break-inside:avoid}}
)";

std::string percent(Seconds part, Seconds all) {
  return fmt::format("{:.0f}", all > Seconds{} ? 100 * (part / all) : 0);
}

std::string error_text(const SweepRow& row) {
  const double share = row.error / row.result->step;
  return share < 0.001 ? "" : fmt::format("± {:.2g} %", 100 * share);
}

/// A card: the question, the point, the figure, and further figures.
struct Card {
  std::string what, figure, details;
  const char* more;  ///< comparison with the next point: slower, more expensive
};

void answer(Page& page, const SweepReport& report, const SweepBest& best, const Card& card) {
  std::string lines = escaped_markup(card.details);
  if (best.second) {
    lines += lines.empty() ? "" : "<br>";
    lines += escaped_markup(rivals_text(report, best, card.more));
  }
  page += fmt::format(
      "<div class=\"answer\"><div class=\"what\">{}</div><div class=\"who\">{}</div><div "
      "class=\"figure\">{}</div><div class=\"next\">{}</div></div>\n",
      escaped_markup(card.what), escaped_markup(report.label(report.rows[best.row])),
      escaped_markup(card.figure), lines);
}

/// The figure of a whole run if the sweep gives its length; a step's figure is next to it.
void answers_of(Page& page, const SweepReport& report, const study::WorkloadReport& one) {
  const std::string run_words =
      report.sweep.tokens ? " for " + in_words(report.sweep.tokens->value) + " tokens" : "";
  const std::string work = std::string(" for ") + report.work();
  const SweepRow& fastest = report.rows[one.fastest->row];
  const std::string time =
      format_time(Seconds{report.per_work(fastest, fastest.result->step.count())});
  if (const auto run = report.run_of(fastest)) {
    answer(page, report, *one.fastest,
           {"fastest" + run_words, short_number(run->days) + " days",
            fmt::format("{}{} {}", time, work, error_text(fastest)), "slower"});
  } else {
    answer(page, report, *one.fastest, {"fastest" + work, time, error_text(fastest), "slower"});
  }
  if (one.cheapest) {
    const SweepRow& row = report.rows[one.cheapest->row];
    const std::string money =
        fmt::format("{} {}", short_number(report.per_work(row, *row.money)), report.sweep.currency);
    const auto run = report.run_of(row);
    answer(
        page, report, *one.cheapest,
        run ? Card{"cheapest" + run_words, short_number(*run->money) + " " + report.sweep.currency,
                   money + work, "dearer"}
            : Card{"cheapest" + work, money, "", "dearer"});
  }
  if (one.leanest) {
    const SweepRow& row = report.rows[one.leanest->row];
    const std::string energy =
        fmt::format("{} MJ", short_number(report.per_work(row, *row.joules) / 1e6));
    const auto run = report.run_of(row);
    answer(page, report, *one.leanest,
           run ? Card{"least energy" + run_words, short_number(*run->megawatt_hours) + " MWh",
                      energy + work, "more"}
               : Card{"least energy" + work, energy, "", "more"});
  }
}

void answers(Page& page, const SweepReport& report) {
  for (const study::WorkloadReport& one : report.workloads) {
    if (!one.fastest) continue;
    if (!one.name.empty()) page += fmt::format("<h2>{}</h2>\n", escaped_markup(one.name));
    page += "<div class=\"answers\">\n";
    answers_of(page, report, one);
    page += "</div>\n";
  }
}

void figure(Page& page, const std::string& picture, const std::string& caption) {
  if (picture.empty()) return;
  page += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", picture,
                      escaped_markup(caption));
}

void pictures(Page& page, const SweepReport& report) {
  for (const study::WorkloadReport& one : report.workloads) {
    std::vector<std::size_t> rows = one.rows;
    if (rows.empty()) continue;
    const std::string of = one.name.empty() ? std::string{} : fmt::format(" ({})", one.name);
    page += fmt::format("<h2>Where the time goes{}</h2>\n", escaped_markup(of));
    std::string cut_off;
    const std::size_t all = rows.size();
    if (all > kMostBars) {
      rows.resize(kMostBars);
      cut_off = fmt::format(" The fastest {} of {} points.", kMostBars, all);
    }
    figure(page, step_bars(report, rows),
           "The whisker is the typical error: the median over comparable systems." + cut_off);
    if (const std::string plot = money_plot(report, rows); !plot.empty()) {
      page += fmt::format("<h2>Time against money{}</h2>\n", escaped_markup(of));
      figure(
          page, plot,
          "The dashed line joins points that no other one beats in both. Error bars are those of "
          "the time; the money follows from it and from the prices below.");
    }
    for (std::size_t axis = 0; axis < report.sweep.vary.size(); ++axis) {
      const std::string plot = setting_plot(report, axis, one.rows);
      if (plot.empty()) continue;
      page += fmt::format("<h2>Over {}{}</h2>\n", escaped_markup(report.sweep.vary[axis].key),
                          escaped_markup(of));
      figure(page, plot, "");
    }
  }
}

/// Returns whether any row has the figure.
bool has(const SweepReport& report, std::optional<double> SweepRow::*figure) {
  return std::ranges::any_of(report.rows,
                             [figure](const SweepRow& row) { return (row.*figure).has_value(); });
}

void table(Page& page, const SweepReport& report) {
  const bool has_money = has(report, &SweepRow::money);
  const bool has_energy = has(report, &SweepRow::joules);
  const bool has_runs = report.sweep.tokens.has_value();
  const bool has_memory = has_memory_column(report);
  const bool has_tokens = std::ranges::any_of(
      report.rows, [](const SweepRow& row) { return row.is_finished() && row.result->tokens > 0; });
  const auto head = [&page](const std::string& words) { page += "<th>" + words + "</th>"; };
  page += "<h2>All points</h2>\n<div class=\"scroll\"><table><tr>";
  for (const char* const words :
       {"point", "GPUs", "hosts", "a step", "error", "compute %", "exposed %", "waiting %"}) {
    head(words);
  }
  const std::string currency = escaped_markup(report.sweep.currency);
  if (has_memory) head("GB a GPU");
  if (has_tokens) head("tokens/s");
  if (has_money) head(currency + " a step");
  if (has_energy) head("MJ a step");
  if (has_runs) {
    head("days in all");
    if (has_money) head("1000 " + currency + " in all");
    if (has_energy) head("MWh in all");
  }
  page += "</tr>\n";
  const auto row_of = [&](const SweepRow& row, bool is_best) {
    const PointResult& result = *row.result;
    const auto cell = [&page](const std::string& text) { page += "<td>" + text + "</td>"; };
    page += is_best ? "<tr class=\"best\">" : "<tr>";
    cell(escaped_markup(report.full_label(row)));
    cell(std::to_string(result.ranks));
    cell(std::to_string(result.hosts));
    cell(format_time(result.step));
    cell(error_text(row));
    cell(percent(result.compute, result.step));
    cell(percent(result.exposed, result.step));
    cell(percent(result.idle(), result.step));
    if (has_memory) cell(memory_text(result));
    if (has_tokens)
      cell(result.tokens > 0 ? short_number(result.tokens / result.step.count()) : "");
    if (has_money) cell(row.money ? short_number(*row.money) : "");
    if (has_energy) cell(row.joules ? short_number(*row.joules / 1e6) : "");
    if (has_runs) {
      const auto run = report.run_of(row);
      cell(run ? short_number(run->days) : "");
      if (has_money) cell(run && run->money ? short_number(*run->money / 1000) : "");
      if (has_energy) cell(run && run->megawatt_hours ? short_number(*run->megawatt_hours) : "");
    }
    page += "</tr>\n";
  };
  for (const study::WorkloadReport& one : report.workloads) {
    for (const std::size_t i : one.rows) row_of(report.rows[i], one.fastest->row == i);
  }
  page += "</table></div>\n";
  if (has_runs) {
    page += fmt::format("<p class=\"next\">in all: {} tokens</p>\n",
                        in_words(report.sweep.tokens->value));
  }
}

/// The figures that the file gives, and their sources.
void figures(Page& page, const SweepReport& report) {
  page += "<h2>Figures that were given</h2>\n<div class=\"scroll\"><table>\n";
  const std::string* before = nullptr;
  for (const study::GivenFigure& one : report.figures) {
    const bool is_new = before == nullptr || *before != one.of;
    page += fmt::format(
        "<tr><td>{}</td><td class=\"what\">{}</td><td class=\"text\">{}</td><td "
        "class=\"text\">{}{}</td></tr>\n",
        is_new ? escaped_markup(one.of) : "", escaped_markup(one.what), escaped_markup(one.text),
        one.is_assumed ? "<span class=\"assumed\">assumed</span> " : "",
        escaped_markup(one.source));
    before = &one.of;
  }
  page += "</table></div>\n";
}

void limits(Page& page, const SweepReport& report) {
  page +=
      "<h2>What limits</h2>\n<details><summary>the calls that take most time, of each point"
      "</summary><div class=\"scroll\"><table>";
  for (const SweepRow& row : report.rows) {
    if (!row.is_finished() || row.result->limit.empty()) continue;
    page += fmt::format("<tr><td>{}</td><td class=\"text\">{}</td></tr>\n",
                        escaped_markup(report.full_label(row)), escaped_markup(row.result->limit));
  }
  page += "</table></div></details>\n";
}

void without_time(Page& page, const SweepReport& report) {
  if (report.finished == report.rows.size()) return;
  page += "<h2>Points without a time</h2>\n<div class=\"scroll\"><table>";
  for (const SweepRow& row : report.rows) {
    if (row.is_finished()) continue;
    page +=
        fmt::format("<tr><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
                    escaped_markup(report.full_label(row)),
                    row.result ? to_string(row.result->end) : "not done yet",
                    row.result ? escaped_markup(row.result->reason) : "");
  }
  page += "</table></div>\n";
}

}  // namespace

std::string sweep_page(const SweepReport& report) {
  const std::string& question = report.sweep.about.empty() ? report.sweep.name : report.sweep.about;
  Page page(report.sweep.name + ": ringside sweep", question, kStyle);
  answers(page, report);
  if (report.finished == 0) page += "<p>No point has a time.</p>\n";
  pictures(page, report);
  table(page, report);
  without_time(page, report);
  limits(page, report);
  page += "<h2>Clusters</h2>\n";
  page.begin_fields();
  for (const study::SweepCluster& cluster : report.sweep.clusters) {
    page.field(escaped_markup(cluster.name), cluster.about.empty() ? cluster.on : cluster.about);
  }
  page.end_fields();
  figures(page, report);
  page += "<h2>Other assumptions</h2>\n<ul>\n";
  for (const std::string& one : report.assumptions) {
    page += fmt::format("<li>{}</li>\n", escaped_markup(one));
  }
  page += fmt::format(
      "</ul>\n<footer>{} of {} points, from {} by: ringside sweep. Next to this page: points.csv, "
      "points.json, results.sqlite.</footer>\n",
      report.done, report.rows.size(), escaped_markup(report.sweep.where));
  return std::move(page).finish();
}

}  // namespace ringside::cli
