#include "harness/logs/misconfiguration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"
#include "harness/logs/connections.h"
#include "harness/logs/job_edit.h"

namespace ringside {
namespace {

using Outcome = Result<LogTruth>;

Error cannot(std::string_view reason) {
  return {ErrorCode::Unsupported, fmt::format("such a job cannot have it: {}", reason),
          "give other hosts, more of them, or another version"};
}

LogTruth truth(std::string id, std::string severity, std::string why, std::vector<int> hosts = {},
               std::vector<std::string> consequences = {}) {
  return {.findings = {{std::move(id), std::move(severity), std::move(why), std::move(hosts)}},
          .consequences = std::move(consequences)};
}

void set(LogRequest& request, const std::string& name, const std::string& value) {
  request.settings.push_back({name, value});
  decide_by(request, name, value);
}

#define RINGSIDE_NEEDS(condition, reason) \
  if (!(condition)) return cannot(reason)

/// Changes the request to a job whose hosts have only Ethernet.
void leave_ethernet(LogRequest& request) {
  edit_all_hosts(request, [](Host& host) {
    keep_nets(host, [](const HostNet&) { return false; });
    add_ethernet(host, "eth0", 25'000);
  });
}

Outcome lose_rdma(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one node needs no network");
  RINGSIDE_NEEDS(network_kind(request) != NetworkKind::Socket, "the hosts have Ethernet only");
  leave_ethernet(request);
  return truth("socket_fallback", "error", "no RDMA device or plugin, so NCCL turned to TCP", {},
               {"no_rdma_device", "plugin_missing", "few_channels", "gdr_missing"});
}

Outcome break_plugin(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one node needs no network");
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ofi, "the hosts need no plugin");
  leave_ethernet(request);
  request.broken_plugin =
      "/opt/aws-ofi-nccl/lib/libnccl-net.so: undefined symbol: fi_dupinfo, version FABRIC_1.8";
  return truth("socket_fallback", "error", "the network plugin does not load", {},
               {"plugin_incompatible", "plugin_missing", "net_init_error", "no_rdma_device",
                "few_channels"});
}

Outcome disable_ib(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one node needs no network");
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib, "the hosts have no verbs devices");
  leave_ethernet(request);
  request.settings.push_back({"NCCL_IB_DISABLE", "1"});
  return truth("socket_fallback", "error", "NCCL_IB_DISABLE=1 was left in the environment", {},
               {"env_override", "few_channels"});
}

Outcome lose_gdr(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one node needs no network");
  RINGSIDE_NEEDS(has_gdr(request), "the hosts have no GPUDirect RDMA");
  edit_all_hosts(request, forget_gdr);
  return truth("gdr_missing", "error", "nvidia_peermem is not loaded", {}, {"few_channels"});
}

Outcome lose_gdr_of_one(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one node needs no network");
  RINGSIDE_NEEDS(has_gdr(request), "the hosts have no GPUDirect RDMA");
  const int host = struck_host(request);
  edit_host(request, host, forget_gdr);
  return truth("gdr_missing", "error", "nvidia_peermem is not loaded on one host", {host},
               {"asymmetric_config", "few_channels"});
}

Outcome disable_p2p(LogRequest& request) {
  RINGSIDE_NEEDS(gpus_per_host(request) > 1, "a host has one GPU only");
  set(request, "NCCL_P2P_DISABLE", "1");
  return truth("p2p_disabled", "error", "NCCL_P2P_DISABLE=1 was left in the environment", {},
               {"shm_fallback", "env_override", "few_channels", "nvlink_missing", "gdr_missing",
                "nvls_unavailable"});
}

Outcome refuse_p2p(LogRequest& request) {
  RINGSIDE_NEEDS(request.version.is_from(12), "before 2.12 NCCL is silent about it");
  RINGSIDE_NEEDS(shares_pci_switch(request), "no two GPUs without NVLink share a PCIe switch");
  decide_by(request, "NCCL_P2P_LEVEL", "LOC");
  request.refuses_p2p = true;
  // The log contains the refusal, but not its reason.
  return truth("p2p_disabled", "warn", "PCIe access control keeps the GPUs of a switch apart", {},
               {"pcie_acs", "shm_fallback", "few_channels"});
}

Outcome lose_nvlinks(LogRequest& request) {
  RINGSIDE_NEEDS(count_hosts(request) > 1, "one host has none to be compared with");
  RINGSIDE_NEEDS(has_nvlink(request) && gpus_per_host(request) > 1, "the GPUs have no NVLink");
  RINGSIDE_NEEDS(request.hosts.hosts_per_nvl_domain == 1, "the hosts share an NVLink domain");
  RINGSIDE_NEEDS(!reaches_everywhere(request),
                 "up to 2.22 GPUs of AMD hosts reach each other over PCIe: no line shows it");
  const int host = struck_host(request);
  edit_host(request, host, [](Host& of) {
    for (const HostGpuPlace& place : gpu_places_of(of)) place.gpu->nvlinks.clear();
  });
  return truth("shm_fallback", "error", "one host's NVLinks are down", {host},
               {"nvlink_missing", "asymmetric_config", "few_channels", "nvls_unavailable",
                "gdr_missing", "p2p_disabled"});
}

Outcome break_nvls(LogRequest& request) {
  RINGSIDE_NEEDS(has_nvls(request), "the job has no NVLS");
  request.incident = {.kind = IncidentKind::NvlsBind, .host = struck_host(request)};
  return truth("nvls_unavailable", "error", "the fabric manager refuses multicast groups",
               {request.incident.host}, {"cuda_error"});
}

Outcome lose_nvls_of_one(LogRequest& request) {
  RINGSIDE_NEEDS(has_nvls(request) && count_nodes(request) > 1, "the job has no NVLS to differ in");
  const int host = struck_host(request);
  request.has_partial_nvls = true;
  request.differences[host].lacks_nvls = true;
  return truth("nvls_unavailable", "warn", "one host's fabric manager is not running", {host},
               {"asymmetric_config"});
}

Outcome filter_nics(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one node needs no network");
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib && count_nics(request) > 1,
                 "the hosts have not several verbs devices");
  const std::string first = first_nic(request);
  edit_all_hosts(request, [&first](Host& host) {
    keep_nets(host, [&first](const HostNet& net) { return net.name == first; });
  });
  request.settings.push_back({"NCCL_IB_HCA", "=" + first});
  // Excluded NICs are not even listed, so the log does not show that they exist.
  return truth("env_override", "info", "NCCL_IB_HCA leaves one NIC of several", {},
               {"single_nic", "few_channels", "gdr_missing"});
}

