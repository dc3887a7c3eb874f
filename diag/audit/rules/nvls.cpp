#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns whether the source location before `NCCL WARN` is in nvls.cc.
bool is_nvls_line(const KeptMessage& message) {
  return contains(message.line().substr(0, message.line().find("NCCL WARN")), "nvls.cc");
}

bool is_fatal(const KeptMessage& message) { return message.level() == Level::Warn; }

/// Returns whether an error went up the call stack through a function of nvls.cc.
bool returns_through_nvls(const JobFacts& facts) {
  return std::ranges::any_of(facts.results, [](const auto& result) {
    return std::ranges::any_of(result.second.evidence.lines(), [](const QuotedLine& line) {
      return contains(line.text, "nvls.cc");
    });
  });
}

/// Reports that NVLink SHARP fails when it is set up, which ends the job.
/// returns  whether it does
bool look_for_failed_setup(const JobFacts& facts, Findings& findings) {
  // A CUDA failure without a source location of its own is of NVLS if its error returns through nvls.cc.
  const bool returns_through_it = returns_through_nvls(facts);
  const auto is_of_nvls = [&](const KeptMessage& message) {
    const bool has_place = contains(message.line(), ".cc:");
    return is_fatal(message) && (is_nvls_line(message) || (returns_through_it && !has_place));
  };
  Finding draft;
  findings.quote(draft, facts.messages[MessageId::CudaFailure], is_of_nvls);
  findings.quote(draft, facts.messages[MessageId::NvlsBindFailed], is_fatal);
  if (draft.evidence.empty()) return false;
  Finding& finding = findings.add("nvls_unavailable", Severity::Error,
                                  "NVLink SHARP is offered and fails when it is set up", draft);
  finding.cause =
      "the fabric manager or the NVSwitches are in a state that gives no multicast memory: "
      "restarted without a GPU reset, leaked by dead processes, or a partition";
  finding.fix =
      "systemctl restart nvidia-fabricmanager and nvidia-smi -r; NCCL_NVLS_ENABLE=0 goes on "
      "without, slower";
  return true;
}

/// Reports that memory did not bind and the job continued without NVLink SHARP.
/// returns  whether it did
bool look_for_failed_bind(const JobFacts& facts, Findings& findings) {
  const MessageLines& bind = facts.messages[MessageId::NvlsBindFailed];
  if (bind.evidence.empty()) return false;
  Finding& finding =
      findings.add("nvls_unavailable", Severity::Warning,
                   "NVLink SHARP memory did not bind; the job continues without it", bind);
  finding.cause = "multicast memory is used up or its fabric manager is in a bad state";
  finding.fix = "end leaked processes; systemctl restart nvidia-fabricmanager";
  return true;
}

/// Hosts by what their lines report on multicast. A host with lines of both kinds has it.
struct Multicast {
  std::set<std::int32_t> with, without;
};

bool lacks_multicast(const KeptMessage& message) {
  return contains(message.text(), "not available");
}

Multicast multicast_of(const JobFacts& facts) {
  Multicast hosts;
  for (const KeptMessage& message : facts.messages[MessageId::NvlsSupport].kept) {
    const std::int32_t host = facts.processes[message.process()].host;
    if (message.is_torn() || host < 0 || !contains(message.text(), "multicast support")) continue;
    (lacks_multicast(message) ? hosts.without : hosts.with).insert(host);
  }
  for (const std::int32_t host : hosts.with) hosts.without.erase(host);
  return hosts;
}

/// Reports hosts without multicast, while others have it: hosts of one job should be equal.
void report_hosts_without_multicast(const JobFacts& facts, const Multicast& hosts,
                                    Findings& findings) {
  Finding& finding = findings.add("nvls_unavailable", Severity::Warning,
                                  "NVLink SHARP is available on some hosts only");
  finding.evidence = evidence_of(facts.messages[MessageId::NvlsSupport], lacks_multicast);
  for (const std::int32_t host : hosts.without) finding.hosts.push_back(facts.host_name(host));
  finding.cause = "the fabric managers of these hosts are not in the same state";
  finding.fix = "systemctl restart nvidia-fabricmanager on the hosts named";
}

/// Reports that no host has multicast, on a machine that should.
void report_missing_multicast(const JobFacts& facts, Findings& findings) {
  Finding& finding = findings.add("nvls_unavailable", Severity::Warning,
                                  "NVLink SHARP is not available on a machine that has it");
  finding.evidence =
      evidence_of(facts.messages[MessageId::NvlsSupport], [](const KeptMessage&) { return true; });
  finding.confidence = Confidence::Medium;
  finding.cause = "the fabric manager, the driver, MIG or a virtual machine gives no multicast";
  finding.fix = "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 Fabric";
}

/// Returns whether the job has whole boards of GPUs that multicast over NVSwitch.
/// source  NCCL 2.30.7 init.cc: from compute capability 9.0 on, with NVSwitch
bool has_multicast_boards(const JobFacts& facts) {
  constexpr std::array<std::string_view, 3> kNames{"H100 80GB HBM3", "H200", "B200"};
  constexpr int kWholeBoard = 8;  // GPUs
  return facts.has_text_of_any_gpu(kNames) && ranks_of_a_host(facts) == kWholeBoard;
}

/// Returns whether the variable is set to 0.
bool is_switched_off(const JobFacts& facts, std::string_view variable) {
  const Setting* setting = facts.setting(variable);
  return setting != nullptr && setting->value == "0";
}

}  // namespace

void look_for_nvls_troubles(const JobFacts& facts, Findings& findings) {
  if (look_for_failed_setup(facts, findings) || look_for_failed_bind(facts, findings)) return;
  const Multicast hosts = multicast_of(facts);
  if (hosts.without.empty() || is_switched_off(facts, "NCCL_NVLS_ENABLE")) return;
  if (!hosts.with.empty()) {
    report_hosts_without_multicast(facts, hosts, findings);
  } else if (has_multicast_boards(facts) && !is_switched_off(facts, "NCCL_CUMEM_ENABLE")) {
    report_missing_multicast(facts, findings);
  }
}

}  // namespace ringside::audit
