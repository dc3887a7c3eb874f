#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
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

bool is_nvls_line(const KeptMessage& message) {
  return contains_any(message.line().substr(0, message.line().find("NCCL WARN")), {"nvls.cc"});
}

void quote_edges(const JobFacts& facts, Via via, Findings& findings, Finding& finding) {
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via == via) findings.quote(finding, edge.said);
  }
}

/// Quotes kept lines of network connections that processes of these hosts printed.
void quote_edges_of(const JobFacts& facts, const std::vector<std::string>& hosts,
                    Finding& finding) {
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via != Via::Net) continue;
    for (const QuotedLine& line : edge.said.evidence.lines()) {
      const std::int32_t host = facts.processes[line.process].host;
      if (host < 0) continue;
      const std::string& name = facts.host_name(host);
      if (std::find(hosts.begin(), hosts.end(), name) != hosts.end()) finding.evidence.add(line);
    }
  }
  finding.hosts = hosts;
}

/// An address that a person has made unreadable (`x.x.x.x`, `<ip>`) identifies no network.
bool is_readable(std::string_view address) {
  const std::string_view number = address.substr(0, address.find_first_of("<%"));
  return number.find_first_of("0123456789") != std::string_view::npos &&
         number.find_first_not_of("0123456789abcdefABCDEF.:") == std::string_view::npos;
}

/// Returns whether the job runs on a workstation: one host with a few GPUs, no RDMA device, and an address of a home
/// or office network. Its cards seldom support peer-to-peer.
bool is_desktop(const JobFacts& facts) {
  constexpr int kFew = 4;
  const auto is_elsewhere = [](const auto& entry) {
    const std::string& address = entry.first.second;
    return is_readable(address) && !address.starts_with("192.168.");
  };
  const bool may_be_at_home =
      !facts.bootstraps.empty() &&
      std::none_of(facts.bootstraps.begin(), facts.bootstraps.end(), is_elsewhere);
  return may_be_at_home && facts.nodes() == 1 && ranks_of_a_host(facts) <= kFew &&
         lacks_rdma_device(facts);
}

/// Reports GPUs without NVLink in nvidia-smi topo -m, if other GPUs of the host or of that type have it.
void look_at_matrices(const JobFacts& facts, Findings& findings) {
  const bool is_board = facts.has_text_of_gpu("SXM") || facts.has_text_of_gpu("HBM3");
  for (const LinkMatrix& matrix : facts.matrices) {
    const std::vector<std::string> linked = matrix.linked_gpus();
    const std::vector<std::string> unlinked = matrix.unlinked_gpus();
    const bool is_some = !linked.empty() && !unlinked.empty();
    const bool is_all = linked.empty() && unlinked.size() > 1 && is_board;
    if (!is_some && !is_all) continue;
    Finding& finding =
        findings.add("nvlink_missing", Severity::Warning,
                     is_all ? fmt::format("no NVLink between the {} GPUs{}", unlinked.size(),
                                          matrix.host.empty() ? "" : " of " + matrix.host)
                            : fmt::format("{} without NVLink, which {} have", list_of(unlinked),
                                          plural(linked.size(), "other GPU", "other GPUs")),
                     matrix.evidence);
    if (!matrix.host.empty()) finding.hosts = {matrix.host};
    // Bridges join pairs of cards: a card without one may be intended.
    finding.confidence = is_all || linked.size() > 2 ? Confidence::High : Confidence::Low;
    if (finding.confidence == Confidence::Low) finding.severity = Severity::Info;
    finding.cause = "links that are down, a bridge that is not seated, or no fabric manager";
    finding.fix = "nvidia-smi nvlink -s; systemctl status nvidia-fabricmanager";
  }
}

}  // namespace