Outcome lose_nic(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1, "one host has none to be compared with");
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib && count_nics(request) > 1,
                 "the hosts have not several verbs devices");
  const int host = struck_host(request);
  edit_host(request, host, [](Host& of) {
    const int last = static_cast<int>(nets_of(of).size()) - 1;
    keep_nets(of, [last](const HostNet& net) { return net.dev != last; });
  });
  return truth("asymmetric_config", "warn", "a port of one host is down", {host},
               {"few_channels", "gdr_missing", "single_nic"});
}

Outcome limit_channels(LogRequest& request) {
  RINGSIDE_NEEDS(has_nvlink(request) && gpus_per_host(request) > 1,
                 "without NVLink so few channels are normal");
  set(request, "NCCL_MAX_NCHANNELS", "1");
  return truth("few_channels", "warn", "NCCL_MAX_NCHANNELS=1 was left in the environment", {},
               {"env_override"});
}

Outcome shorten_ring(LogRequest& request) {
  RINGSIDE_NEEDS(count_ranks(request) > 2, "there are not 3 ranks");
  request.incident = {.kind = IncidentKind::ShortRing, .host = struck_host(request)};
  return truth("short_ring", "error", "the ranks disagree on the rings", {request.incident.host},
               {"asymmetric_config", "bootstrap_failure"});
}

