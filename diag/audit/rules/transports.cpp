#include "diag/audit/rules/transports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "diag/audit/evidence.h"
#include "diag/audit/findings.h"
#include "diag/audit/gpu_names.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Appends a number unless it is the last one, because a process prints many lines in a row.
void push_new(std::vector<std::uint32_t>& numbers, std::uint32_t number) {
  if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
}

/// Returns whether all ranks were seen and each has finished its startup, so that all their connections are known.
/// Communicators of one size that no id distinguishes may have each other's ranks.
bool is_whole(const JobFacts& facts, const CommFacts& comm) {
  const bool is_doubtful =
      comm.is_guessed &&
      std::any_of(facts.comms.begin(), facts.comms.end(), [&](const CommFacts& other) {
        return &other != &comm && other.nranks == comm.nranks;
      });
  return !is_doubtful && static_cast<std::int32_t>(comm.members.size()) == comm.nranks &&
         std::ranges::all_of(comm.members, &Member::is_complete);
}

bool has_interface(const JobFacts& facts, std::string_view start) {
  return std::any_of(facts.hosts.begin(), facts.hosts.end(), [&](const HostFacts& host) {
    const auto socket = host.devices.find("Socket");
    if (socket == host.devices.end()) return false;
    return std::any_of(socket->second.begin(), socket->second.end(),
                       [&](const std::string& name) { return name.starts_with(start); });
  });
}

bool has_variable(const JobFacts& facts, std::string_view start) {
  return std::any_of(facts.environment.begin(), facts.environment.end(),
                     [&](const Setting& one) { return one.name.starts_with(start); });
}

}  // namespace

bool lists_rdma_device(const JobFacts& facts) {
  return std::ranges::any_of(facts.net_devices, [](const auto& entry) {
    return entry.first.first == "IB" && !entry.first.second.empty();
  });
}

bool lacks_rdma_device(const JobFacts& facts) {
  return facts.net_devices.contains({"IB", std::string()});
}

bool has_quotes(const Setting& setting) {
  const std::string& value = setting.value;
  return value.size() > 2 && (value.front() == '"' || value.front() == '\'') &&
         value.back() == value.front();
}

std::string without_quotes(std::string_view value) {
  std::string text(value);
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  return text;
}

bool is_socket(std::string_view net) { return net == "Socket"; }

bool hides_gdr(std::string_view net) {
  return is_socket(net) || contains_any(net, {"FastSocket", "TCPX", "FasTrak"});
}

NetEdges net_edges(const JobFacts& facts) {
  NetEdges edges;
  std::vector<std::uint32_t> plain, with_gdr;
  for (const CommFacts& comm : facts.comms) {
    const int nodes = comm.nodes();
    if (nodes < 2) continue;
    for (const Link& link : comm.links) {
      if (link.via != Via::Net || hides_gdr(facts.nets[link.net]) || comm.is_local(link, nodes))
        continue;
      const bool is_send = link.direction == Direction::Send;
      std::uint64_t& count = link.gdr ? (is_send ? edges.gdr_sends : edges.gdr_receives)
                                      : (is_send ? edges.plain_sends : edges.plain_receives);
      count += link.count;
      const Member* member = comm.member(link.rank);
      if (member != nullptr) push_new(link.gdr ? with_gdr : plain, member->process);
    }
  }
  sort_once(plain);
  sort_once(with_gdr);
  std::set_difference(plain.begin(), plain.end(), with_gdr.begin(), with_gdr.end(),
                      std::back_inserter(edges.plain_processes));
  return edges;
}

SocketUse socket_use(const JobFacts& facts) {
  SocketUse use;
  for (const CommFacts& comm : facts.comms) {
    const int nodes = comm.nodes();
    if (nodes < 2) continue;
    bool has_links = false;
    for (const Link& link : comm.links) {
      if (link.via != Via::Net || comm.is_local(link, nodes)) continue;
      has_links = true;
      if (!is_socket(facts.nets[link.net])) continue;
      use.is_used = true;
      const Member* member = comm.member(link.rank);
      if (member != nullptr) push_new(use.processes, member->process);
    }
    if (has_links) continue;
    // Connections may be made only at the first collective: then the choice of the network is the evidence.
    for (const Member& member : comm.members) {
      const bool is_chosen =
          member.network < facts.nets.size() && is_socket(facts.nets[member.network]);
      if (!member.is_complete || !is_chosen) continue;
      use.is_used = true;
      use.processes.push_back(member.process);
    }
  }
  sort_once(use.processes);
  return use;
}

