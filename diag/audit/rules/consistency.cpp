#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Variables that must not differ between ranks, on any host.
constexpr auto kMustAgree = std::to_array<std::string_view>({"NCCL_ALGO",
                                                             "NCCL_PROTO",
                                                             "NCCL_MIN_NCHANNELS",
                                                             "NCCL_MAX_NCHANNELS",
                                                             "NCCL_MIN_CTAS",
                                                             "NCCL_MAX_CTAS",
                                                             "NCCL_BUFFSIZE",
                                                             "NCCL_NTHREADS",
                                                             "NCCL_P2P_DISABLE",
                                                             "NCCL_P2P_LEVEL",
                                                             "NCCL_SHM_DISABLE",
                                                             "NCCL_IB_DISABLE",
                                                             "NCCL_NET",
                                                             "NCCL_CUMEM_ENABLE",
                                                             "NCCL_LAUNCH_MODE",
                                                             "NCCL_IB_QPS_PER_CONNECTION",
                                                             "NCCL_IB_SPLIT_DATA_ON_QPS",
                                                             "NCCL_NVLS_ENABLE",
                                                             "NCCL_COLLNET_ENABLE",
                                                             "NCCL_NET_GDR_LEVEL",
                                                             "NCCL_NET_GDR_READ",
                                                             "NCCL_IB_GID_INDEX",
                                                             "NCCL_IB_TC",
                                                             "NCCL_IB_SL",
                                                             "NCCL_CROSS_NIC",
                                                             "NCCL_LL_BUFFSIZE",
                                                             "NCCL_LL128_BUFFSIZE",
                                                             "NCCL_P2P_NET_CHUNKSIZE",
                                                             "NCCL_MNNVL_ENABLE",
                                                             "NCCL_PXN_DISABLE"});

/// Returns the entry with the fewest elements.
template <typename Map>
auto rarest_of(const Map& elements_by_key) {
  return std::ranges::min_element(elements_by_key, {},
                                  [](const auto& entry) { return entry.second.size(); });
}

/// Returns the processes of the largest communicators.
std::vector<std::uint32_t> processes_of(const JobFacts& facts) {
  std::vector<std::uint32_t> all;
  for (const CommFacts& comm : facts.comms) {
    if (comm.nranks < facts.comms.front().nranks) break;
    for (const Member& member : comm.members) all.push_back(member.process);
  }
  sort_once(all);
  return all;
}

void compare_networks(const JobFacts& facts, Findings& findings) {
  for (const CommFacts& comm : facts.comms) {
    std::map<std::string, std::vector<std::uint32_t>> by_net;
    for (const Member& member : comm.members) {
      if (member.network < facts.nets.size())
        by_net[facts.nets[member.network]].push_back(member.process);
    }
    if (by_net.size() < 2 || comm.nodes() < 2) continue;
    const auto fewest = rarest_of(by_net);
    std::vector<std::string> names;
    for (const auto& [name, processes] : by_net) names.push_back(name);
    Finding& finding = findings.add(
        "asymmetric_config", Severity::Error,
        fmt::format("ranks of one communicator use different networks: {}", list_of(names)));
    for (const std::string& name : names) {
      const auto said = facts.networks.find(name);
      if (said != facts.networks.end()) finding.evidence.mix(said->second.evidence);
    }
    findings.add_processes(finding, fewest->second);
    finding.cause = fmt::format(
        "{} has another network than the rest: plugin, devices or variables differ", fewest->first);
    finding.fix = "use one image and one set of variables on all hosts";
    return;
  }
}

void compare_devices(const JobFacts& facts, Findings& findings) {
  std::map<std::size_t, std::vector<std::string>> hosts_by_count;
  std::set<std::size_t> gpus;
  const CommFacts* world = facts.world();
  if (world == nullptr || world->nodes() < 2) return;
  for (const std::int32_t index : world->hosts) {
    const HostFacts& host = facts.hosts[static_cast<std::size_t>(index)];
    const auto devices = host.devices.find("IB");
    if (devices == host.devices.end() || devices->second.empty()) continue;
    hosts_by_count[devices->second.size()].push_back(host.name);
    gpus.insert(host.gpus.size());
  }
  if (hosts_by_count.size() > 1 && gpus.size() == 1) {
    const auto least = hosts_by_count.begin();
    Finding& finding =
        findings.add("asymmetric_config", Severity::Warning,
                     fmt::format("{} RDMA {} on {}, {} on the others", least->first,
                                 least->first == 1 ? "device" : "devices", list_of(least->second),
                                 hosts_by_count.rbegin()->first));
    for (const auto& [key, said] : facts.net_devices) {
      if (key.first == "IB" && !key.second.empty()) finding.evidence.mix(said.evidence);
    }
    finding.hosts = least->second;
    finding.cause = "a port is down, a device is not in the container, or a filter differs";
    finding.fix = "ibstat on the hosts named; compare NCCL_IB_HCA";
  }
}

