#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

void note(Findings& findings, const JobFacts& facts, MessageId id, std::string_view finding_id,
          Severity severity, std::string title, std::string cause, std::string fix,
          std::string reference = {}) {
  const MessageLines& lines = facts.messages[id];
  if (lines.evidence.empty()) return;
  Finding& finding = findings.add(finding_id, severity, std::move(title));
  findings.quote(finding, lines);
  finding.cause = std::move(cause);
  finding.fix = std::move(fix);
  finding.reference = std::move(reference);
}

}  // namespace

void look_for_noise(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  Finding closing;
  for (const MessageId id :
       {MessageId::ProxyPeerGone, MessageId::ProxyAcceptFailed, MessageId::ProxyOperationFailed}) {
    const Evidence evidence = evidence_of(
        messages[id], [](const KeptMessage& message) { return message.level() == Level::Warn; });
    closing.evidence.mix(evidence);
  }
  if (!closing.evidence.empty()) {
    Finding& finding = findings.add("teardown_noise", Severity::Info,
                                    "proxy threads complain while communicators are closed");
    finding.evidence = closing.evidence;
    finding.cause =
        "local processes end at different times: the other's proxy finds its connection closed";
    finding.fix = "nothing; destroy_process_group() on all ranks before they end makes it go away";
  }

  Finding sharp;
  for (const MessageId id : {MessageId::SharpFailed, MessageId::CollNetUnavailable})
    sharp.evidence.mix(messages[id].evidence);
  if (!sharp.evidence.empty()) {
    Finding& finding = findings.add("sharp_unavailable", Severity::Info,
                                    "in-network reduction was asked for and is not there");
    finding.evidence = sharp.evidence;
    finding.reference = "docs/formats 9.4 COLL-01; 4.4; 4.8";
    finding.cause =
        "the SHARP job could not be made: no aggregation manager, or no free resources. NCCL goes "
        "on with rings and trees";
    finding.fix = "NCCL_COLLNET_ENABLE=0, or ask for the fabric's aggregation manager";
  }

  const PlainLines& pmix = facts.plain_of(PlainLine::PmixNoise);
  if (!pmix.evidence.empty()) {
    Finding& finding =
        findings.add("launcher_noise", Severity::Info, "the launcher's PMIx complains");
    finding.evidence = pmix.evidence;
    finding.reference = "docs/formats 4.10";
    finding.cause = "PMIx cannot lock its store; ranks start all the same";
    finding.fix = "PMIX_MCA_gds=hash";
  }

  const MessageLines& mscclpp = messages[MessageId::RcclMscclpp];
  const Evidence off = evidence_of(
      mscclpp, [](const KeptMessage& message) { return message.level() == Level::Warn; });
  if (!off.empty()) {
    Finding& finding = findings.add("rccl_mscclpp_off", Severity::Info, "MSCCL++ is not used");
    finding.evidence = off;
    finding.reference = "docs/formats 4.7";
    finding.cause = "an optional path of RCCL whose conditions are not met";
    finding.fix = "RCCL_MSCCLPP_ENABLE=0 silences it";
  }
  note(findings, facts, MessageId::RcclSystemSetting, "rccl_system_setting", Severity::Warning,
       "settings of the machine that RCCL asks for are missing",
       "the kernel's command line or the environment lacks what AMD recommends",
       "for iommu=pt and amd_iommu=on: add them to the kernel's command line and start the machine "
       "again; for numa_balancing: sudo sysctl kernel.numa_balancing=0, at once");
  note(findings, facts, MessageId::SlurmCancelled, "job_cancelled", Severity::Info,
       "the scheduler ended the job",
       "a time limit, a preemption or a person: what comes later follows from it", "sacct -j <job>",
       "docs/formats 8.5");
}

/// The end of a line is where `/GDRDMA` stands, the last device of a list, the last digits of a value.
void look_for_cut_lines(const JobFacts& facts, Findings& findings) {
  if (facts.cut_at == 0) return;
  Evidence cut;
  for (Finding& finding : findings.all()) {
    if (finding.id != "gdr_missing" && finding.id != "asymmetric_config") continue;
    const bool is_gdr = finding.id == "gdr_missing";
    bool are_all_cut = true, is_any_cut = false;
    for (const QuotedLine& line : finding.evidence.lines()) {
      if (is_gdr && !contains(line.text, " via NET/")) continue;
      const bool is_cut = line.text.size() == facts.cut_at;
      are_all_cut = are_all_cut && is_cut;
      is_any_cut = is_any_cut || is_cut;
      if (is_cut) cut.add(line.place, line.process, line.text);
    }
    if (!is_any_cut || (is_gdr && !are_all_cut)) continue;
    finding.severity = Severity::Info;
    finding.confidence = Confidence::Low;
  }
  if (cut.empty()) return;
  Finding& finding =
      findings.add("truncated_message", Severity::Info,
                   fmt::format("the lines of this log end at {} characters", facts.cut_at));
  finding.evidence = cut;
  finding.cause = "a terminal or a collector cut them: what stands at their end is not known";
  finding.fix = "give audit the files themselves";
}

}  // namespace ringside::audit
