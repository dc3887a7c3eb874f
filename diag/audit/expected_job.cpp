#include "diag/audit/expected_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "base/text.h"
#include "diag/audit/findings.h"
#include "diag/audit/gpu_names.h"
#include "diag/audit/rules/transports.h"
#include "engine/topology/sources/load_hosts.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

std::string gpu_name(const JobFacts& facts) {
  for (const BenchmarkTable& table : facts.tables) {
    if (!table.devices.empty()) return table.devices.front().gpu;
  }
  return {};
}

bool has_multicast(const JobFacts& facts) {
  const auto& lines = facts.messages[MessageId::NvlsSupport].kept;
  return std::any_of(lines.begin(), lines.end(), [](const KeptMessage& message) {
    return contains(message.text(), "support is available");
  });
}

/// A preset, and words of the product name of its GPUs.
struct PresetOfGpu {
  std::string_view words, preset;
};

constexpr PresetOfGpu kPresets[] = {
    {"GB300", "gb300-nvl72"}, {"GB200", "gb200-nvl72"}, {"GH200", "gh200"},   {"H200", "hgx-h200"},
    {"B200", "dgx-b200"},     {"H100", "dgx-h100"},     {"A100", "dgx-a100"}, {"V100", "dgx-1v"},
};

/// The preset of the job.
struct Guess {
  std::string preset;    ///< empty: unknown
  bool is_sure = false;  ///< the logs name the GPU
};

Guess guess_of(const JobFacts& facts) {
  const std::string gpu = gpu_name(facts);
  const int each = ranks_of_a_host(facts);
  constexpr int kBoard = 8, kHalf = 4;  // GPUs of an HGX board, and of one with half of them
  if (const std::string_view preset = preset_of_gpu(gpu); !preset.empty()) {
    const bool is_half = preset == "dgx-a100" && each == kHalf;
    return {is_half ? "perlmutter-a100" : std::string(preset), true};
  }
  if (!gpu.empty()) return {};
  // Without the GPU's name: a common host that has NVLink SHARP, or as many GPUs with connections within the host. Eight
  // GPUs on a host are a board with NVLink in most jobs, also where P2P is off and they use shared memory; four are not.
  if (has_multicast(facts) && each == kBoard) return {"dgx-h100", false};
  if (each == kBoard && local_edges(facts).p2p + local_edges(facts).shm > 0)
    return {"dgx-a100", false};
  if (each == kHalf && local_edges(facts).p2p > 0) return {"perlmutter-a100", false};
  return {};
}

/// The number of RDMA devices that the logs list for a host, and their rate; 0: not listed.
struct ListedNics {
  std::size_t count = 0;
  int mbits = 0;  ///< 0: unknown
};

ListedNics listed_nics(const JobFacts& facts) {
  ListedNics nics;
  for (const HostFacts& host : facts.hosts) {
    const auto listed = host.devices.find("IB");
    if (listed != host.devices.end()) nics.count = std::max(nics.count, listed->second.size());
  }
  for (const KeptMessage& message : facts.messages[MessageId::IbDevice].kept)
    nics.mbits = std::max(nics.mbits, static_cast<int>(message.number("speed", 0)));
  return nics;
}

void for_each_net_list(std::vector<HostPci>& list,
                       const std::function<void(std::vector<HostNet>&)>& change) {
  for (HostPci& pci : list) {
    if (pci.nic) change(pci.nic->nets);
    for_each_net_list(pci.children, change);
  }
}

/// Keeps the ranks of the first GPUs only, as many as the job has on a host.
void keep_ranks(HostPci& pci, int& left) {
  if (pci.gpu) {
    pci.gpu->rank = left > 0 ? pci.gpu->rank : std::nullopt;
    --left;
  }
  for (HostPci& child : pci.children) keep_ranks(child, left);
}

/// Returns the complete dumps, the longest first, because lines may be missing inside a dump without a sign.
std::vector<const TopologyDump*> dumps_of(const JobFacts& facts) {
  std::vector<const TopologyDump*> dumps;
  for (const TopologyDump& dump : facts.dumps) {
    if (dump.is_whole) dumps.push_back(&dump);
  }
  std::stable_sort(dumps.begin(), dumps.end(), [](const TopologyDump* a, const TopologyDump* b) {
    return a->nodes.size() > b->nodes.size();
  });
  return dumps;
}