std::string faster_fabric(const JobFacts& facts) {
  for (const auto& [name, said] : facts.networks) {
    if (!is_socket(name)) return "other ranks use " + name;
  }
  for (const auto& [key, said] : facts.net_devices) {
    if (key.first == "IB" && !key.second.empty())
      return "RDMA devices are there (" + key.second + ")";
  }
  if (has_interface(facts, "hsn")) return "interfaces named hsn belong to a Slingshot fabric";
  if (has_interface(facts, "ib")) return "interfaces named ib belong to an InfiniBand fabric";
  const MessageLog& messages = facts.messages;
  if (messages.has_any({MessageId::OfiVersion, MessageId::OfiNoProvider, MessageId::OfiOther,
                        MessageId::OfiEndpointFailed}))
    return "the libfabric plugin is installed";
  if (messages.has_any(
          {MessageId::FasTrak, MessageId::Tcpx, MessageId::RxdmWait, MessageId::RxdmTimeout}))
    return "the plugin of the cloud's network is installed";
  if (has_variable(facts, "NCCL_IB_HCA") || has_variable(facts, "NCCL_IB_GID_INDEX")) {
    return "variables name RDMA devices";
  }
  if (has_variable(facts, "FI_") || has_variable(facts, "NCCL_FASTRAK") ||
      has_variable(facts, "NCCL_GPUDIRECTTCPX")) {
    return "variables configure a network plugin";
  }
  constexpr int kFullHost = 4;
  if (ranks_of_a_host(facts) >= kFullHost && local_edges(facts).p2p > 0) {
    return "hosts with this many peer-to-peer GPUs come with RDMA NICs";
  }
  return {};
}

bool wants_plugin(const JobFacts& facts) {
  if (has_interface(facts, "hsn")) return true;
  if (has_variable(facts, "FI_") || has_variable(facts, "NCCL_FASTRAK") ||
      has_variable(facts, "NCCL_GPUDIRECTTCPX") || has_variable(facts, "NCCL_NET_PLUGIN")) {
    return true;
  }
  const Setting* net = facts.setting("NCCL_NET");
  return net != nullptr && net->value != "IB" && net->value != "Socket";
}

OfiFabric ofi_fabric(const JobFacts& facts) {
  const auto says = [&](MessageId id, std::initializer_list<std::string_view> words) {
    const std::vector<KeptMessage>& kept = facts.messages[id].kept;
    return std::any_of(kept.begin(), kept.end(), [&](const KeptMessage& message) {
      return contains_any(lower_case(message.text()), words);
    });
  };
  constexpr std::array kOfAnybody = {MessageId::OfiProvider,      MessageId::OfiOther,
                                     MessageId::OfiNoProvider,    MessageId::OfiSetting,
                                     MessageId::OfiRequestFailed, MessageId::OfiEndpointFailed,
                                     MessageId::LibfabricLine};
  for (const MessageId id : kOfAnybody) {
    if (says(id, {"cxi"})) return OfiFabric::Slingshot;
    if (says(id, {"efa", "aws-specific"})) return OfiFabric::Efa;
  }
  if (has_interface(facts, "hsn") || has_variable(facts, "FI_CXI")) return OfiFabric::Slingshot;
  const bool is_aws =
      facts.messages.has(MessageId::OfiPlatform) || facts.messages.has(MessageId::OfiNoGdr) ||
      has_variable(facts, "FI_EFA") ||
      std::any_of(facts.hosts.begin(), facts.hosts.end(),
                  [](const HostFacts& host) { return host.name.starts_with("ip-"); });
  return is_aws ? OfiFabric::Efa : OfiFabric::Unknown;
}

bool fails_to_open(const JobFacts& facts, std::string_view text) {
  const bool is_running = facts.has_started();
  return !is_running && contains_any(lower_case(text), {"endpoint", "domain", "open", "bind",
                                                        "enable", "address vector", "initializ"});
}

bool is_memory_refused(std::string_view text) {
  const bool is_refused = contains_any(text, {"Cannot allocate", "RC: -12", "ENOMEM"});
  return is_refused && contains_any(text, {"ibv_reg_", "ibv_create_", "ibv_alloc_",
                                           "register memory", "register MR", "fi_mr_reg"});
}