/// The plugin on EFA and Slingshot counts its NICs; 2.30 counts those of all ranks.
void compare_counts(const JobFacts& facts, Findings& findings) {
  if (facts.nodes() < 2) return;
  std::map<std::int64_t, std::set<std::int32_t>> hosts_by_count;
  for (const KeptMessage& message : facts.messages[MessageId::OfiProvider].kept) {
    const std::int64_t nics = message.number("nics");
    const std::int32_t host = facts.processes[message.process()].host;
    if (nics > 0 && host >= 0 && !message.is_torn()) hosts_by_count[nics].insert(host);
  }
  std::set<std::size_t> gpus;
  std::vector<std::string> fewest;
  for (const auto& [nics, hosts] : hosts_by_count) {
    for (const std::int32_t host : hosts) {
      const HostFacts& one = facts.hosts[static_cast<std::size_t>(host)];
      gpus.insert(one.gpus.size());
      if (nics == hosts_by_count.begin()->first) fewest.push_back(one.name);
    }
  }
  if (hosts_by_count.size() > 1 && gpus.size() == 1) {
    Finding& finding =
        findings.add("asymmetric_config", Severity::Warning,
                     fmt::format("{} NICs on {}, {} on the others", hosts_by_count.begin()->first,
                                 list_of(fewest), hosts_by_count.rbegin()->first),
                     facts.messages[MessageId::OfiProvider].evidence);
    finding.hosts = fewest;
    finding.cause = "a NIC is down, or not given to the container";
    finding.fix = "fi_info -p efa (or cxi) on the hosts named; the device plugin's request per pod";
  }
  const auto differs = [](const KeptMessage& message) {
    return message.number("min") >= 0 && message.number("min") < message.number("max");
  };
  const MessageLines& counted = facts.messages[MessageId::NicCount];
  const Evidence mixed = evidence_of(counted, differs);
  if (mixed.empty()) return;
  Finding& finding = findings.add("asymmetric_config", Severity::Warning,
                                  "ranks reach different numbers of NICs", mixed);
  finding.evidence.mix(evidence_of(
      counted, [](const KeptMessage& message) { return contains(message.text(), "(max "); }));
  finding.cause = "a port is down or a device is missing on some host";
  finding.fix = "ibstat on every host; compare NCCL_IB_HCA";
}

void compare_gdr(const JobFacts& facts, Findings& findings) {
  std::set<std::int32_t> with, without;
  for (const CommFacts& comm : facts.comms) {
    if (comm.nodes() < 2) continue;
    for (const Link& link : comm.links) {
      if (link.via != Via::Net || hides_gdr(facts.nets[link.net])) continue;
      if (link.direction != Direction::Receive) continue;  // the sender may decide differently
      const Member* member = comm.member(link.rank);
      const Member* peer = comm.member(link.peer);
      if (member == nullptr || peer == nullptr || member->host < 0 || member->host == peer->host)
        continue;
      (link.gdr ? with : without).insert(member->host);
    }
  }
  std::vector<std::string> names;
  std::vector<std::uint32_t> processes;
  for (const std::int32_t host : without) {
    if (with.count(host) > 0) continue;
    names.push_back(facts.host_name(host));
    const auto& mine = facts.hosts[static_cast<std::size_t>(host)].processes;
    processes.insert(processes.end(), mine.begin(), mine.end());
  }
  if (names.empty() || with.empty()) return;
  std::sort(processes.begin(), processes.end());
  Finding& finding = findings.add(
      "asymmetric_config", Severity::Warning,
      fmt::format("no GPUDirect RDMA on {}, while other hosts have it", list_of(names)));
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via == Via::Net && !edge.gdr && !hides_gdr(edge.net))
      finding.evidence.mix(edge.said.evidence);
  }
  findings.add_processes(finding, processes);
  finding.cause = "the peer memory module or DMA-BUF is missing on these hosts only";
  finding.fix = "modprobe nvidia-peermem on the hosts named";
}

