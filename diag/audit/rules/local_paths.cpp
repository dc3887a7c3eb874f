#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

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

/// Hosts that use other paths than peer-to-peer, while another host uses only that: hosts of one job have equal
/// hardware, so they have lost it.
struct OddHosts {
  std::vector<std::string> names;
  bool has_no_p2p = false;  ///< one of them has no peer-to-peer connection at all
};

OddHosts odd_hosts(const JobFacts& facts) {
  OddHosts odd;
  bool has_good_host = false;
  for (const auto& [host, edges] : local_edges_of_whole(facts)) {
    const bool is_direct = edges.shm + edges.net == 0;
    has_good_host = has_good_host || (is_direct && edges.p2p > 0);
    if (host < 0 || is_direct) continue;
    odd.names.push_back(facts.host_name(host));
    odd.has_no_p2p = odd.has_no_p2p || edges.p2p == 0;
  }
  return has_good_host ? odd : OddHosts{};
}

/// What shared memory between GPUs means in this job.
struct Reading {
  Severity severity = Severity::Info;
  Confidence confidence = Confidence::Medium;
  std::string cause, fix;
};
using MaybeReading = std::optional<Reading>;

MaybeReading of_disabled_p2p(const Findings& findings) {
  if (!findings.has("p2p_disabled", Severity::Warning)) return std::nullopt;
  return Reading{
      findings.find("p2p_disabled")->severity, Confidence::High,
      "peer-to-peer is off, so that all traffic within a host goes through shared memory",
      "switch peer-to-peer on again (p2p_disabled)"};
}

MaybeReading of_odd_hosts(const OddHosts& odd, const LocalEdges& edges) {
  if (odd.names.empty()) return std::nullopt;
  return Reading{
      odd.has_no_p2p ? Severity::Error : Severity::Warning, Confidence::Medium,
      fmt::format("the GPUs of {} communicate through {}, those of the other hosts directly",
                  list_of(odd.names), edges.shm > 0 ? "host memory" : "the network's cards"),
      "nvidia-smi topo -p2p n; nvidia-smi nvlink -s on the hosts named"};
}

MaybeReading of_cut_off_ranks(const JobFacts& facts) {
  const auto cut_off = ranks_cut_off(facts);
  if (cut_off.empty()) return std::nullopt;
  const auto& [host, ranks] = *cut_off.begin();
  return Reading{
      Severity::Warning, Confidence::Medium,
      fmt::format("on {} the GPU of rank {} has no direct path to any other, the rest do",
                  facts.host_name(host), format_ranks(ranks)),
      "nvidia-smi topo -p2p n; nvidia-smi nvlink -s; compare how that process is contained"};
}

MaybeReading of_nvlink(const JobFacts& facts, const LocalEdges& edges) {
  const std::string sign = nvlink_sign(facts);
  if (sign.empty() || edges.shm <= edges.p2p) return std::nullopt;
  return Reading{Severity::Error, Confidence::Medium,
                 "GPUs with NVLink communicate through host memory: " + sign,
                 "nvidia-smi topo -p2p n; containers need a common IPC and PID namespace"};
}

MaybeReading of_switched_gpus(const JobFacts& facts, const LocalEdges& edges) {
  if (edges.p2p == 0 || !has_switched_gpus(facts)) return std::nullopt;
  return Reading{
      Severity::Warning, Confidence::Medium,
      "on boards of this kind every GPU reaches every other over NVLink: some pairs have lost it",
      "nvidia-smi nvlink -s; nvidia-smi topo -p2p n; compare how those processes are contained"};
}

/// GPUs without a path between any pair, of a kind that has one on most machines.
MaybeReading of_absent_paths(const JobFacts& facts, const LocalEdges& edges) {
  const bool may_be_intended = facts.setting("NCCL_P2P_LEVEL") != nullptr || has_pcie_gpus(facts) ||
                               is_desktop(facts) || facts.messages.has(MessageId::ShmFailed);
  if (edges.p2p > 0 || may_be_intended) return std::nullopt;
  return Reading{Severity::Warning, Confidence::Low,
                 "no pair of GPUs of the host has a peer-to-peer path",
                 "nvidia-smi topo -p2p r   # on GPUs without peer access this is as it must be"};
}

/// Returns the first reading that applies: known causes, then comparisons with other hosts and GPUs, then the machine.
Reading read_shared_memory(const JobFacts& facts, const Findings& findings, const OddHosts& odd,
                           const LocalEdges& edges) {
  if (const auto known = of_disabled_p2p(findings)) return *known;
  if (const auto known = of_odd_hosts(odd, edges)) return *known;
  if (const auto known = of_cut_off_ranks(facts)) return *known;
  if (const auto known = of_nvlink(facts, edges)) return *known;
  if (const auto known = of_switched_gpus(facts, edges)) return *known;
  if (const auto known = of_absent_paths(facts, edges)) return *known;
  return {Severity::Info, Confidence::Medium,
          "pairs across PCIe root complexes go through host memory: expected on such a machine",
          "nothing, unless the GPUs have NVLink: nvidia-smi topo -m"};
}

std::string title_of(const LocalEdges& edges) {
  if (edges.p2p == 0) return "all traffic within hosts goes through shared memory";
  if (edges.shm == 0)
    return fmt::format("{} connections within hosts go over the network", edges.net);
  return fmt::format("{} of {} connections within hosts go through shared memory", edges.shm,
                     edges.shm + edges.p2p);
}

}  // namespace

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
      "each with a /dev/shm, IPC or PID namespace of its own";
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
  const OddHosts odd = odd_hosts(facts);
  if (edges.shm == 0 && odd.names.empty()) return;
  Reading reading = read_shared_memory(facts, findings, odd, edges);
  Finding& finding = findings.add("shm_fallback", reading.severity, title_of(edges));
  quote_edges(facts, Via::Shm, findings, finding);
  if (edges.shm == 0) quote_edges_of(facts, odd.names, finding);
  finding.cause = std::move(reading.cause);
  finding.fix = std::move(reading.fix);
  finding.confidence = reading.confidence;
}

}  // namespace ringside::audit