Outcome mix_versions(LogRequest& request) {
  RINGSIDE_NEEDS(count_hosts(request) > 1, "one host has one version");
  RINGSIDE_NEEDS(request.version.is_from(22) ||
                     (gpus_per_host(request) > 1 && request.hosts.hosts_per_nvl_domain == 1),
                 "up to 2.21 only the first rank of a communicator prints its version");
  const int host = struck_host(request);
  const int minor = request.version.minor;
  // Up to 2.21 not every rank prints its version; from 2.22 on all do.
  constexpr int kAllPrint = 22;
  const bool is_older = minor > kOldestLogMinor && minor != kAllPrint;
  const int other = is_older ? minor - 1 : minor + 1;
  RINGSIDE_TRY(request.differences[host].version, parse_nccl_version(fmt::format("2.{}", other)));
  request.incident = {.kind = IncidentKind::OtherVersion, .host = host};
  return truth(
      "version_mismatch", "error", "one host has another release of NCCL", {host},
      {"bootstrap_failure", "asymmetric_config", "mismatched_collective", "missing_ranks"});
}

Outcome mix_variables(LogRequest& request) {
  RINGSIDE_NEEDS(count_hosts(request) > 1, "one host has one environment");
  const int host = struck_host(request);
  // A variable that all ranks print proves that the other variables would also be printed.
  request.settings.push_back({"NCCL_SOCKET_NTHREADS", "4"});
  request.differences[host].settings.push_back({"NCCL_PROTO", "Simple"});
  return truth("asymmetric_config", "error", "NCCL_PROTO is set on one host alone", {host},
               {"env_override"});
}

Outcome force_algorithm(LogRequest& request) {
  set(request, "NCCL_ALGO", "Ring");
  return truth("env_override", "info", "NCCL_ALGO=Ring was left in the environment");
}

Outcome take_wrong_interface(LogRequest& request) {
  RINGSIDE_NEEDS(count_hosts(request) > 1, "one host reaches itself by any interface");
  request.bootstrap = {"docker0", "172.17.0.1"};
  request.incident = {.kind = IncidentKind::NoRoute, .detail = "Connection refused"};
  return truth("wrong_interface", "error", "bootstrap took a bridge that no other host sees", {},
               {"bootstrap_failure", "net_unreachable", "no_rdma_device", "socket_fallback"});
}

Outcome lose_route(LogRequest& request) {
  RINGSIDE_NEEDS(count_hosts(request) > 1, "one host reaches itself");
  request.incident = {.kind = IncidentKind::NoRoute, .detail = "No route to host"};
  return truth("net_unreachable", "error", "the first host cannot be reached", {},
               {"bootstrap_failure", "no_rdma_device", "socket_fallback"});
}

Outcome limit_memlock(LogRequest& request) {
  RINGSIDE_NEEDS(request.version.is_from(12), "before 2.12 NCCL does not print the reason");
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib && count_nodes(request) > 1,
                 "nothing is registered with verbs");
  request.incident = {.kind = IncidentKind::Memlock, .host = struck_host(request)};
  return truth("memlock_limit", "error", "the limit of locked memory is too low",
               {request.incident.host}, {"asymmetric_config"});
}

Outcome lock_device(LogRequest& request) {
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib, "the hosts have no verbs devices");
  request.incident = {
      .kind = IncidentKind::OpenDevice, .host = struck_host(request), .device = "mlx5_bond_0"};
  return truth("ib_device_unusable", "warn", "a device node is missing in the container",
               {request.incident.host}, {"asymmetric_config"});
}

