#include <fmt/format.h>

#include "base/markup.h"
#include "base/text.h"
#include "diag/audit/findings.h"
#include "diag/audit/report.h"
#include "diag/audit/summary.h"

namespace ringside::audit {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>ringside audit</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
article{border-left:.4rem solid #999;padding:.2rem 1rem;margin:1rem 0;background:#f7f7f7}
.error{border-color:#c0262d}.warn{border-color:#d98200}.info{border-color:#8a8a8a}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin:.4rem 0}.tag{font-size:.8rem;font-weight:600;text-transform:uppercase}
pre{overflow-x:auto;background:#fff;border:1px solid #ddd;padding:.5rem;font-size:.82rem;margin:.5rem 0}
dt{float:left;clear:left;width:5rem;color:#666}dd{margin-left:5.5rem}code{background:#eee;padding:0 .2rem}
@media(prefers-color-scheme:dark){body{background:#171717;color:#ddd}article{background:#222}pre{background:#111;border-color:#333}code{background:#333}}
</style></head><body>
)";

void add_field(std::string& page, std::string_view name, const std::string& text) {
  if (!text.empty()) page += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped_markup(text));
}

int depth_of(const std::vector<Finding>& findings, std::size_t index) {
  int depth = 0;
  for (auto at = findings[index].caused_by; at; at = findings[*at].caused_by) ++depth;
  return depth;
}

}  // namespace

std::string report_html(const Audit& audit) {
  const JobFacts& facts = audit.facts;
  std::string page(kHead);
  page += fmt::format("<h1>ringside audit</h1>\n<p>{}, {}; {}, {} lines</p>\n",
                      escaped_markup(versions_text(facts)), escaped_markup(size_text(facts)),
                      plural(audit.files.files.size(), "file", "files"), audit.parsed.counts.lines);
  if (audit.findings.empty()) page += "<p>Nothing was found.</p>\n";
  for (std::size_t i = 0; i < audit.findings.size(); ++i) {
    const Finding& finding = audit.findings[i];
    page += fmt::format(
        "<article class=\"{0}\" style=\"margin-left:{1}rem\"><h2><span class=\"tag\">{0}</span> "
        "<code>{2}</code> {3}</h2>\n<dl>\n",
        to_string(finding.severity), depth_of(audit.findings, i) * 2, escaped_markup(finding.id),
        escaped_markup(finding.title));
    if (!finding.ranks.empty()) add_field(page, "ranks", format_ranks(finding.ranks));
    if (!finding.hosts.empty()) add_field(page, "hosts", list_of(finding.hosts, 16));
    add_field(page, "cause", finding.cause);
    if (finding.cost) add_field(page, "cost", finding.cost->text);
    if (!finding.fix.empty())
      page += fmt::format("<dt>fix</dt><dd><code>{}</code></dd>\n", escaped_markup(finding.fix));
    page += "</dl>\n";
    if (!finding.evidence.empty()) {
      page += "<pre>";
      for (const QuotedLine& line : finding.evidence.lines()) {
        page += escaped_markup(fmt::format("{}: {}\n", audit.place_text(line.place), line.text));
      }
      if (finding.evidence.count() > finding.evidence.lines().size())
        page += fmt::format("... {} such lines\n", finding.evidence.count());
      page += "</pre>\n";
    }
    page += "</article>\n";
  }
  page += fmt::format("<h1>The job</h1>\n<pre>{}</pre>\n</body></html>\n",
                      escaped_markup(facts_text(audit, {.width = 140})));
  return page;
}

}  // namespace ringside::audit
