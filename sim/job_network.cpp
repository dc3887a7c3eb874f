#include "sim/job_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/mixed.h"
#include "sim/fabric/cluster.h"

namespace ringside {
namespace {

constexpr double kGigabyte = 1e9;

/// Returns true for a PCIe link of a CPU by which the host's GPUs reach each other (a bridge). A
/// NIC's own link is no bridge.
bool is_host_bridge(const Link& link) {
  const auto is = [&](NodeKind kind) { return link.from.kind == kind || link.to.kind == kind; };
  return link.kind == LinkKind::Pci && is(NodeKind::Cpu) && !is(NodeKind::Nic);
}

bool is_within_node(const Path& path) {
  return path.type != PathType::Net && path.type != PathType::Dis;
}

std::string name_of(const System& system, NodeRef ref) {
  const auto index = static_cast<std::size_t>(ref.index);
  switch (ref.kind) {
    case NodeKind::Gpu:
      return fmt::format("GPU {}", system.gpus[index].dev);
    case NodeKind::Dev: {
      // Returns the GPU's number, or that of its first partition.
      const auto gpu = std::ranges::find(system.gpus, ref.index, &GpuInfo::device);
      return fmt::format("GPU {}", gpu == system.gpus.end() ? ref.index : gpu->dev);
    }
    case NodeKind::Pci:
      return fmt::format("PCI switch {}", ref.index);
    case NodeKind::Nvs:
      return "NVSwitch";
    case NodeKind::Cpu:
      return fmt::format("CPU {}", ref.index);
    case NodeKind::Nic:
      return fmt::format("NIC {}", ref.index);
    case NodeKind::Net:
      return system.nets[index].name.empty() ? fmt::format("network {}", ref.index)
                                             : system.nets[index].name;
  }
  return {};
}

/// Returns the rate of the fastest link that leaves a GPU, bytes/s.
double widest_of_gpus(const System& system) {
  double widest = 0;
  for (const Link& link : system.links) {
    const bool is_gpus = link.from.kind == NodeKind::Gpu || link.from.kind == NodeKind::Dev;
    if (is_gpus && link.kind != LinkKind::Loc) {
      widest = std::max(widest, static_cast<double>(link.bandwidth) * kGigabyte);
    }
  }
  return widest;
}

/// Returns true if the I/O die of one socket joins the two NUMA nodes of the link. AMD hosts with
/// four or more NUMA nodes divide each socket into four (NPS4).
bool share_die(const System& system, const Link& link) {
  const std::vector<SystemNode>& cpus = system.nodes[static_cast<std::size_t>(NodeKind::Cpu)];
  constexpr std::int64_t kNodesOfSocket = 4;
  if (std::ssize(cpus) < kNodesOfSocket) return false;
  const auto socket = [&](const NodeRef& cpu) {
    return cpus[static_cast<std::size_t>(cpu.index)].id / kNodesOfSocket;
  };
  return socket(link.from) == socket(link.to);
}

BytesPerSecond socket_rate(const System& system, const Link& link, const SimModel& model) {
  const CpuVendor vendor = system.cpus.empty() ? CpuVendor::Unknown : system.cpus.front().vendor;
  const bool is_amd = vendor == CpuVendor::Amd && !share_die(system, link);
  const double rate = vendor == CpuVendor::Intel ? model.socket_intel
                      : is_amd                   ? model.socket_amd
                                                 : model.socket_other;
  return BytesPerSecond{rate * kGigabyte};
}

}  // namespace

std::uint64_t flow_key(Rank from, Rank to, int channel) {
  std::uint64_t key = 0;
  for (const int part : {to_int(from), to_int(to), channel}) {
    key = mixed_with(key, static_cast<std::uint64_t>(part));
  }
  return key;
}

JobNetwork::JobNetwork(const Job& job, std::optional<GraphId> graph,
                       const TopologyParameters& parameters, const SimModel* model,
                       JobFabric fabric, int nchannels)
    : job_(job), graph_(graph), parameters_(parameters), fabric_(std::move(fabric)) {
  if (model != nullptr) model_ = *model;
  places_.resize(static_cast<std::size_t>(job.nranks()));
  int links = 0;
  for (std::size_t node = 0; node < job.nodes.size(); ++node) {
    const std::vector<int>& ranks = job.nodes[node].ranks;
    for (std::size_t gpu = 0; gpu < ranks.size(); ++gpu) {
      places_[static_cast<std::size_t>(ranks[gpu])] = {static_cast<int>(node),
                                                       static_cast<int>(gpu)};
    }
    first_link_.push_back(links);
    links += static_cast<int>(system(static_cast<int>(node)).links.size());
  }
  first_bridge_ = links;
  if (model_.host_bridge < 1) links *= 2;
  first_channel_link_ = links;
  if (model != nullptr && nchannels > 0) {
    const GpuClass gpu = class_of_gpu(job.connection.shape.min_cc);
    const double rate = model->channel[static_cast<std::size_t>(gpu)];
    const BytesPerSecond own{rate * kGigabyte};
    const Bytes window{kSlots * static_cast<std::uint64_t>(job.connection.shape.p2p_chunk)};
    channel_rates_ = {own, graph ? own : window / Seconds{model->exchange_window * 1e-6}};
    double widest = 0;
    for (const System& one : job.systems) widest = std::max(widest, widest_of_gpus(one));
    // A transfer of an exchange uses only some of the channels, so exchanges always need the limit
    // per channel.
    if (!graph || nchannels * rate * kGigabyte < widest) nchannels_ = nchannels;
  }
  first_fabric_link_ = links + job.nranks() * channel_links();
  if (fabric_.fabric == nullptr) return;
  for (const System& one : job.systems) nic_numbers_.push_back(nic_numbers(one));
}

int JobNetwork::first_fabric_link() const {
  return fabric_.fabric == nullptr ? SimNetwork::first_fabric_link() : first_fabric_link_;
}

std::string JobNetwork::unjoined() const {
  const std::scoped_lock lock(mutex_);
  return unjoined_;
}

const System& JobNetwork::system(int node) const {
  const JobNode& of_job = job_.nodes[static_cast<std::size_t>(node)];
  return job_.systems[static_cast<std::size_t>(of_job.report)];
}

/// Returns the NIC that a rank's connections use on a channel; -1: none.
int JobNetwork::net_of(const Place& at, int channel) const {
  const JobNode& node = job_.nodes[static_cast<std::size_t>(at.node)];
  if (!graph_) return local_net(system(at.node), at.gpu, channel, parameters_);
  const Graph& graph = job_.reports[static_cast<std::size_t>(node.report)].graphs[*graph_];
  const std::size_t channels = std::min(graph.inter.size(), graph.intra.size());
  if (channels == 0) return local_net(system(at.node), at.gpu, channel, parameters_);
  const bool has_heads = graph.pattern == Pattern::Nvls || graph.pattern == Pattern::CollNetDirect;
  if (!has_heads) {
    const std::size_t index = static_cast<std::size_t>(channel) % channels;
    return graph.inter[index][graph.intra[index].front() == at.gpu ? 0 : 1];
  }
  std::vector<int> own;
  for (std::size_t i = 0; i < channels; ++i) {
    if (graph.intra[i].front() == at.gpu) own.push_back(graph.inter[i][0]);
  }
  if (own.empty()) return local_net(system(at.node), at.gpu, channel, parameters_);
  return own[static_cast<std::size_t>(channel) % own.size()];
}

/// Returns the NIC for a peer. Without a graph: with PXN, the NIC of the local GPU with the receiver's index, if
/// NVLink joins the two GPUs.
int JobNetwork::net_towards(const Place& at, const Place& peer, int channel) const {
  const System& own = system(at.node);
  if (graph_ || parameters_.pxn_disable || peer.gpu >= own.count(NodeKind::Gpu)) {
    return net_of(at, channel);
  }
  const int net = local_net(own, peer.gpu, channel, parameters_);
  if (net < 0 || own.path(gpu_ref(at.gpu), net_ref(net)).type > PathType::Pxn) {
    return net_of(at, channel);
  }
  return net;
}

void JobNetwork::append(const Place& at, const Path& path, SimRoute& route) const {
  const System& of_node = system(at.node);
  for (const LinkId id : path.links) {
    const Link& link = of_node.link(id);
    if (link.kind == LinkKind::Loc) continue;
    const int own = first_link_[static_cast<std::size_t>(at.node)] + id;
    route.links.push_back(own);
    if (link.kind != LinkKind::Nvl && link.kind != LinkKind::C2c) {
      route.slowest = std::max(route.slowest, StepLink::Pci);
    }
    if (model_.host_bridge == 1 || link.reverse < 0 || !is_host_bridge(link)) continue;
    // Both directions of a bridge share one entry, at the lower of their two link ids: the port
    // forwards at full rate what one GPU writes and another reads.
    const int bridge = first_bridge_ + own + std::min(link.reverse - id, 0);
    if (std::ranges::find(route.links, bridge) == route.links.end()) route.links.push_back(bridge);
  }
}

void JobNetwork::append_net(const Place& at, int net, Way way, SimRoute& route) const {
  if (net < 0) return;
  const NodeRef gpu = gpu_ref(at.gpu);
  const System& of_node = system(at.node);
  append(at, way == Way::Out ? of_node.path(gpu, net_ref(net)) : of_node.path(net_ref(net), gpu),
         route);
  route.slowest = StepLink::Net;
}

FabricPort JobNetwork::port(const Place& at, int net) const {
  const auto node = static_cast<std::size_t>(at.node);
  const auto report = static_cast<std::size_t>(job_.nodes[node].report);
  return {.host = fabric_.first_hosts[node] + system(at.node).node(net_ref(net)).host,
          .nic = nic_numbers_[report][static_cast<std::size_t>(net)]};
}

bool JobNetwork::append_fabric(const Place& from, int out, const Place& to, int in,
                               std::uint64_t flow, SimRoute& route) const {
  if (fabric_.fabric == nullptr) return true;
  const FabricPort a = port(from, out), b = port(to, in);
  // Groups with other GPUs of the same hosts contain the same ranks, but are separate flows.
  const auto& gpus = system(from.node).gpus;
  const int first = std::ranges::min_element(gpus, {}, &GpuInfo::dev)->dev;
  if (first > 0) flow = mixed_with(flow, static_cast<std::uint64_t>(first));
  const FabricRoute found = fabric_.fabric->route(a, b, flow);
  if (found.links.empty()) {
    const auto text = [this](const Place& at, int net, const FabricPort& where) {
      return fmt::format("host {} nic {} (node {}: {})", where.host, where.nic, at.node,
                         name_of(system(at.node), net_ref(net)));
    };
    const std::scoped_lock lock(mutex_);
    if (unjoined_.empty()) unjoined_ = text(from, out, a) + " with " + text(to, in, b);
    return false;
  }
  for (const int link : found.links) route.links.push_back(first_fabric_link_ + link);
  route.beyond = std::max(route.beyond, found.latency);
  return true;
}

void JobNetwork::append_channel(Rank from, int channel, Reach reach, SimRoute& route) const {
  if (channel >= nchannels_) return;
  const int of_reach = graph_ || reach == Reach::Within ? 0 : nchannels_;
  route.links.push_back(first_channel_link_ + to_int(from) * channel_links() + of_reach + channel);
}

BytesPerSecond JobNetwork::channel_rate(int id) const {
  const bool is_across = (id - first_channel_link_) % channel_links() >= nchannels_;
  return channel_rates_[is_across ? 1 : 0];
}

SimRoute JobNetwork::route(Rank from, Rank to, int channel) const {
  const Place& a = place(from);
  const Place& b = place(to);
  SimRoute route;
  if (a.node == b.node) {
    const Path& path = system(a.node).path(gpu_ref(a.gpu), gpu_ref(b.gpu));
    if (is_within_node(path)) {
      append(a, path, route);
      append_channel(from, channel, Reach::Within, route);
      return route;
    }
  }
  const int out = net_towards(a, b, channel);
  const int in = net_of(b, channel);
  if (out < 0 || in < 0) return route;
  if (!append_fabric(a, out, b, in, flow_key(from, to, channel), route)) return {};
  append_net(a, out, Way::Out, route);
  append_net(b, in, Way::In, route);
  append_channel(from, channel, Reach::Across, route);
  return route;
}

bool JobNetwork::is_relayed(Rank from, Rank to, int channel) const {
  const Place& a = place(from);
  const Place& b = place(to);
  if (a.node == b.node) return false;
  const int net = net_towards(a, b, channel);
  return net >= 0 && system(a.node).path(gpu_ref(a.gpu), net_ref(net)).type == PathType::Pxn;
}

/// Appends the tree of a reducing network. Routes with equal flow number meet at one root: from all
/// senders to a receiver, and from a sender to all receivers. Each link of these routes carries the
/// message once.
bool JobNetwork::append_tree(const SwitchGroup& group, int channel, SimRoute& route) const {
  if (fabric_.fabric == nullptr || group.senders.empty() || group.receivers.empty()) return true;
  const auto flow = static_cast<std::uint64_t>(channel);
  const auto append_way = [&](Rank from, Rank to) {
    const Place& a = place(from);
    const Place& b = place(to);
    const int out = net_of(a, channel), in = net_of(b, channel);
    return out < 0 || in < 0 || append_fabric(a, out, b, in, flow, route);
  };
  return std::ranges::all_of(group.senders,
                             [&](Rank one) { return append_way(one, group.receivers.front()); }) &&
         std::ranges::all_of(group.receivers,
                             [&](Rank one) { return append_way(group.senders.front(), one); });
}

SimRoute JobNetwork::group_route(const SwitchGroup& group, int channel) const {
  SimRoute route;
  const bool is_network = group.medium == SwitchGroup::Medium::Network;
  const NodeRef nvswitch{NodeKind::Nvs, 0};
  const auto append_way = [&](Rank rank, Way way) {
    const Place& at = place(rank);
    const System& of_node = system(at.node);
    if (is_network) return append_net(at, net_of(at, channel), way, route);
    if (of_node.count(NodeKind::Nvs) == 0) return;
    append(at,
           way == Way::Out ? of_node.path(gpu_ref(at.gpu), nvswitch)
                           : of_node.path(nvswitch, gpu_ref(at.gpu)),
           route);
  };
  // A head's load-reduce reads only what the other ranks scatter to it on the channel.
  for (const Rank sender : group.senders) {
    append_way(sender, Way::Out);
    append_channel(sender, channel, is_network ? Reach::Across : Reach::Within, route);
  }
  for (const Rank receiver : group.receivers) append_way(receiver, Way::In);
  if (is_network && !append_tree(group, channel, route)) return {};
  std::ranges::sort(route.links);
  const auto repeated = std::ranges::unique(route.links);
  route.links.erase(repeated.begin(), repeated.end());
  return route;
}

int JobNetwork::node_of_link(int id) const {
  const auto after = std::ranges::upper_bound(first_link_, id);
  return static_cast<int>(after - first_link_.begin()) - 1;
}

SimLink JobNetwork::link(int id) const {
  if (fabric_.fabric != nullptr && id >= first_fabric_link_) {
    FabricLink link = fabric_.fabric->link(id - first_fabric_link_);
    return {.rate = link.rate, .name = link.name, .wire = std::move(link.name)};
  }
  if (is_channel(id)) {
    const int number = id - first_channel_link_;
    const Place& at = place(Rank{number / channel_links()});
    return {.rate = channel_rate(id),
            .name = fmt::format("node {}: {}, channel {}", at.node,
                                name_of(system(at.node), gpu_ref(at.gpu)), number % nchannels_)};
  }
  if (is_bridge(id)) {
    SimLink link = this->link(id - first_bridge_);
    return {.rate = rate(id), .name = link.name + ", both ways"};
  }
  const int node = node_of_link(id);
  const System& of_node = system(node);
  const Link& link = of_node.link(id - first_link_[static_cast<std::size_t>(node)]);
  const std::string name = fmt::format("node {}: {} -> {}", node, name_of(of_node, link.from),
                                       name_of(of_node, link.to));
  std::string wire;
  if (link.to.kind == NodeKind::Net) {
    wire = fmt::format("node {}: to {}", node, name_of(of_node, link.to));
  } else if (link.from.kind == NodeKind::Net) {
    wire = fmt::format("node {}: from {}", node, name_of(of_node, link.from));
  }
  return {.rate = rate(id), .name = name, .wire = std::move(wire)};
}

BytesPerSecond JobNetwork::rate(int id) const {
  if (is_channel(id)) return channel_rate(id);
  if (fabric_.fabric != nullptr && id >= first_fabric_link_) {
    return fabric_.fabric->link(id - first_fabric_link_).rate;
  }
  if (is_bridge(id)) return rate(id - first_bridge_) * (2 * model_.host_bridge);
  const int node = node_of_link(id);
  const Link& link = system(node).link(id - first_link_[static_cast<std::size_t>(node)]);
  // NCCL uses its rate of a socket link for choices only, and has none for some CPUs.
  if (link.kind == LinkKind::Sys) {
    const BytesPerSecond between = socket_rate(system(node), link, model_);
    if (between.value > 0) return between;
  }
  const double share = link.kind == LinkKind::Pci ? model_.pci_rate : 1;
  return BytesPerSecond{static_cast<double>(link.bandwidth) * share * kGigabyte};
}

}  // namespace ringside