/// Returns whether this version echoes variables by default, so that each process that finished its start has printed
/// them.
bool always_echoes(const JobFacts& facts) {
  constexpr int kAsked = 21200, kDefault = 21600;  // 2.12 to 2.15 print them only on request
  bool is_known = false;
  for (const auto& [text, version] : facts.version_facts) {
    if (version.is_of_benchmark || version.is_of_text || version.code == 0) continue;
    if (version.is_rccl || (version.code >= kAsked && version.code < kDefault)) return false;
    is_known = true;
  }
  return is_known;
}

/// Returns the hosts that lack a variable which all processes of other hosts have.
std::vector<std::string> hosts_without(const JobFacts& facts, const Setting& setting,
                                       const std::vector<std::uint32_t>& everybody) {
  std::set<std::int32_t> with, all, echo;
  const auto host_of = [&](std::uint32_t process) { return facts.processes[process].host; };
  for (const std::uint32_t process : setting.processes) with.insert(host_of(process));
  for (const std::uint32_t process : everybody) all.insert(host_of(process));
  for (const Setting& other : facts.environment) {
    for (const std::uint32_t process : other.processes) echo.insert(host_of(process));
  }
  if (!facts.comms.empty() && always_echoes(facts)) {
    for (const Member& member : facts.comms.front().members) {
      if (member.is_complete) echo.insert(member.host);
    }
  }
  std::size_t having = 0, should_have = 0, lacking = 0;
  for (const std::uint32_t process : everybody) {
    const bool is_on_host = with.count(host_of(process)) > 0;
    should_have += is_on_host ? 1U : 0U;
    lacking += is_on_host ? 0U : 1U;
    having += std::binary_search(setting.processes.begin(), setting.processes.end(), process) &&
                      host_of(process) >= 0
                  ? 1U
                  : 0U;
  }
  if (having == 0 || having != should_have) return {};
  // A torn log may have lost a line, so several processes must lack the variable.
  if (lacking < 2 && (facts.torn_lines > 0 || having > 1)) return {};
  std::vector<std::string> names;
  for (const std::int32_t host : all) {
    const bool is_seen = host >= 0 && with.count(host) == 0 && echo.count(host) > 0;
    if (is_seen) names.push_back(facts.host_name(host));
  }
  return names;
}

/// Returns whether the processes that set a variable have no value of it in common. A process may change a variable
/// between two communicators, so it can have several values.
/// values  the settings of one variable
bool has_no_common_value(std::span<const Setting> values) {
  std::map<std::uint32_t, std::set<std::size_t>> of_process;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const std::uint32_t process : values[i].processes) {
      if (process != 0) of_process[process].insert(i);
    }
  }
  if (of_process.empty()) return false;
  std::set<std::size_t> common = of_process.begin()->second;
  for (const auto& [process, own] : of_process) {
    std::erase_if(common, [&own = own](std::size_t value) { return !own.contains(value); });
  }
  return common.empty();
}

/// Reports a variable with several values. The ranks named are those with the rarest value.
void describe_values(std::span<const Setting> values, Finding& draft, const Findings& findings) {
  std::vector<std::string> texts;
  for (const Setting& setting : values) {
    texts.push_back(setting.value);
    draft.evidence.mix(setting.evidence);
  }
  const auto rarest =
      std::ranges::min_element(values, {}, [](const Setting& one) { return one.processes.size(); });
  findings.add_processes(draft, rarest->processes);
  draft.title = fmt::format("{} differs between ranks: {}", values.front().name, list_of(texts));
}

void compare_variables(const JobFacts& facts, Findings& findings) {
  const std::vector<std::uint32_t> everybody = processes_of(facts);
  std::span<const Setting> rest = facts.environment;  // sorted by name
  while (!rest.empty()) {
    const std::string& name = rest.front().name;
    std::size_t count = 1;
    while (count < rest.size() && rest[count].name == name) ++count;
    const std::span<const Setting> values = rest.first(count);
    rest = rest.subspan(count);
    if (std::ranges::find(kMustAgree, name) == kMustAgree.end()) continue;
    Finding draft;
    if (count > 1) {
      if (!has_no_common_value(values)) continue;
      describe_values(values, draft, findings);
    } else {
      const Setting& setting = values.front();
      draft.hosts = hosts_without(facts, setting, everybody);
      if (draft.hosts.empty()) continue;
      draft.evidence = setting.evidence;
      draft.title =
          fmt::format("{}={} is not set on {}", name, setting.value, list_of(draft.hosts));
    }
    Finding& finding = findings.add("asymmetric_config", Severity::Warning, draft.title, draft);
    finding.cause = "the launcher does not give every rank the same variables";
    finding.fix = fmt::format(
        "export {} to all ranks (mpirun -x {}, srun --export=ALL), or to none", name, name);
  }
}

