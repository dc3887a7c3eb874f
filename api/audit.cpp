#include "ringside/audit.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "diag/audit/audit.h"
#include "diag/audit/cost.h"
#include "diag/report/audit_report.h"

namespace ringside {
namespace {

FindingSeverity severity_of(audit::Severity severity) {
  switch (severity) {
    case audit::Severity::Info:
      return FindingSeverity::Info;
    case audit::Severity::Warning:
      return FindingSeverity::Warning;
    case audit::Severity::Error:
      break;
  }
  return FindingSeverity::Error;
}

AuditFinding finding_of(const audit::Audit& audited, const audit::Finding& one) {
  AuditFinding finding{.id = one.id,
                       .severity = severity_of(one.severity),
                       .title = one.title,
                       .cause = one.cause,
                       .fix = one.fix,
                       .cost = one.cost ? one.cost->text : std::string(),
                       .evidence = {},
                       .ranks = one.ranks,
                       .hosts = one.hosts};
  for (const audit::QuotedLine& line : one.evidence.lines()) {
    const logs::FileLine where = audited.where(line.place);
    finding.evidence.push_back(
        {audited.files.files[where.file].name, static_cast<std::int64_t>(where.line), line.text});
  }
  return finding;
}

}  // namespace

struct AuditReport::Impl {
  audit::Audit audited;
  std::vector<AuditFinding> findings;
};

const std::vector<AuditFinding>& AuditReport::findings() const { return impl_->findings; }
std::string AuditReport::text() const { return audit::report_text(impl_->audited, {}); }
std::string AuditReport::json() const { return to_text(audit::report_json(impl_->audited)); }
std::string AuditReport::html() const { return audit::report_html(impl_->audited); }

Result<AuditReport> audit_logs(const std::vector<std::string>& paths) {
  RINGSIDE_TRY(audit::Audit audited, audit::audit_logs(paths, {}));
  // Without known hosts the findings have no cost; the logs themselves are fine.
  static_cast<void>(audit::add_costs(audited, ""));
  auto impl = std::make_shared<AuditReport::Impl>(AuditReport::Impl{std::move(audited), {}});
  for (const audit::Finding& one : impl->audited.findings)
    impl->findings.push_back(finding_of(impl->audited, one));
  return AuditReport(std::move(impl));
}

}  // namespace ringside
