#include "harness/probe/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "diag/audit/finding_types.h"

namespace ringside::probe {

using audit::Finding;

void Verdicts::add(const char* id, audit::Severity severity, std::string title, std::string cause,
                   std::string fix) {
  RINGSIDE_ASSERT(audit::finding_type(id) != nullptr, "no finding is called {}", id);
  Finding finding{.id = id, .severity = severity, .title = std::move(title)};
  finding.hosts = {host_};
  finding.cause = std::move(cause);
  finding.fix = std::move(fix);
  finding.reference = fmt::format("docs/findings/{}.md", id);
  all_.push_back(std::move(finding));
}

std::vector<Finding> Verdicts::take() {
  std::stable_sort(all_.begin(), all_.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return std::move(all_);
}

}  // namespace ringside::probe