Outcome set_bad_gid(LogRequest& request) {
  RINGSIDE_NEEDS(count_nodes(request) > 1 && is_roce(request), "the hosts have no RoCE");
  request.settings.push_back({"NCCL_IB_GID_INDEX", "7"});
  request.incident = {.kind = IncidentKind::BadGid, .detail = "7"};
  return truth("gid_index", "error", "NCCL_IB_GID_INDEX names no RoCEv2 address", {},
               {"env_override", "ib_error", "net_unreachable"});
}

Outcome fail_completion(LogRequest& request) {
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib && count_nodes(request) > 1,
                 "nothing goes over verbs");
  request.incident = {
      .kind = IncidentKind::Completion, .host = struck_host(request), .device = first_nic(request)};
  return truth("ib_error", "error", "a host stopped answering", {request.incident.host},
               {"remote_closed", "hang_dead_rank"});
}

Outcome flap_link(LogRequest& request) {
  RINGSIDE_NEEDS(network_kind(request) == NetworkKind::Ib && count_nodes(request) > 1,
                 "nothing goes over verbs");
  request.incident = {
      .kind = IncidentKind::LinkFlap, .host = struck_host(request), .device = first_nic(request)};
  return truth("link_flap", "error", "a host's port went down", {request.incident.host},
               {"ib_error", "remote_closed"});
}

Outcome fill_shared_memory(LogRequest& request) {
  RINGSIDE_NEEDS(gpus_per_host(request) > 1, "a host has one rank only");
  request.incident = {.kind = IncidentKind::ShmFull, .host = struck_host(request)};
  return truth("shm_exhausted", "error", "/dev/shm is too small", {request.incident.host},
               {"asymmetric_config", "system_error"});
}

Outcome fill_gpu(LogRequest& request) {
  request.incident = {.kind = IncidentKind::CudaMemory, .host = struck_host(request)};
  return truth("gpu_out_of_memory", "error", "no GPU memory is left for NCCL",
               {request.incident.host}, {"asymmetric_config"});
}

Outcome bind_to_one_core(LogRequest& request) {
  RINGSIDE_NEEDS(gpus_per_host(request) > 1, "a host has one rank only");
  edit_all_hosts(request, [](Host& host) {
    for (HostCpu& cpu : host.cpus) cpu.affinity = "00000001";
  });
  return truth("cpu_affinity", "warn", "the launcher binds all ranks of a host to its first core");
}

Outcome lose_log(LogRequest& request) {
  constexpr int kFewest = 4;
  RINGSIDE_NEEDS(count_ranks(request) >= kFewest, "there are not 4 ranks");
  request.missing_log = count_ranks(request) - 2;
  return truth("missing_ranks", "info", "the log of one rank was not collected");
}

Outcome share_gpu(LogRequest& request) {
  RINGSIDE_NEEDS(gpus_per_host(request) > 1, "a host has one rank only");
  request.incident = {.kind = IncidentKind::DuplicateGpu, .host = struck_host(request)};
  return truth("duplicate_gpu", "error", "two ranks selected one GPU", {request.incident.host});
}

#undef RINGSIDE_NEEDS

/// Returns whether a rank's rings use the network without GPUDirect RDMA.
bool lacks_gdr(const LogJob& job, const CommunicatorLayout& layout, int rank) {
  const LogHost& host = job.host_of(rank);
  const ConnectionRules rules = job.rules(host);
  RankConnections connections{layout, rules, rank};
  return host.network.kind != NetworkKind::Socket &&
         std::ranges::any_of(connections.connect_rings(), [](const ConnectionFacts& made) {
           const bool is_net = made.medium == Medium::NetSend || made.medium == Medium::NetReceive;
           return is_net && !made.is_gdr;
         });
}

struct Entry {
  Misconfiguration listed;
  Outcome (*apply)(LogRequest&);
};