void look_for_p2p_off(const JobFacts& facts, Findings& findings) {
  const Setting* off = p2p_switch(facts);
  if (off != nullptr) {
    const bool matters = ranks_of_a_host(facts) != 1;
    Finding& finding = findings.add(
        "p2p_disabled", matters ? Severity::Error : Severity::Info,
        fmt::format("{}={} switches GPU peer-to-peer off", off->name, off->value), *off);
    finding.cause =
        "the variable is set: NVLink and PCIe peer-to-peer between the GPUs of a host stay unused";
    finding.fix = fmt::format("unset {}", off->name);
    if (off->name == "NCCL_P2P_LEVEL")
      finding.fix += " NCCL_P2P_DISABLE   # up to 2.22 both read as P2P_LEVEL";
  }
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

void look_for_local_sockets(const JobFacts& facts, Findings& findings) {
  const LocalEdges edges = local_edges(facts);
  const bool is_net_alone = edges.net > 0 && edges.p2p + edges.shm == 0;
  const bool is_over_sockets = std::ranges::all_of(facts.edges, [](const EdgeFacts& edge) {
    return edge.via == Via::Net && is_socket(edge.net);
  });
  if (facts.nodes() != 1 || !is_net_alone || !is_over_sockets) return;
  // If a variable disables a path, the variable's finding reports it.
  const Setting* off = facts.setting("NCCL_SHM_DISABLE");
  if (off != nullptr && off->value != "0") return;
  Finding& finding = findings.add("socket_fallback", Severity::Warning,
                                  fmt::format("all {} within the host go over TCP",
                                              plural(edges.net, "connection", "connections")));
  for (const EdgeFacts& edge : facts.edges) finding.evidence.mix(edge.said.evidence);
  finding.cause =
      "TCP was asked for (bench --transport tcp), or the processes share no memory: containers "
      "each "
      "with a /dev/shm, IPC or PID namespace of its own";
  finding.fix = "docker run --ipc=host --pid=host ...; ask for no transport";
  if (const Setting* id = facts.setting("NCCL_HOSTID")) {
    finding.evidence.mix(id->evidence);
    finding.cause = "NCCL_HOSTID is set: processes with different values count as different hosts";
    finding.fix = "unset NCCL_HOSTID, or give the processes of one host the same value";
    // Without the variable NCCL refuses two ranks of one host on one GPU.
    if (do_ranks_share_a_gpu(facts)) {
      finding.cause =
          "ranks share a GPU: NCCL accepts that only while NCCL_HOSTID makes them different hosts";
      finding.fix =
          "keep NCCL_HOSTID while ranks share a GPU; for speed, give each rank its own GPU";
    }
  }
}

void look_for_shm_fallback(const JobFacts& facts, Findings& findings) {
  if (is_without_gpus(facts)) return;
  const LocalEdges edges = local_edges(facts);
  // Hosts of one job have equal hardware: if some use only peer-to-peer, the others have lost it.
  std::vector<std::string> odd_hosts;
  bool has_good_host = false;
  bool has_none = false;  // one of the odd hosts has no direct path at all
  for (const auto& [host, mine] : local_edges_of_whole(facts)) {
    if (mine.p2p > 0 && mine.shm + mine.net == 0) has_good_host = true;
    if (host < 0 || mine.shm + mine.net == 0) continue;
    odd_hosts.push_back(facts.host_name(host));
    has_none = has_none || mine.p2p == 0;
  }
  if (!has_good_host) odd_hosts.clear();
  if (edges.shm == 0 && odd_hosts.empty()) return;
  const Setting* level = facts.setting("NCCL_P2P_LEVEL");
  const std::string nvlink = nvlink_sign(facts);
  const bool is_off = findings.has("p2p_disabled", Severity::Warning);
  const std::map<std::int32_t, std::vector<std::int32_t>> cut_off = ranks_cut_off(facts);
  Severity severity = Severity::Info;
  std::string cause =
      "pairs across PCIe root complexes go through host memory: expected on such a machine";
  std::string fix = "nothing, unless the GPUs have NVLink: nvidia-smi topo -m";
  Confidence confidence = Confidence::Medium;
  if (is_off) {
    severity = findings.find("p2p_disabled")->severity;
    confidence = Confidence::High;
    cause = "peer-to-peer is off, so that all traffic within a host goes through shared memory";
    fix = "switch peer-to-peer on again (p2p_disabled)";
  } else if (!odd_hosts.empty()) {
    severity = has_none ? Severity::Error : Severity::Warning;
    cause = fmt::format("the GPUs of {} communicate through {}, those of the other hosts directly",
                        list_of(odd_hosts), edges.shm > 0 ? "host memory" : "the network's cards");
    fix = "nvidia-smi topo -p2p n; nvidia-smi nvlink -s on the hosts named";
  } else if (!cut_off.empty()) {
    severity = Severity::Warning;
    const auto& [host, ranks] = *cut_off.begin();
    cause = fmt::format("on {} the GPU of rank {} has no direct path to any other, the rest do",
                        facts.host_name(host), format_ranks(ranks));
    fix = "nvidia-smi topo -p2p n; nvidia-smi nvlink -s; compare how that process is contained";
  } else if (!nvlink.empty() && edges.shm > edges.p2p) {
    severity = Severity::Error;
    cause = "GPUs with NVLink communicate through host memory: " + nvlink;
    fix = "nvidia-smi topo -p2p n; containers need a common IPC and PID namespace";
  } else if (edges.p2p > 0 && has_switched_gpus(facts)) {
    severity = Severity::Warning;
    cause =
        "on boards of this kind every GPU reaches every other over NVLink: some pairs have lost it";
    fix = "nvidia-smi nvlink -s; nvidia-smi topo -p2p n; compare how those processes are contained";
  } else if (edges.p2p == 0 && level == nullptr && !has_pcie_gpus(facts) && !is_desktop(facts) &&
             !facts.messages.has(MessageId::ShmFailed)) {
    severity = Severity::Warning;
    confidence = Confidence::Low;
    cause = "no pair of GPUs of the host has a peer-to-peer path";
    fix = "nvidia-smi topo -p2p r   # on GPUs without peer access this is as it must be";
  }
  Finding& finding = findings.add(
      "shm_fallback", severity,
      edges.p2p == 0   ? std::string("all traffic within hosts goes through shared memory")
      : edges.shm == 0 ? fmt::format("{} connections within hosts go over the network", edges.net)
                       : fmt::format("{} of {} connections within hosts go through shared memory",
                                     edges.shm, edges.shm + edges.p2p));
  quote_edges(facts, Via::Shm, findings, finding);
  if (edges.shm == 0) quote_edges_of(facts, odd_hosts, finding);
  finding.cause = cause;
  finding.fix = fix;
  finding.confidence = confidence;
}

void look_for_pcie_acs(const JobFacts& facts, Findings& findings) {
  const PlainLines& refused = facts.plain_of(PlainLine::IommuFault);
  if (!refused.evidence.empty()) {
    Finding& finding =
        findings.add("pcie_acs", Severity::Warning, "the IOMMU refuses a device's access to memory",
                     refused.evidence);
    finding.confidence = Confidence::Medium;
    finding.cause =
        "a GPU or NIC wrote to an address that the IOMMU does not map: peer-to-peer and GPUDirect "
        "need it off or in passthrough";
    finding.fix = "lspci -s <the device named>; iommu=pt on the kernel's line, ACS off in the BIOS";
  }
  // A benchmark that started and printed nothing, on PCIe GPUs with peer-to-peer: the copies do not arrive, because
  // the IOMMU or ACS redirects them.
  if (facts.nodes() > 1 || local_edges(facts).p2p == 0 || !nvlink_sign(facts).empty()) return;
  if (!has_pcie_gpus(facts)) return;
  const bool is_stuck =
      std::any_of(facts.tables.begin(), facts.tables.end(), [](const BenchmarkTable& table) {
        return table.rows.empty() && table.has_heading && !table.is_concluded;
      });
  const bool is_wrong =
      std::any_of(facts.tables.begin(), facts.tables.end(), [](const BenchmarkTable& table) {
        return std::any_of(table.rows.begin(), table.rows.end(),
                           [](const BenchmarkLine& row) { return row.wrong >= 1; });
      });
  const bool has_timed_out = facts.messages.has(MessageId::WatchdogTimeout);
  if (!is_stuck && !is_wrong && !has_timed_out) return;
  if (facts.messages.has(MessageId::CudaFailure)) return;
  Finding& finding =
      findings.add("pcie_acs", has_timed_out && !is_stuck ? Severity::Warning : Severity::Error,
                   "peer-to-peer over PCIe does not deliver: the job connects and then hangs");
  for (const EdgeFacts& edge : facts.edges) {
    const bool is_p2p = edge.via == Via::P2pIpc || edge.via == Via::P2pCumem ||
                        edge.via == Via::P2pDirect || edge.via == Via::P2pCommon;
    if (is_p2p) findings.quote(finding, edge.said);
  }
  finding.confidence = Confidence::Medium;
  finding.cause = "PCIe ACS or a translating IOMMU redirects peer-to-peer copies between the GPUs";
  finding.fix =
      "NCCL_P2P_DISABLE=1 to confirm; then intel_iommu=off or iommu=pt on the kernel's line, ACS "
      "off in the BIOS";
}

/// Hosts of a job have equal hardware: if some see NVLink, a host that sees none has lost it.
void compare_nvlinks(const JobFacts& facts, Findings& findings) {
  const auto has_nvlink = [](const TopologyDump& dump) {
    return std::any_of(dump.nodes.begin(), dump.nodes.end(),
                       [](const DumpedNode& node) { return node.link == "NVL"; });
  };
  const auto gpus_of = [](const TopologyDump& dump) {
    return std::count_if(dump.nodes.begin(), dump.nodes.end(), [](const DumpedNode& node) {
      return node.type == "GPU" && node.link != "NVL";
    });
  };
  const auto good = std::find_if(facts.dumps.begin(), facts.dumps.end(), has_nvlink);
  if (good == facts.dumps.end()) return;
  Finding draft;
  for (const TopologyDump& dump : facts.dumps) {
    const bool is_alike = dump.is_whole && gpus_of(dump) == gpus_of(*good) && gpus_of(dump) > 1;
    if (!is_alike || has_nvlink(dump) || dump.host == good->host) continue;
    draft.evidence.mix(dump.evidence);
    draft.hosts.push_back(dump.host);
  }
  if (draft.hosts.empty()) return;
  Finding& finding = findings.add(
      "nvlink_missing", Severity::Error,
      fmt::format("no NVLink on {}, while {} has it", list_of(draft.hosts), good->host), draft);
  finding.cause = "links that are down, or a fabric manager that is not running on these hosts";
  finding.fix = "nvidia-smi nvlink -s; systemctl status nvidia-fabricmanager on the hosts named";
}

void look_for_missing_nvlink(const JobFacts& facts, Findings& findings) {
  look_at_matrices(facts, findings);
  if (facts.dumps.empty() || findings.has("nvlink_missing")) return;
  if (facts.nodes() > 1) return compare_nvlinks(facts, findings);
  const bool is_linkable = facts.has_text_of_gpu("A100") || facts.has_text_of_gpu("H100") ||
                           facts.has_text_of_gpu("H200") || facts.has_text_of_gpu("V100") ||
                           facts.has_text_of_gpu("A30") || facts.has_text_of_gpu("B200") ||
                           facts.has_text_of_gpu("A6000") || facts.has_text_of_gpu("A40");
  if (!is_linkable) return;
  for (const TopologyDump& dump : facts.dumps) {
    std::set<std::string> gpus, linked;
    std::string under;
    for (const DumpedNode& node : dump.nodes) {
      if (node.type == "GPU" && node.link != "NVL") {
        gpus.insert(node.id);
        under = node.id;
      }
      if (node.link == "NVL") linked.insert(under);
    }
    if (gpus.size() < 2 || linked.size() == gpus.size() || !dump.is_whole) continue;
    // A single pair is joined by a bridge. With more GPUs of which only some are linked, one has lost its links.
    const bool is_proof = facts.has_text_of_gpu("SXM") || !linked.empty() || gpus.size() == 2;
    Finding& finding = findings.add(
        "nvlink_missing", is_proof ? Severity::Warning : Severity::Info,
        linked.empty() ? fmt::format("no NVLink between the {} GPUs of {}", gpus.size(), dump.host)
                       : fmt::format("{} of {} GPUs of {} have no NVLink",
                                     gpus.size() - linked.size(), gpus.size(), dump.host),
        dump.evidence);
    for (const PatternFact& pattern : facts.patterns) {
      if (pattern.type_intra != "NVL" && pattern.type_intra != "NVB") {
        finding.evidence.mix(pattern.evidence);
      }
    }
    finding.hosts = {dump.host};
    finding.confidence =
        linked.empty() && !facts.has_text_of_gpu("SXM") ? Confidence::Low : Confidence::High;
    if (is_proof && facts.has_text_of_gpu("SXM")) finding.severity = Severity::Error;
    finding.cause =
        "a bridge that is not seated, links that are down, or a fabric manager that is not running";
    finding.fix = "nvidia-smi nvlink -s; nvidia-smi topo -m";
  }
}

void look_for_nvls_troubles(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  Finding draft;
  std::vector<std::uint32_t> who;
  // If the line has no source location of its own, its error is returned through the functions of the file.
  const bool returns_through_it =
      std::any_of(facts.results.begin(), facts.results.end(), [](const auto& result) {
        const std::vector<QuotedLine>& lines = result.second.evidence.lines();
        return std::any_of(lines.begin(), lines.end(),
                           [](const QuotedLine& line) { return contains(line.text, "nvls.cc"); });
      });
  const auto is_of_nvls = [&](const KeptMessage& message) {
    const bool has_place = contains(message.line(), ".cc:");
    return message.level() == Level::Warn &&
           (is_nvls_line(message) || (returns_through_it && !has_place));
  };
  for (const KeptMessage& message : messages[MessageId::CudaFailure].kept) {
    if (is_of_nvls(message)) who.push_back(message.process());
  }
  draft.evidence = evidence_of(messages[MessageId::CudaFailure], is_of_nvls);
  const MessageLines& bind = messages[MessageId::NvlsBindFailed];
  const auto is_fatal = [](const KeptMessage& message) { return message.level() == Level::Warn; };
  draft.evidence.mix(evidence_of(bind, is_fatal));
  for (const KeptMessage& message : bind.kept) {
    if (is_fatal(message)) who.push_back(message.process());
  }
  if (!draft.evidence.empty()) {
    Finding& finding = findings.add("nvls_unavailable", Severity::Error,
                                    "NVLink SHARP is offered and fails when it is set up", draft);
    findings.say_who(finding, who);
    finding.cause =
        "the fabric manager or the NVSwitches are in a state that gives no multicast memory: "
        "restarted "
        "without a GPU reset, leaked by dead processes, or a partition";
    finding.fix =
        "systemctl restart nvidia-fabricmanager and nvidia-smi -r; NCCL_NVLS_ENABLE=0 goes on "
        "without, slower";
    return;
  }
  if (!bind.evidence.empty()) {
    Finding& finding =
        findings.add("nvls_unavailable", Severity::Warning,
                     "NVLink SHARP memory did not bind; the job continues without it", bind);
    finding.cause = "multicast memory is used up or its fabric manager is in a bad state";
    finding.fix = "end leaked processes; systemctl restart nvidia-fabricmanager";
    return;
  }

  // If only some hosts support it: hosts of one type should agree.
  std::set<std::int32_t> with, without;
  const MessageLines& support = messages[MessageId::NvlsSupport];
  for (const KeptMessage& message : support.kept) {
    const std::int32_t host = facts.processes[message.process()].host;
    if (message.is_torn() || host < 0 || !contains(message.text(), "multicast support")) continue;
    (contains(message.text(), "not available") ? without : with).insert(host);
  }
  for (const std::int32_t host : with) without.erase(host);
  const Setting* enable = facts.setting("NCCL_NVLS_ENABLE");
  const bool is_off = enable != nullptr && enable->value == "0";
  if (!with.empty() && !without.empty() && !is_off) {
    Finding& finding = findings.add("nvls_unavailable", Severity::Warning,
                                    "NVLink SHARP is available on some hosts only");
    finding.evidence = evidence_of(support, [](const KeptMessage& message) {
      return contains(message.text(), "not available");
    });
    for (const std::int32_t host : without) {
      finding.hosts.push_back(facts.host_name(host));
    }
    finding.cause = "the fabric managers of these hosts are not in the same state";
    finding.fix = "systemctl restart nvidia-fabricmanager on the hosts named";
    return;
  }
  const bool is_hopper = facts.has_text_of_gpu("H100 80GB HBM3") || facts.has_text_of_gpu("H200") ||
                         facts.has_text_of_gpu("B200");
  constexpr int kWholeBoard = 8;
  const Setting* cumem = facts.setting("NCCL_CUMEM_ENABLE");
  if (with.empty() && !without.empty() && !is_off && is_hopper &&
      ranks_of_a_host(facts) == kWholeBoard && (cumem == nullptr || cumem->value != "0")) {
    Finding& finding = findings.add("nvls_unavailable", Severity::Warning,
                                    "NVLink SHARP is not available on a machine that has it");
    finding.evidence = evidence_of(support, [](const KeptMessage&) { return true; });
    finding.confidence = Confidence::Medium;
    finding.cause = "the fabric manager, the driver, MIG or a virtual machine gives no multicast";
    finding.fix = "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 Fabric";
  }
}

void look_for_broken_handles(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  // An import of another host's memory handle was refused, on machines whose NVLink connects hosts.
  const bool spans_hosts =
      !evidence_of(messages[MessageId::MnnvlState],
                   [](const KeptMessage& message) { return message.number("mnnvl", 0) > 0; })
           .empty() ||
      std::any_of(facts.comms.begin(), facts.comms.end(),
                  [](const CommFacts& comm) { return comm.mnnvl > 0; });
  const Evidence refused =
      evidence_of(messages[MessageId::CudaFailure], [&](const KeptMessage& message) {
        return spans_hosts && is_warning(message) &&
               contains_any(message.text(), {"not permitted", "NOT_PERMITTED"});
      });
  if (messages.has(MessageId::MnnvlUnavailable) || !refused.empty()) {
    Finding& finding =
        findings.add("mnnvl_unavailable", refused.empty() ? Severity::Warning : Severity::Error,
                     "NVLink between hosts exists but does not work");
    if (messages.has(MessageId::MnnvlUnavailable))
      findings.quote(finding, messages[MessageId::MnnvlUnavailable]);
    finding.evidence.mix(refused);
    finding.cause =
        "nvidia-imex is not running, its list of nodes is wrong, or its channel is not in the "
        "container";
    finding.fix =
        "systemctl status nvidia-imex; nvidia-imex-ctl -N; pass /dev/nvidia-caps-imex-channels";
  }
}

}  // namespace ringside::audit