/// Compares the GPU types that a benchmark prints for each rank: with different types, all wait for the slowest.
void compare_gpu_types(const JobFacts& facts, Findings& findings) {
  for (const BenchmarkTable& table : facts.tables) {
    // Considers hosts with equal GPUs only, because a torn line would add a false type.
    std::map<std::string, std::set<std::string>> kinds_of_host, hosts;
    for (const BenchmarkDevice& device : table.devices)
      kinds_of_host[device.host].insert(device.gpu);
    for (const auto& [host, kinds] : kinds_of_host) {
      const std::string& kind = *kinds.begin();
      const bool is_name = !kind.empty() && kind.find_first_of("#[]") == std::string::npos;
      if (kinds.size() == 1 && is_name) hosts[kind].insert(host);
    }
    if (hosts.size() < 2) continue;
    const auto rare = rarest_of(hosts);
    std::vector<std::string> names;
    for (const auto& [gpu, of] : hosts) names.push_back(gpu);
    Finding& finding = findings.add("asymmetric_config", Severity::Warning,
                                    fmt::format("unlike GPUs in one job: {}", list_of(names)));
    for (const BenchmarkDevice& device : table.devices) {
      if (device.gpu == rare->first) finding.evidence.add(device.quoted);
    }
    finding.hosts.assign(rare->second.begin(), rare->second.end());
    finding.cause = "hosts of different kinds were put into one job";
    finding.fix = "ask the scheduler for nodes of one kind (a partition, a constraint)";
    return;
  }
}

void compare_channels(const JobFacts& facts, Findings& findings) {
  for (const CommFacts& comm : facts.comms) {
    if (comm.is_guessed) continue;
    std::map<std::int32_t, std::vector<std::uint32_t>> by_count;
    for (const Member& member : comm.members) {
      if (member.coll_channels > 0) by_count[member.coll_channels].push_back(member.process);
    }
    if (by_count.size() < 2) continue;
    const auto fewest = rarest_of(by_count);
    // If one rank differs from the others of its host, it has a line of another communicator whose name is lost.
    std::map<std::int32_t, std::set<std::int32_t>> of_host;
    for (const Member& member : comm.members) {
      if (member.coll_channels > 0) of_host[member.host].insert(member.coll_channels);
    }
    const bool is_of_hosts = std::all_of(of_host.begin(), of_host.end(),
                                         [](const auto& host) { return host.second.size() == 1; });
    if (!is_of_hosts) continue;
    Finding& finding =
        findings.add("asymmetric_config", Severity::Error,
                     fmt::format("ranks of one communicator count different channels: {} and {}",
                                 by_count.begin()->first, by_count.rbegin()->first));
    for (const auto& [count, processes] : by_count) {
      const auto said = facts.channel_counts.find(count);
      if (said != facts.channel_counts.end()) finding.evidence.mix(said->second.evidence);
    }
    findings.add_processes(finding, fewest->second);
    finding.cause = "variables, the version or the topology differ between the ranks";
    finding.fix = "compare the variables and the NCCL version of the ranks named";
    return;
  }
}

void compare_merged_nics(const JobFacts& facts, Findings& findings) {
  const MessageLines& merged = facts.messages[MessageId::IbDeviceCountDiffers];
  Finding draft;
  findings.quote(draft, merged, [](const KeptMessage& message) {
    return message.level() == Level::Warn && contains(message.text(), "different number");
  });
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("asymmetric_config", Severity::Warning,
                                  "the two ends of a connection merge different NICs", draft);
  finding.cause = "a port is down or a device is missing at one end";
  finding.fix = "ibstat on both hosts; compare NCCL_IB_HCA and NCCL_IB_MERGE_NICS";
}

}  // namespace

void look_for_asymmetry(const JobFacts& facts, Findings& findings) {
  compare_networks(facts, findings);
  compare_devices(facts, findings);
  compare_counts(facts, findings);
  compare_gdr(facts, findings);
  compare_variables(facts, findings);
  compare_channels(facts, findings);
  compare_gpu_types(facts, findings);
  compare_merged_nics(facts, findings);
}

}  // namespace ringside::audit