/// The number of hosts of a job, and of each of its NVLink domains.
struct HostCount {
  int hosts = 1;
  int each_domain = 1;
};

bool has_domains(const JobFacts& facts) {
  const CommFacts* world = facts.world();
  return world != nullptr && world->mnnvl > 0;
}

/// Returns the hosts of a job in which NCCL counts each NVLink domain as one node.
/// gpus     GPUs of a host. If ranks without log lines exist, all GPUs are assumed to have a rank
/// returns  nothing: NCCL counts no domains, or the hosts do not divide evenly among them
std::optional<HostCount> hosts_of_domains(const JobFacts& facts, int gpus) {
  if (!has_domains(facts)) return std::nullopt;
  const CommFacts& world = *facts.world();
  int hosts = static_cast<int>(world.hosts.size());
  const bool are_all_seen =
      static_cast<int>(world.members.size()) == world.nranks &&
      std::ranges::all_of(world.members, [](const Member& member) { return member.host >= 0; });
  if (!are_all_seen && gpus > 0) hosts = std::max(hosts, (world.nranks + gpus - 1) / gpus);
  const int domains = std::max(facts.nodes(), 1);
  if (hosts < domains || hosts % domains != 0) return std::nullopt;
  return HostCount{hosts, hosts / domains};
}

/// Sets the number of hosts to that of the job.
void set_hosts(const JobFacts& facts, Host host, JobHosts& hosts) {
  const auto gpus = static_cast<int>(gpus_of(host).size());
  HostCount count{std::max(facts.nodes(), 1), 1};
  if (const auto of_domains = hosts_of_domains(facts, gpus)) count = *of_domains;
  // If NCCL counts several nodes on one host, each node is dumped separately with its own ranks.
  const CommFacts* world = facts.world();
  if (world != nullptr && !has_domains(facts) && gpus > 0 && world->nranks % gpus == 0) {
    count.hosts = std::max(count.hosts, world->nranks / gpus);
  }
  hosts.hosts_per_nvl_domain = count.each_domain;
  hosts.runs.push_back({std::move(host), count.hosts});
}

/// Sets the latency of EFA devices, which a dump does not contain.
/// source  aws-ofi-nccl, the latency that it reports of EFA; the preset aws-p5 has the same
void set_latency(const JobFacts& facts, Host& host) {
  constexpr double kEfa = 75;  // us
  const std::vector<KeptMessage>& lines = facts.messages[MessageId::OfiProvider].kept;
  const bool is_efa = std::any_of(lines.begin(), lines.end(), [](const KeptMessage& message) {
    return message.argument("provider").starts_with("efa");
  });
  if (!is_efa) return;
  for (HostCpu& cpu : host.cpus) {
    for_each_net_list(cpu.pci, [](std::vector<HostNet>& nets) {
      for (HostNet& net : nets) net.latency_us = kEfa;
    });
  }
}

/// Returns the hosts of a topology dump.  returns  nothing: no dump is complete and valid
std::optional<ExpectedJob> job_of_dump(const JobFacts& facts, const LogRelease& release,
                                       const TopologyRules& rules) {
  for (const TopologyDump* dump : dumps_of(facts)) {
    Result<Host> host = host_of_dump(*dump, rules);
    if (!host) continue;
    set_latency(facts, *host);
    JobHosts hosts;
    set_hosts(facts, *std::move(host), hosts);
    return ExpectedJob{std::move(hosts), "the topology that " + dump->host + " dumped", release};
  }
  return std::nullopt;
}

/// Returns the hosts of a job on a preset. Without a line about NVLink domains, the hosts of a rack are one: the job has
/// as few racks as its hosts divide evenly among, up to twice as many as needed.
/// errors  NotFound: the hosts do not divide evenly among the domains
Result<HostCount> hosts_on_preset(const JobFacts& facts, const std::string& preset, int gpus) {
  constexpr int kRack = 18;  // hosts of a rack: 72 GPUs, 4 in each host
  const int nodes = std::max(facts.nodes(), 1);
  if (const auto of_domains = hosts_of_domains(facts, gpus)) return *of_domains;
  const bool is_shown = has_domains(facts);
  const CommFacts* world = facts.world();
  const bool is_off = world != nullptr && world->mnnvl == 0;
  if (!is_shown && (is_off || !preset.ends_with("nvl72"))) return HostCount{nodes, 1};
  const int needed = (nodes + kRack - 1) / kRack;
  for (int racks = needed; !is_shown && racks <= 2 * needed; ++racks) {
    if (nodes % racks == 0) return HostCount{nodes, nodes / racks};
  }
  return Error{ErrorCode::NotFound,
               is_shown
                   ? fmt::format("the hosts do not divide evenly among {} NVLink domains", nodes)
                   : fmt::format("{} hosts do not divide evenly among racks of {}", nodes, kRack),
               "name the hosts with --cluster"};
}