constexpr std::array<Entry, 29> kTable{{
    {{"acs", "PCIe access control: the driver grants no peer access"}, refuse_p2p},
    {{"cuda-memory", "no GPU memory left on one host"}, fill_gpu},
    {{"duplicate-gpu", "two ranks of a host selected one GPU"}, share_gpu},
    {{"env", "a variable that is set on one host alone"}, mix_variables},
    {{"env-override", "NCCL_ALGO=Ring left in the environment"}, force_algorithm},
    {{"few-channels", "NCCL_MAX_NCHANNELS=1 left in the environment"}, limit_channels},
    {{"gdr", "no GPUDirect RDMA: nvidia_peermem is not loaded"}, lose_gdr},
    {{"gdr-one-host", "the same on one host"}, lose_gdr_of_one},
    {{"gid", "NCCL_IB_GID_INDEX names no usable address (RoCE)"}, set_bad_gid},
    {{"ib-device", "an RDMA device that cannot be opened on one host"}, lock_device},
    {{"ib-disable", "NCCL_IB_DISABLE=1 left in the environment"}, disable_ib},
    {{"ib-error", "one host stops answering: retries exhausted"}, fail_completion},
    {{"interface", "bootstrap over docker0"}, take_wrong_interface},
    {{"link-flap", "a port of one host goes down"}, flap_link},
    {{"lost-log", "the log of one rank was not collected"}, lose_log},
    {{"lost-nic", "one host has a NIC less"}, lose_nic},
    {{"memlock", "the limit of locked memory is too low on one host"}, limit_memlock},
    {{"no-route", "the first host cannot be reached"}, lose_route},
    {{"nvlink", "the NVLinks of one host are down"}, lose_nvlinks},
    {{"nvls", "the fabric manager refuses multicast groups"}, break_nvls},
    {{"nvls-one-host", "one host without NVLS"}, lose_nvls_of_one},
    {{"one-core", "all ranks of a host are bound to its first core"}, bind_to_one_core},
    {{"one-nic", "NCCL_IB_HCA leaves one NIC of several"}, filter_nics},
    {{"p2p", "NCCL_P2P_DISABLE=1 left in the environment"}, disable_p2p},
    {{"plugin", "the network plugin does not load"}, break_plugin},
    {{"shm", "/dev/shm is full on one host"}, fill_shared_memory},
    {{"short-ring", "the ranks disagree on the rings"}, shorten_ring},
    {{"socket", "no RDMA device in the containers: TCP instead"}, lose_rdma},
    {{"version", "one host has another release of NCCL"}, mix_versions},
}};

constexpr auto listed_of_table() {
  std::array<Misconfiguration, kTable.size()> listed;
  for (std::size_t i = 0; i < kTable.size(); ++i) listed[i] = kTable[i].listed;
  return listed;
}
constexpr std::array kListed = listed_of_table();

}  // namespace

std::span<const Misconfiguration> misconfigurations() { return kListed; }

Result<LogTruth> misconfigure(std::string_view name, LogRequest& request) {
  const auto entry = std::ranges::find(kTable, name, [](const Entry& e) { return e.listed.name; });
  if (entry == kTable.end()) {
    std::vector<std::string_view> known;
    for (const Misconfiguration& listed : kListed) known.push_back(listed.name);
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown misconfiguration '{}'", name),
                 suggestion(name, known)};
  }
  RINGSIDE_TRY(LogTruth found, entry->apply(request));
  found.misconfiguration = name;
  return found;
}

void add_nature(const LogJob& job, LogTruth& truth) {
  for (const Generation& generation : job.generations()) {
    const LogCommunicator& first = generation.communicators.front();
    if (first.members.size() != job.processes().size()) continue;
    if (first.layout->node_place(0).nnodes < 2) return;
    for (int rank = 0; rank < first.layout->nranks(); ++rank) {
      if (!lacks_gdr(job, *first.layout, rank)) continue;
      truth.consequences.emplace_back("gdr_missing");
      break;
    }
    if (job.hosts().front().network.kind == NetworkKind::Socket) {
      for (const char* id : {"socket_fallback", "no_rdma_device", "plugin_missing"}) {
        truth.consequences.emplace_back(id);
      }
    }
    return;
  }
}

}  // namespace ringside
