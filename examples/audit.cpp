// audit LOGS: what is wrong in the debug logs of a job?
#include <ringside/audit.h>

#include <cstdio>

int main(int argc, char** argv) {
  const auto report = ringside::audit_logs({argv + 1, argv + argc});
  if (!report) return std::puts(report.error().message.c_str()), 2;
  for (const ringside::AuditFinding& one : report->findings()) {
    std::printf("%s: %s\n  %zu lines, first %s:%lld\n", one.id.c_str(), one.title.c_str(),
                one.evidence.size(), one.evidence.empty() ? "-" : one.evidence[0].file.c_str(),
                one.evidence.empty() ? 0 : static_cast<long long>(one.evidence[0].line));
  }
}