bool is_port_event(std::string_view text) {
  const std::string low = lower_case(text);
  return contains_any(low, {"port error", "port_err", "port active", "port_active"});
}

bool is_size_unknown(const JobFacts& facts) {
  return std::none_of(facts.comms.begin(), facts.comms.end(), [](const CommFacts& comm) {
    return comm.nnodes > 0 || !comm.links.empty() ||
           std::ranges::any_of(comm.members, &Member::is_complete);
  });
}

bool has_joined_hosts(const JobFacts& facts) {
  return std::any_of(facts.comms.begin(), facts.comms.end(), [](const CommFacts& comm) {
    const bool is_complete = std::ranges::any_of(comm.members, &Member::is_complete);
    return is_complete && comm.nodes() > 1;
  });
}

std::map<std::int32_t, LocalEdges> local_edges_of_whole(const JobFacts& facts) {
  std::map<std::int32_t, LocalEdges> hosts;
  for (const CommFacts& comm : facts.comms) {
    if (is_whole(facts, comm)) add_local_edges(comm, hosts);
  }
  return hosts;
}

LocalEdges local_edges(const JobFacts& facts) {
  LocalEdges all;
  for (const auto& [host, edges] : facts.local_edges) all += edges;
  return all;
}

const Setting* channel_limit(const JobFacts& facts, int most) {
  for (const char* name : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS"}) {
    const Setting* limit = facts.setting(name);
    if (limit != nullptr && std::atoi(limit->value.c_str()) <= most) return limit;
  }
  return nullptr;
}

bool do_ranks_share_a_gpu(const CommFacts& comm) {
  if (comm.is_rccl) return false;  // partitions of one GPU share its address
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> first;
  return std::ranges::any_of(comm.members, [&](const Member& member) {
    if (member.host < 0 || member.bus_id < 0) return false;
    const auto [at, is_new] = first.emplace(std::pair(member.host, member.bus_id), member.rank);
    return !is_new && at->second != member.rank;
  });
}

bool do_ranks_share_a_gpu(const JobFacts& facts) {
  return std::ranges::any_of(facts.comms,
                             [](const CommFacts& comm) { return do_ranks_share_a_gpu(comm); });
}

int ranks_of_a_host(const JobFacts& facts) {
  int most = 0;
  for (const CommFacts& comm : facts.comms) {
    std::map<std::int32_t, int> count;
    for (const Member& member : comm.members) {
      if (member.host >= 0) most = std::max(most, ++count[member.host]);
    }
    // NCCL counts an NVLink domain of several hosts as one node.
    const auto seen = static_cast<std::int32_t>(comm.hosts.size());
    const int hosts = comm.mnnvl > 0 ? std::max(comm.nnodes, seen) : comm.nnodes;
    if (comm.nnodes > 0 && comm.nranks > 0 && !comm.has_guessed_nodes)
      most = std::max(most, comm.nranks / hosts);
  }
  for (const BenchmarkTable& table : facts.tables) {
    std::map<std::string, int> count;
    for (const BenchmarkDevice& device : table.devices) {
      most = std::max(most, ++count[device.host]);
    }
  }
  return most;
}

std::string nvlink_sign(const JobFacts& facts) {
  constexpr std::array<std::string_view, 8> kDevices{"SXM*",  "HBM3*", "GH200", "GB200",
                                                     "GB300", "B200",  "H200",  "H20"};
  constexpr std::array<std::string_view, 6> kListed{"SXM*",  "HBM3*", "GH200",
                                                    "GB200", "GB300", "HGX*"};
  for (const TopologyDump& dump : facts.dumps) {
    for (const DumpedNode& node : dump.nodes) {
      if (node.link == "NVL") return "the topology of " + dump.host + " has NVLink";
    }
  }
  for (const LinkMatrix& matrix : facts.matrices) {
    const MatrixCell cell = matrix.between_gpus();
    if (cell.reach == DeviceReach::NvLink) {
      return fmt::format("nvidia-smi topo -m has {} between the GPUs", to_string(cell));
    }
  }
  for (const PatternFact& pattern : facts.patterns) {
    if (pattern.type_intra == "NVL") return "graphs within the host go over NVLink";
  }
  for (const BenchmarkTable& table : facts.tables) {
    for (const BenchmarkDevice& device : table.devices) {
      if (names_any_gpu(device.gpu, kDevices)) {
        return device.gpu + " comes on boards with NVLink";
      }
    }
  }
  if (facts.has_text_of_any_gpu(kListed)) return "the GPUs are of boards with NVLink";
  for (const KeptMessage& message : facts.messages[MessageId::NvlsSupport].kept) {
    const bool is_support = contains(message.text(), "multicast support is available");
    if (is_support && !message.is_torn()) return "NVLink multicast is available";
  }
  return {};
}

