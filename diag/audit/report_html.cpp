#include <fmt/format.h>

#include <algorithm>

#include "base/markup.h"
#include "base/text.h"
#include "diag/audit/findings.h"
#include "diag/audit/report.h"
#include "diag/audit/report_parts.h"
#include "diag/audit/summary.h"

namespace ringside::audit {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>ringside audit</title><style>
:root{color-scheme:light dark;--ink:#222;--soft:#5c5c5c;--page:#fff;--card:#f6f6f6;--code:#ebebeb;--line:#d8d8d8;
--error:#b3202a;--warn:#9a5b00;--info:#5c5c5c;--bar:#4a7db5}
@media(prefers-color-scheme:dark){:root{--ink:#dedede;--soft:#a3a3a3;--page:#171717;--card:#222;--code:#333;
--line:#3c3c3c;--error:#ff7b81;--warn:#f0a940;--info:#a3a3a3;--bar:#5f93cc}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1.2rem 1rem 3rem;color:var(--ink);
background:var(--page);overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0 0 .6rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1.02rem;margin:.2rem 0 .4rem}
article{border-left:.35rem solid var(--line);padding:.5rem 1rem;margin:.9rem 0;background:var(--card)}
article.error{border-color:var(--error)}article.warn{border-color:var(--warn)}article.info{border-color:var(--info)}
.tag{font-size:.78rem;font-weight:700;text-transform:uppercase;letter-spacing:.03em}
.error>h3 .tag{color:var(--error)}.warn>h3 .tag{color:var(--warn)}.info>h3 .tag{color:var(--info)}
.id{font:600 .85rem ui-monospace,monospace;color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.4rem 0}dt{color:var(--soft)}dd{margin:0}
pre{overflow-x:auto;overflow-wrap:normal;background:var(--page);border:1px solid var(--line);padding:.5rem .7rem;
font:.82rem/1.45 ui-monospace,monospace;margin:.5rem 0}
code{font:.88rem ui-monospace,monospace;background:var(--code);padding:.05rem .3rem;border-radius:.2rem}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{text-align:right;padding:.12rem .8rem;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--soft)}td.bar{width:12rem;text-align:left}
@media(max-width:40rem){th.bar,td.bar{display:none}}
.bar div{background:var(--bar);height:.7rem;min-width:1px}
</style></head><body>
)";

void add_field(std::string& page, std::string_view name, const std::string& text) {
  if (!text.empty()) page += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped_markup(text));
}

void add_evidence(const Audit& audit, const Evidence& evidence, std::string& page) {
  if (evidence.empty()) return;
  const auto line_of = [&](const QuotedLine& line) {
    return escaped_markup(fmt::format("{}: {}\n", short_place(audit, line.place), line.text));
  };
  constexpr std::size_t kOpen = 3;
  const std::vector<QuotedLine>& lines = evidence.lines();
  page += "<pre>";
  for (std::size_t i = 0; i < std::min(kOpen, lines.size()); ++i) page += line_of(lines[i]);
  page += "</pre>\n";
  if (lines.size() <= kOpen) return;
  page += fmt::format("<details><summary>{} more of {} such lines</summary><pre>",
                      lines.size() - kOpen, evidence.count());
  for (std::size_t i = kOpen; i < lines.size(); ++i) page += line_of(lines[i]);
  page += "</pre></details>\n";
}

void add_finding(const Audit& audit, std::size_t index, std::string& page) {
  constexpr int kDeepest = 3;  // beyond it a narrow page has no room
  const Finding& finding = audit.findings[index];
  page += fmt::format(
      "<article class=\"{0}\" style=\"margin-left:{1}rem\"><h3><span class=\"tag\">{0}</span> {2}"
      "</h3>\n<span class=\"id\">{3}</span>\n<dl>\n",
      to_string(finding.severity), std::min(depth_of(audit.findings, index), kDeepest) * 1.2,
      escaped_markup(finding.title), escaped_markup(finding.id));
  if (!finding.ranks.empty()) add_field(page, "ranks", format_ranks(finding.ranks));
  if (!finding.hosts.empty()) add_field(page, "hosts", list_of(finding.hosts, 16));
  add_field(page, "cause", finding.cause);
  if (finding.cost) add_field(page, "cost", finding.cost->text);
  if (!finding.fix.empty()) {
    page += fmt::format("<dt>fix</dt><dd><code>{}</code></dd>\n", escaped_markup(finding.fix));
  }
  if (finding.confidence != Confidence::High) {
    add_field(page, "sure", fmt::format("{} confidence", to_string(finding.confidence)));
  }
  page += "</dl>\n";
  add_evidence(audit, finding.evidence, page);
  page += "</article>\n";
}

