#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns the setting that disables peer-to-peer; nullptr: none.
const Setting* p2p_switch(const JobFacts& facts) {
  for (const Setting& setting : facts.environment) {
    if (setting.name == "NCCL_P2P_DISABLE" && setting.value != "0") return &setting;
    if (setting.name == "NCCL_P2P_LEVEL" && (setting.value == "LOC" || setting.value == "0")) {
      return &setting;
    }
  }
  return nullptr;
}

/// Reports a variable that disables peer-to-peer.
void look_at_switch(const JobFacts& facts, Findings& findings) {
  const Setting* off = p2p_switch(facts);
  if (off == nullptr) return;
  const bool matters = ranks_of_a_host(facts) != 1;
  Finding& finding =
      findings.add("p2p_disabled", matters ? Severity::Error : Severity::Info,
                   fmt::format("{}={} switches GPU peer-to-peer off", off->name, off->value), *off);
  finding.cause =
      "the variable is set: NVLink and PCIe peer-to-peer between the GPUs of a host stay unused";
  finding.fix = fmt::format("unset {}", off->name);
  if (off->name == "NCCL_P2P_LEVEL")
    finding.fix += " NCCL_P2P_DISABLE   # up to 2.22 both read as P2P_LEVEL";
}

/// Reports GPUs between which the driver refuses peer access, over NVLink and over PCIe.
void look_at_driver(const JobFacts& facts, Findings& findings) {
  const MessageLines& nvlink = facts.messages[MessageId::P2pDisabledOnNvlink];
  const MessageLines& pcie = facts.messages[MessageId::P2pDisabledByDriver];
  if (!nvlink.evidence.empty()) {
    Finding& finding =
        findings.add("p2p_disabled", Severity::Error,
                     "the driver refuses peer access between GPUs joined by NVLink", nvlink);
    finding.cause =
        "an NVLink or driver fault, a fabric manager that is not running, MIG or a vGPU";
    finding.fix =
        "nvidia-smi topo -p2p r; nvidia-smi nvlink -s; systemctl status nvidia-fabricmanager";
  }
  if (!pcie.evidence.empty()) {
    Finding& finding =
        findings.add("p2p_disabled", has_consumer_gpus(facts) ? Severity::Info : Severity::Warning,
                     "the driver offers no peer access between connected GPUs", pcie);
    finding.confidence = Confidence::Medium;
    finding.cause = "PCIe ACS or an IOMMU, virtualisation, or a GPU class without peer access";
    finding.fix =
        "nvidia-smi topo -p2p r; turn ACS off in the switches (setpci), iommu=pt on the kernel's "
        "line";
  }
}

/// Reports accesses that the IOMMU refused.
void look_at_iommu(const JobFacts& facts, Findings& findings) {
  const PlainLines& refused = facts.plain_of(PlainLine::IommuFault);
  if (refused.evidence.empty()) return;
  Finding& finding =
      findings.add("pcie_acs", Severity::Warning, "the IOMMU refuses a device's access to memory",
                   refused.evidence);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "a GPU or NIC wrote to an address that the IOMMU does not map: peer-to-peer and GPUDirect "
      "need it off or in passthrough";
  finding.fix = "lspci -s <the device named>; iommu=pt on the kernel's line, ACS off in the BIOS";
}

/// Returns whether a benchmark began a table and printed no row.
bool has_stuck_table(const JobFacts& facts) {
  return std::ranges::any_of(facts.tables, [](const BenchmarkTable& table) {
    return table.rows.empty() && table.has_heading && !table.is_concluded;
  });
}

/// Returns whether a benchmark found wrong data.
bool has_wrong_rows(const JobFacts& facts) {
  return std::ranges::any_of(facts.tables, [](const BenchmarkTable& table) {
    return std::ranges::any_of(table.rows, [](const BenchmarkLine& row) { return row.wrong >= 1; });
  });
}

/// Returns whether the job uses peer-to-peer over PCIe alone.
bool uses_p2p_over_pcie(const JobFacts& facts) {
  return facts.nodes() <= 1 && local_edges(facts).p2p > 0 && nvlink_sign(facts).empty() &&
         has_pcie_gpus(facts);
}

}  // namespace

void look_for_p2p_off(const JobFacts& facts, Findings& findings) {
  look_at_switch(facts, findings);
  look_at_driver(facts, findings);
}

/// Reports peer-to-peer over PCIe whose copies do not arrive, because the IOMMU or ACS redirects them: the job connects,
/// and then hangs, times out or has wrong data. A CUDA failure would explain that, too.
void look_for_pcie_acs(const JobFacts& facts, Findings& findings) {
  look_at_iommu(facts, findings);
  if (!uses_p2p_over_pcie(facts) || facts.messages.has(MessageId::CudaFailure)) return;
  const bool is_stuck = has_stuck_table(facts);
  const bool has_timed_out = facts.messages.has(MessageId::WatchdogTimeout);
  if (!is_stuck && !has_timed_out && !has_wrong_rows(facts)) return;
  Finding& finding =
      findings.add("pcie_acs", has_timed_out && !is_stuck ? Severity::Warning : Severity::Error,
                   "peer-to-peer over PCIe does not deliver: the job connects and then hangs");
  for (const EdgeFacts& edge : facts.edges) {
    if (is_p2p(edge.via)) findings.quote(finding, edge.said);
  }
  finding.confidence = Confidence::Medium;
  finding.cause = "PCIe ACS or a translating IOMMU redirects peer-to-peer copies between the GPUs";
  finding.fix =
      "NCCL_P2P_DISABLE=1 to confirm; then intel_iommu=off or iommu=pt on the kernel's line, ACS "
      "off in the BIOS";
}

}  // namespace ringside::audit
