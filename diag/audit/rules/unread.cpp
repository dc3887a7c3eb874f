#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

void add_nothing_read(const JobFacts& facts, Findings& findings) {
  Finding& finding =
      findings.add("nothing_read", Severity::Info,
                   fmt::format("none of the {} lines is one of NCCL, RCCL, a plugin or a launcher",
                               facts.lines));
  finding.cause = "this log shows nothing about communication, neither success nor failure";
  finding.fix = "NCCL_DEBUG=INFO   # and give audit the output of all ranks";
}

/// Lowers all findings if their words occur in any program and nothing shows that the program belonged to a job.
void doubt_all(const JobFacts& facts, Findings& findings) {
  for (Finding& finding : findings.all()) {
    finding.severity = Severity::Info;
    finding.confidence = Confidence::Low;
    finding.cause += "; no line here shows that this process belongs to a job";
  }
  add_nothing_read(facts, findings);
}

}  // namespace

/// If a line that was not understood had no finding, the job would look healthy. A warning of the library, or a text
/// that reports trouble, may be the answer; notes of a newer release seldom are, unless there are many.
void look_for_unread_lines(const JobFacts& facts, Findings& findings) {
  if (!facts.is_of_job && facts.lines > 0) return doubt_all(facts, findings);
  const UnreadLines& unread = facts.unread;
  const bool is_explained = findings.has_any(Severity::Error);
  if (!unread.lines.empty()) {
    const bool has_trouble = !unread.warnings.empty() || !unread.texts.empty();
    constexpr std::uint64_t kSeveral = 3;
    const bool is_much =
        (unread.lines.count() >= kSeveral && unread.lines.count() * 5 > facts.stack_lines) ||
        (unread.lines.count() >= facts.stack_lines && findings.all().empty());
    const std::uint64_t stack_lines = facts.stack_lines + unread.lines.count();
    Finding& finding =
        findings.add("unread_lines",
                     (has_trouble && !is_explained) || is_much ? Severity::Warning : Severity::Info,
                     fmt::format("{} of {} lines of the communication stack not understood",
                                 unread.lines.count(), stack_lines),
                     unread.warnings);
    finding.evidence.mix(unread.texts);
    if (finding.evidence.empty()) finding.evidence = unread.lines;
    finding.cause = has_trouble
                        ? "these lines report trouble in words that this audit does not know: what "
                          "they say is in no other finding"
                        : "lines of a release that this audit does not know, or torn ones";
    finding.fix = "read them; ringside audit --explain-unparsed shows all, by shape";
    return;
  }
  if (facts.stack_lines > 0 || !findings.all().empty()) return;
  add_nothing_read(facts, findings);
}

}  // namespace ringside::audit
