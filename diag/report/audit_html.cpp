#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/markup.h"
#include "base/text.h"
#include "base/wording.h"
#include "diag/audit/summary.h"
#include "diag/report/audit_parts.h"
#include "diag/report/audit_report.h"
#include "diag/report/page.h"

namespace ringside::audit {
namespace {

using report::Page;

void add_evidence(const Audit& audit, const Evidence& evidence, Page& page) {
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

void add_finding(const Audit& audit, std::size_t index, Page& page) {
  constexpr int kDeepest = 3;  // deeper nesting does not fit on a narrow page
  const Finding& finding = audit.findings[index];
  page += fmt::format(
      "<article class=\"{0}\" style=\"margin-left:{1}rem\"><h3><span class=\"tag\">{0}</span> {2}"
      "</h3>\n<span class=\"id\">{3}</span>\n<dl>\n",
      to_string(finding.severity), std::min(depth_of(audit.findings, index), kDeepest) * 1.2,
      escaped_markup(finding.title), escaped_markup(finding.id));
  if (!finding.ranks.empty()) page.field("ranks", format_ranks(finding.ranks));
  if (!finding.hosts.empty()) page.field("hosts", list_of(finding.hosts, 16));
  page.field("cause", finding.cause);
  if (finding.cost) page.field("cost", finding.cost->text);
  if (!finding.fix.empty()) {
    page += fmt::format("<dt>fix</dt><dd><code>{}</code></dd>\n", escaped_markup(finding.fix));
  }
  if (finding.confidence != Confidence::High) {
    page.field("sure", fmt::format("{} confidence", to_string(finding.confidence)));
  }
  page += "</dl>\n";
  add_evidence(audit, finding.evidence, page);
  page += "</article>\n";
}

void add_table(const BenchmarkTable& table, Page& page) {
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
  Page page("ringside audit", "ringside audit");
  page.begin_fields();
  for (const HeadField& field : head_of(audit)) page.field(field.name, field.text);
  page.field("found", counts_text(audit.findings));
  for (const std::string& reason : unread_inputs(audit)) page.field("not read", reason);
  page.end_fields();
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
  page += "<h2>The job</h2>\n";
  page.box(facts_text(audit, {.width = 140}));
  if (audit.facts.world() != nullptr && !audit.facts.world()->links.empty()) {
    page += fmt::format(
        "<details><summary>connections, rank by rank</summary><pre>{}</pre></details>\n",
        escaped_markup(matrix_text(audit, {.width = 140})));
  }
  return std::move(page).finish();
}

}  // namespace ringside::audit
