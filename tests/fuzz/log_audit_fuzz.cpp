#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "diag/audit/audit.h"
#include "diag/audit/cost.h"
#include "diag/report/audit_report.h"

/// Feeds a whole log to the audit and the report: each finding has a name and quotes lines of the log.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::audit;
  constexpr std::size_t kMost = 64 << 10;
  if (size > kMost) return 0;
  Audit audit = audit_text({reinterpret_cast<const char*>(data), size});
  // Hosts as a damaged dump contains them: the model answers, or returns the reason why it cannot.
  const auto costs = add_costs(audit, "");
  RINGSIDE_ASSERT(costs || !costs.error().message.empty(), "an error without words");
  for (const Finding& finding : audit.findings) {
    RINGSIDE_ASSERT(!finding.id.empty() && !finding.title.empty(), "a finding without a name");
  }
  RINGSIDE_ASSERT(!report_text(audit, {}).empty(), "nothing to say");
  facts_text(audit, {});
  matrix_text(audit, {});
  return 0;
}
