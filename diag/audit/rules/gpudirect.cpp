#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Finds `GPU Direct RDMA Disabled for HCA` of networks that support it.
Finding disabled_hcas(const JobFacts& facts, const Findings& findings) {
  Finding draft;
  for (const auto& [key, said] : facts.gdr_of_hca) {
    if (!key.second && !hides_gdr(key.first)) findings.quote(draft, said);
  }
  return draft;
}

void explain(const JobFacts& facts, bool has_disabled, Finding& finding) {
  const Setting* level = facts.setting("NCCL_NET_GDR_LEVEL");
  const Setting* peermem = facts.setting("NCCL_IB_CUDA_SUPPORT");
  if (level != nullptr && (level->value == "LOC" || level->value == "0")) {
    finding.evidence.mix(level->evidence);
    finding.cause = "NCCL_NET_GDR_LEVEL=" + level->value + " switches GPUDirect RDMA off";
    finding.fix = "unset NCCL_NET_GDR_LEVEL";
    return;
  }
  if (peermem != nullptr && peermem->value == "0") {
    finding.evidence.mix(peermem->evidence);
    finding.cause = "NCCL_IB_CUDA_SUPPORT=0 switches GPUDirect RDMA off";
    finding.fix = "unset NCCL_IB_CUDA_SUPPORT";
    return;
  }
  if (has_disabled) {
    finding.cause =
        "NCCL sees neither the nvidia-peermem module nor DMA-BUF; before 2.23 it looks for "
        "nv_peer_mem's file names only, and a container may hide /sys/kernel/mm/memory_peers";
    finding.fix = "modprobe nvidia-peermem   # on every host, then start the containers again";
    return;
  }
  for (const LinkMatrix& matrix : facts.matrices) {
    const MatrixCell nearest = matrix.to_nearest_nic();
    if (matrix.nics() == 0 || nearest.reach <= DeviceReach::Pxb) continue;
    finding.evidence.mix(matrix.evidence);
    finding.cause = fmt::format(
        "between the GPUs and their nearest NICs nvidia-smi topo -m has {}: beyond PXB NCCL does "
        "without GPUDirect RDMA",
        to_string(nearest));
    finding.fix =
        "use NICs on the GPUs' PCIe switches; NCCL_NET_GDR_LEVEL=PHB or SYS where the processor "
        "forwards such requests at full rate";
    return;
  }
  if (facts.messages.has(MessageId::OfiVersion) || facts.networks.count("AWS Libfabric") > 0 ||
      facts.networks.count("Libfabric") > 0) {
    finding.cause =
        "the distance between GPU and NIC is beyond NCCL's default, or the provider does not "
        "register GPU memory";
    finding.fix = "NCCL_NET_GDR_LEVEL=PHB   # then look for /GDRDMA in the channel lines";
    return;
  }
  finding.cause =
      "the peer memory module is missing, or GPU and NIC are too far apart in the topology";
  finding.fix =
      "modprobe nvidia-peermem; NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH shows which of the two it is";
}

/// Quotes the plugin or RCCL, which report it before any connection.
void quote_plugins(const JobFacts& facts, Findings& findings) {
  Finding draft;
  for (const MessageId id : {MessageId::OfiNoGdr, MessageId::RcclNoGdr}) {
    if (facts.messages.has(id)) findings.quote(draft, facts.messages[id]);
  }
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("gdr_missing", Severity::Warning,
                                  "the library reports that GPUDirect RDMA is off", draft);
  explain(facts, true, finding);
}

}  // namespace

void look_for_missing_gdr(const JobFacts& facts, Findings& findings) {
  const Finding disabled = disabled_hcas(facts, findings);
  const bool has_disabled = !disabled.evidence.empty();
  if (facts.nodes() < 2) {
    // On one node it does not matter, and an excerpt does not show the number of nodes.
    if (!has_disabled) return is_size_unknown(facts) ? quote_plugins(facts, findings) : void();
    Finding& finding = findings.add("gdr_unavailable_info", Severity::Info,
                                    "GPUDirect RDMA is off; nothing leaves the host", disabled);
    finding.cause = "on one node no data goes over the NICs";
    finding.fix = "nothing to do; modprobe nvidia-peermem before the job grows";
    return;
  }
  const NetEdges edges = net_edges(facts);
  if (edges.plain() == 0) {
    // With lazy connections, only the HCA lines show it, provided that the network in use is that of the HCAs.
    const bool is_theirs = std::any_of(facts.networks.begin(), facts.networks.end(),
                                       [](const auto& entry) { return !hides_gdr(entry.first); });
    if (edges.all() > 0) return;
    if (!has_disabled || !is_theirs) return quote_plugins(facts, findings);
  }
  if (has_consumer_gpus(facts)) return;  // their driver does not allow NICs access
  // Older GPUs send through host memory by default: for them only receives are evidence.
  const bool only_sends = edges.plain_receives == 0 && edges.gdr_receives > 0;
  const bool is_most = edges.plain() * 2 >= edges.all();
  if (!is_most && edges.plain_processes.empty()) return;
  const Severity severity = only_sends     ? Severity::Info
                            : has_disabled ? Severity::Error
                                           : Severity::Warning;
  Finding& finding = findings.add(
      "gdr_missing", severity,
      only_sends ? std::string("GPUDirect RDMA on the receiving side only")
                 : fmt::format("{} of {} ends of connections between hosts without GPUDirect RDMA",
                               edges.plain(), edges.all()));
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via == Via::Net && !edge.gdr && !hides_gdr(edge.net))
      finding.evidence.mix(edge.said.evidence);
  }
  findings.add_processes(finding, edges.plain_processes);
  finding.evidence.mix(disabled.evidence);
  if (finding.ranks.empty()) finding.ranks = disabled.ranks;
  explain(facts, has_disabled, finding);
  const CommFacts* world = facts.world();
  if (world != nullptr && finding.ranks.size() > 1 &&
      finding.ranks.size() < static_cast<std::size_t>(std::max(world->nranks, 0)))
    finding.cause +=
        "; the ranks named are those whose own connections leave their host without it";
  if (only_sends) {
    finding.cause =
        "GPUs before compute capability 8.0 without NVLink are read through the host by default";
    finding.fix = "NCCL_NET_GDR_READ=1   # try it; it is slower on some machines";
  }
}

}  // namespace ringside::audit
