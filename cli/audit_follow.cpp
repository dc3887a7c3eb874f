#include "cli/audit_follow.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <thread>

#include "diag/audit/audit.h"
#include "diag/audit/live_audit.h"

namespace ringside::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void interrupt(int) { g_interrupted = 1; }

}  // namespace

VerbResult follow_logs(const std::vector<std::string>& logs, const audit::TextStyle& style) {
  RINGSIDE_TRY(const auto live, audit::LiveAudit::make(logs));
  g_interrupted = 0;
  std::signal(SIGINT, interrupt);
  std::set<std::string> told;
  while (g_interrupted == 0) {
    if (live->poll().value == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds{500});
      continue;
    }
    const audit::Audit now = live->judge();
    for (const audit::Finding& finding : now.findings) {
      if (finding.severity < audit::Severity::Warning || !told.insert(finding.id).second) continue;
      fmt::print("{}: {}: {}\n", audit::to_string(finding.severity), finding.id, finding.title);
      if (!finding.fix.empty()) fmt::print("  fix: {}\n", finding.fix);
    }
    std::fflush(stdout);
  }
  std::signal(SIGINT, SIG_DFL);
  live->finish();
  const audit::Audit all = live->judge();
  fmt::print("\n{}", audit::report_text(all, style));
  return all.worst() >= audit::Severity::Warning ? kFinding : kFine;
}

}  // namespace ringside::cli