void add_table(const BenchmarkTable& table, std::string& page) {
  float most = 0;
  bool is_expected = false;
  for (const BenchmarkLine& row : table.rows) {
    most = std::max({most, row.busbw_gbs, row.expected_gbs});
    is_expected = is_expected || row.expected_gbs > 0;
  }
  if (most <= 0) return;
  page += fmt::format(
      "<h3>{}</h3>\n<div class=\"scroll\"><table><tr><th>size</th><th>time us</th><th>busbw "
      "GB/s</th>"
      "{}<th class=\"bar\"></th></tr>\n",
      escaped_markup(table.collective.empty() ? "measured" : table.collective),
      is_expected ? "<th>expected</th><th>of it</th>" : "");
  for (const BenchmarkLine& row : table.rows) {
    page += fmt::format("<tr><td>{}</td><td>{:.1f}</td><td>{:.1f}</td>", near_size_text(row.bytes),
                        row.time_us, row.busbw_gbs);
    if (is_expected && row.expected_gbs > 0) {
      page += fmt::format("<td>{:.1f}</td><td>{:.0f} %</td>", row.expected_gbs,
                          100 * row.busbw_gbs / row.expected_gbs);
    } else if (is_expected) {
      page += "<td></td><td></td>";
    }
    page += fmt::format("<td class=\"bar\"><div style=\"width:{:.1f}%\"></div></td></tr>\n",
                        100 * std::max(row.busbw_gbs, 0.0F) / most);
  }
  page += "</table></div>\n";
  if (is_expected) {
    page += fmt::format("<p>expected: the model's answer for {}</p>\n",
                        escaped_markup(table.expected_of));
  }
}

}  // namespace

std::string report_html(const Audit& audit) {
  std::string page(kHead);
  page += "<h1>ringside audit</h1>\n<dl>\n";
  for (const HeadField& field : head_of(audit)) add_field(page, field.name, field.text);
  add_field(page, "found", counts_text(audit.findings));
  for (const std::string& reason : unread_inputs(audit)) add_field(page, "not read", reason);
  page += "</dl>\n";
  std::size_t notes = 0;
  for (std::size_t i = 0; i < audit.findings.size(); ++i) {
    if (audit.findings[i].severity == Severity::Info) {
      ++notes;
    } else {
      add_finding(audit, i, page);
    }
  }
  if (notes > 0) {
    page +=
        fmt::format("<details{}><summary>{}: true, and nothing to act on at once</summary>\n",
                    notes == audit.findings.size() ? " open" : "", plural(notes, "note", "notes"));
    for (std::size_t i = 0; i < audit.findings.size(); ++i) {
      if (audit.findings[i].severity == Severity::Info) add_finding(audit, i, page);
    }
    page += "</details>\n";
  }
  const bool has_rows =
      std::any_of(audit.facts.tables.begin(), audit.facts.tables.end(),
                  [](const BenchmarkTable& table) { return !table.rows.empty(); });
  constexpr std::size_t kMostTables = 20;
  if (has_rows) page += "<h2>Measured</h2>\n";
  for (std::size_t i = 0; i < std::min(kMostTables, audit.facts.tables.size()); ++i) {
    add_table(audit.facts.tables[i], page);
  }
  page += fmt::format("<h2>The job</h2>\n<pre>{}</pre>\n",
                      escaped_markup(facts_text(audit, {.width = 140})));
  if (audit.facts.world() != nullptr && !audit.facts.world()->links.empty()) {
    page += fmt::format(
        "<details><summary>connections, rank by rank</summary><pre>{}</pre></details>\n",
        escaped_markup(matrix_text(audit, {.width = 140})));
  }
  return page + "</body></html>\n";
}

}  // namespace ringside::audit