std::map<std::int32_t, std::vector<std::int32_t>> ranks_cut_off(const JobFacts& facts) {
  std::map<std::int32_t, std::vector<std::int32_t>> cut_off;
  if (local_edges(facts).shm == 0) return cut_off;
  struct Reach {
    bool is_local = false, has_p2p = false, has_shm = false;
  };
  struct HostReach {
    std::vector<std::int32_t> lonely = {};
    std::size_t all = 0, well = 0;
  };
  for (const CommFacts& comm : facts.comms) {
    const int nodes = comm.nodes();
    if (!is_whole(facts, comm)) continue;  // a rank's other connections may be in the missing part
    std::vector<Reach> reach(comm.members.size());
    for (const Link& link : comm.links) {
      if (link.rank < 0 || link.peer < 0 || !comm.is_local(link, nodes)) continue;
      for (const std::int32_t rank : {link.rank, link.peer}) {
        Reach& mine = reach[static_cast<std::size_t>(rank)];
        mine.is_local = true;
        mine.has_p2p |= is_p2p(link.via);
        mine.has_shm |= link.via == Via::Shm;
      }
    }
    std::map<std::int32_t, HostReach> hosts;
    for (std::size_t i = 0; i < reach.size(); ++i) {
      const Member& member = comm.members[i];
      if (member.host < 0 || !reach[i].is_local) continue;
      HostReach& host = hosts[member.host];
      ++host.all;
      if (reach[i].has_shm && !reach[i].has_p2p) host.lonely.push_back(member.rank);
      if (!reach[i].has_shm && reach[i].has_p2p) ++host.well;
    }
    for (const auto& [host, ranks] : hosts) {
      if (!ranks.lonely.empty() && 2 * ranks.well > ranks.all) cut_off.emplace(host, ranks.lonely);
    }
  }
  return cut_off;
}

bool has_switched_gpus(const JobFacts& facts) {
  constexpr std::array<std::string_view, 6> kNames{"SXM4",  "SXM5",  "SXM6",
                                                   "HBM3*", "GB200", "GB300"};
  return facts.has_text_of_any_gpu(kNames);
}

bool has_pcie_gpus(const JobFacts& facts) {
  constexpr std::array<std::string_view, 15> kNames{
      "PCIe", "PCIE", "Quadro", "A6000", "A10", "A10G",     "A40",      "A16",
      "A30",  "A2",   "L40*",   "L4",    "T4",  "Tesla P*", "Tesla K80"};
  const bool is_reported =
      std::any_of(facts.matrices.begin(), facts.matrices.end(), [](const LinkMatrix& matrix) {
        return matrix.linked_gpus().empty() && matrix.between_gpus().reach >= DeviceReach::Phb;
      });
  return is_reported || has_consumer_gpus(facts) || facts.has_text_of_any_gpu(kNames);
}

bool has_consumer_gpus(const JobFacts& facts) {
  constexpr std::array<std::string_view, 3> kNames{"GeForce", "RTX*", "TITAN"};
  return facts.has_text_of_any_gpu(kNames);
}

bool is_without_gpus(const JobFacts& facts) {
  const auto is_without = [](const Member& member) {
    return (member.is_started || member.is_complete) && member.cuda_device < 0 &&
           member.nvml_device < 0 && member.bus_id < 0;
  };
  // ringside's engine moves host memory, and prints its own name where NCCL prints CUDA's.
  const bool is_of_hosts =
      !facts.versions.empty() &&
      std::all_of(facts.versions.begin(), facts.versions.end(),
                  [](const auto& version) { return contains(version.first, "+ringside"); });
  if (is_of_hosts) return true;
  return !facts.comms.empty() &&
         std::all_of(facts.comms.begin(), facts.comms.end(), [&](const CommFacts& comm) {
           return !comm.members.empty() &&
                  std::all_of(comm.members.begin(), comm.members.end(), is_without);
         });
}

}  // namespace ringside::audit