/// Returns the preset that the GPUs match, reduced to the GPUs and NICs that the logs show.
Result<ExpectedJob> job_of_preset(const JobFacts& facts, const LogRelease& release) {
  const Guess guess = guess_of(facts);
  if (guess.preset.empty()) {
    return Error{ErrorCode::NotFound, "the logs do not show the hardware of the hosts",
                 "name them with --cluster, such as --cluster dgx-h100"};
  }
  RINGSIDE_TRY(JobHosts hosts, load_hosts(guess.preset, 1, 1));
  if (hosts.runs.empty()) return Error{ErrorCode::NotFound, "an empty preset"};
  const auto gpus = static_cast<int>(gpus_of(hosts.runs.front().host).size());
  RINGSIDE_TRY(const HostCount count, hosts_on_preset(facts, guess.preset, gpus));
  hosts.runs.front().count = count.hosts;
  hosts.hosts_per_nvl_domain = count.each_domain;
  const int each =
      has_domains(facts) ? facts.world()->nranks / count.hosts : ranks_of_a_host(facts);
  if (each > gpus) {
    return Error{ErrorCode::NotFound,
                 fmt::format("the logs show {} ranks on a host, but a host of {} has {} GPUs", each,
                             guess.preset, gpus),
                 "name the hosts with --cluster"};
  }
  const ListedNics listed = listed_nics(facts);
  if (listed.count > 0) keep_nics(hosts, listed.count, listed.mbits);
  if (each > 0) {
    int left = each;
    for (HostCpu& cpu : hosts.runs.front().host.cpus) {
      for (HostPci& pci : cpu.pci) keep_ranks(pci, left);
    }
  }
  return ExpectedJob{
      std::move(hosts),
      fmt::format("hosts like {}{}{}", guess.preset, guess.is_sure ? "" : " (assumed)",
                  listed.count > 0 ? fmt::format(" with {}", plural(listed.count, "NIC", "NICs"))
                                   : std::string()),
      release, listed.count > 0 || count.hosts == count.each_domain};
}

}  // namespace

std::string_view preset_of_gpu(std::string_view gpu) {
  if (contains_any(lower_case(gpu), {"pcie", " nvl"})) return {};
  for (const PresetOfGpu& one : kPresets) {
    if (names_gpu(gpu, one.words)) return one.preset;
  }
  return {};
}

void keep_nics(JobHosts& hosts, std::size_t count, int mbits) {
  for (HostRun& run : hosts.runs) {
    std::size_t left = count;
    for (HostCpu& cpu : run.host.cpus) {
      for_each_net_list(cpu.pci, [&](std::vector<HostNet>& nets) {
        if (nets.size() > left) nets.resize(left);
        left -= nets.size();
        for (HostNet& net : nets) {
          if (mbits > 0) net.mbits_per_second = mbits;
        }
      });
    }
  }
}

Result<ExpectedJob> expected_job(const JobFacts& facts, const std::string& cluster) {
  const LogRelease release = release_of(facts);
  RINGSIDE_TRY(const TopologyRules rules, load_topology_rules(release.name));
  // The user's hosts come first, then those of a dump.
  if (!cluster.empty()) {
    const bool has_count = contains(cluster, ':');
    const auto nodes = has_count ? std::nullopt : std::optional(std::max(facts.nodes(), 1));
    RINGSIDE_TRY(JobHosts hosts, load_hosts(cluster, nodes, std::nullopt));
    return ExpectedJob{std::move(hosts), cluster, release};
  }
  if (auto dumped = job_of_dump(facts, release, rules)) return *std::move(dumped);
  return job_of_preset(facts, release);
}

}  // namespace ringside::audit
