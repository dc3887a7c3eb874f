#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/finding_types.h"
#include "diag/report/audit_report.h"
#include "diag/report/finding_pages.h"
#include "diag/report/hang_report.h"

namespace ringside::audit {

std::string findings_index() {
  std::string text =
      "# Findings\n\n"
      "What `ringside audit` reports, by id; `ringside audit --about ID` prints a page. The tests "
      "hold this index and "
      "the\npages to the table of ids (`diag/audit/finding_types.cpp`).\n\n"
      "| id | at most | does | is |\n|---|---|---|---|\n";
  for (const FindingType& type : finding_types()) {
    text += fmt::format(
        "| [{}]({}.md) | {} | {} | {}{} |\n", type.id, type.id, to_string(type.most),
        to_string(type.effect), type.summary,
        type.family.empty() ? std::string() : fmt::format(" (a kind of `{}`)", type.family));
  }
  return text;
}

Result<std::string> about_text(std::string_view id) {
  if (id == "all") return findings_index();
  const auto page = std::find_if(kFindingPages.begin(), kFindingPages.end(),
                                 [&](const FindingPage& one) { return one.name == id; });
  if (page == kFindingPages.end() || id == "README") {
    return Error{ErrorCode::InvalidArgument, fmt::format("no finding is called '{}'", id),
                 "ringside audit --about all lists them"};
  }
  return std::string(page->text);
}

}  // namespace ringside::audit

namespace ringside::hang {

Result<std::string_view> page_of(std::string_view kind) {
  constexpr std::string_view kPrefix = "hang_";
  std::string known;
  for (const FindingPage& page : kFindingPages) {
    if (!page.name.starts_with(kPrefix)) continue;
    const std::string_view name = page.name.substr(kPrefix.size());
    if (name == kind) return page.text;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("no page about '{}'", kind),
               "there are " + known};
}

}  // namespace ringside::hang
