#include "harness/logs/connections.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/topology/bus_id.h"
#include "engine/topology/paths/reach.h"

namespace ringside {
namespace {

/// Returns the first GPU between the ends of a path; -1: none.
int gpu_between(const System& system, const Path& path, int from, int to) {
  for (const LinkId id : path.links) {
    const NodeRef next = system.link(id).to;
    if (next.kind == NodeKind::Gpu && next.index != from && next.index != to) return next.index;
    if (next.kind != system.silicon) continue;
    for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) {
      const bool is_its = system.gpus[static_cast<std::size_t>(gpu)].device == next.index;
      if (is_its && gpu != from && gpu != to) return gpu;
    }
  }
  return -1;
}

}  // namespace

ConnectionEnd connection_end(const CommunicatorLayout& layout, int rank) {
  const GpuInfo& gpu = layout.gpu(rank);
  return {.rank = rank, .nvml_dev = gpu.dev, .bus_id = bus_id_or_none(gpu.bus_id)};
}

void RankConnections::plan(std::vector<PlannedConnection>& planned, Direction direction,
                           int channel, int peer) {
  if (peer < 0 || peer == rank_ || !connected_.emplace(direction, channel, peer).second) return;
  const int ahead = direction == Direction::Send ? peer - rank_ : rank_ - peer;
  planned.push_back({(ahead + layout_.nranks()) % layout_.nranks(), direction, channel, peer});
}

void RankConnections::plan_tree(std::vector<PlannedConnection>& planned, int channel,
                                const TreeEdges& edges) {
  for (const int peer : {edges.down[0], edges.down[1], edges.down[2], edges.up}) {
    plan(planned, Direction::Receive, channel, peer);
    plan(planned, Direction::Send, channel, peer);
  }
}

std::vector<ConnectionFacts> RankConnections::connect(std::vector<PlannedConnection> planned,
                                                      GraphId graph) {
  std::ranges::stable_sort(planned, {}, [](const PlannedConnection& one) {
    return std::tuple{one.distance, one.direction, one.channel};
  });
  std::vector<ConnectionFacts> connections;
  for (const PlannedConnection& one : planned) {
    ConnectionFacts connection = facts(one, graph);
    // A receiver logs a connection only if it owns a NIC.
    if (one.direction == Direction::Receive && connection.medium != Medium::NetReceive) continue;
    connections.push_back(connection);
  }
  return connections;
}

ConnectionFacts RankConnections::facts(const PlannedConnection& one, GraphId graph) const {
  const bool is_send = one.direction == Direction::Send;
  const int from = is_send ? rank_ : one.peer;
  const int to = is_send ? one.peer : rank_;
  ConnectionFacts connection{.channel = one.channel,
                             .from = connection_end(layout_, from),
                             .to = connection_end(layout_, to)};
  const auto [node, a] = layout_.place(from);
  const auto [other_node, b] = layout_.place(to);
  const System& system = layout_.system(from);
  const TopologyParameters& topology = rules_.topology;
  if (node != other_node || prefers_network(system, topology, a, b)) {
    add_network(connection, one.direction, graph);
    return connection;
  }
  // The driver's refusal ends P2P, except between GPUs with NVLink, where NCCL fails instead of using another transport.
  // source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckP2p
  const bool is_refused =
      rules_.refuses_p2p && system.path(gpu_ref(a), gpu_ref(b)).type > PathType::Nvb;
  const bool is_same_host = system.node(gpu_ref(a)).host == system.node(gpu_ref(b)).host;
  if (may_p2p(system, topology, a, b) && !is_refused) {
    add_p2p(connection);
  } else if (is_same_host && !topology.shm_disable) {
    connection.medium = Medium::Shm;
  } else {
    add_network(connection, one.direction, graph);
  }
  return connection;
}

/// source  NCCL 2.30.7 transport/p2p.cc: p2pSendSetup (the names), graph/paths.cc: ncclTopoCheckP2p (read mode)
void RankConnections::add_p2p(ConnectionFacts& connection) const {
  constexpr int kA100 = 80;  // compute capability 8.0: the only one whose receivers read
  const int from = connection.from.rank;
  const System& system = layout_.system(from);
  const int a = layout_.place(from).gpu;
  const int b = layout_.place(connection.to.rank).gpu;
  const Path& path = system.path(gpu_ref(a), gpu_ref(b));
  connection.medium = system.nhosts > 1  ? Medium::P2pMnnvl
                      : rules_.has_cumem ? Medium::P2pCuMem
                                         : Medium::P2pIpc;
  connection.is_read = system.gpus[static_cast<std::size_t>(a)].sm == kA100 &&
                       system.gpus[static_cast<std::size_t>(b)].sm == kA100 &&
                       path.type == PathType::Nvl;
  // NCCL uses NVLink through a third GPU from 2.8 on.
  const int between = path.type == PathType::Nvb ? gpu_between(system, path, a, b) : -1;
  if (between < 0 || !rules_.version.is_from(8)) return;
  connection.medium = Medium::P2pIndirect;
  const std::vector<int>& ranks = layout_.node(from).ranks;
  connection.through = connection_end(layout_, ranks[static_cast<std::size_t>(between)]);
}

/// source  NCCL 2.30.7 graph/search.cc: ncclTopoGetNetDev
int RankConnections::net_of(int channel, GraphId id) const {
  const System& system = layout_.system(rank_);
  const int gpu = layout_.place(rank_).gpu;
  const Graph& graph = layout_.report(rank_).graphs[id];
  const std::size_t count = std::min(graph.inter.size(), graph.intra.size());
  if (count == 0) return local_net(system, gpu, channel, rules_.topology);
  if (id != GraphId::Nvls) {
    const std::size_t index = static_cast<std::size_t>(channel) % count;
    return graph.inter[index][graph.intra[index].front() == gpu ? 0 : 1];
  }
  std::vector<int> own;
  for (std::size_t i = 0; i < count; ++i) {
    if (graph.intra[i].front() == gpu) own.push_back(graph.inter[i][0]);
  }
  if (own.empty()) return local_net(system, gpu, channel, rules_.topology);
  return own[static_cast<std::size_t>(channel) % own.size()];
}

/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckGdr (GPUDirect RDMA, and its mapping over PCIe), graph/search.cc:
///         ncclTopoGetNetDev (proxy rank)
void RankConnections::add_network(ConnectionFacts& connection, Direction direction,
                                  GraphId graph) const {
  const System& system = layout_.system(rank_);
  const int gpu = layout_.place(rank_).gpu;
  const int net = net_of(connection.channel, graph);
  connection.medium = direction == Direction::Send ? Medium::NetSend : Medium::NetReceive;
  connection.network = rules_.network;
  if (net < 0) return;
  connection.net_device = system.nets[static_cast<std::size_t>(net)].dev;
  const Path& path = system.path(gpu_ref(gpu), {NodeKind::Net, net});
  if (direction == Direction::Send && path.type == PathType::Pxn) {
    const int relay = gpu_between(system, path, gpu, -1);
    if (relay >= 0) {
      connection.proxy_rank = layout_.node(rank_).ranks[static_cast<std::size_t>(relay)];
    }
  }
  connection.is_gdr = may_gdr(system, rules_.topology, gpu, net, direction == Direction::Send);
  // A GPU with C2C to its CPU maps its memory over PCIe, unless the NIC is reached by C2C, too.
  const int cpu = local_cpu(system, gpu);
  connection.is_pci_mapped =
      cpu >= 0 && system.path(gpu_ref(gpu), {NodeKind::Cpu, cpu}).type == PathType::C2c &&
      path.type != PathType::P2c;
}

std::vector<ConnectionFacts> RankConnections::connect_rings() {
  std::vector<PlannedConnection> planned;
  for (int channel = 0; channel < layout_.nchannels(); ++channel) {
    plan(planned, Direction::Receive, channel, layout_.in_ring(channel, rank_, -1));
    plan(planned, Direction::Send, channel, layout_.in_ring(channel, rank_, 1));
  }
  std::vector<ConnectionFacts> connections = connect(std::move(planned), GraphId::Ring);
  ring_use_.gdr = true;
  for (const ConnectionFacts& connection : connections) {
    const bool is_send = connection.medium == Medium::NetSend;
    if (!is_send && connection.medium != Medium::NetReceive) continue;
    ring_use_.gdr = ring_use_.gdr && connection.is_gdr;
    ring_use_.pxn = ring_use_.pxn || connection.proxy_rank >= 0;
  }
  ring_use_.gdr = ring_use_.gdr && layout_.node_place(rank_).nnodes > 1;
  return connections;
}

std::vector<ConnectionFacts> RankConnections::connect_trees() {
  std::vector<PlannedConnection> planned;
  for (int channel = 0; channel < layout_.nchannels(); ++channel) {
    plan_tree(planned, channel, layout_.tree(channel, rank_));
  }
  return connect(std::move(planned), GraphId::Tree);
}

std::vector<ConnectionFacts> RankConnections::connect_nvls_trees() {
  std::vector<PlannedConnection> planned;
  for (int channel = 0; channel < layout_.job().connection.shape.nvls_channels; ++channel) {
    plan_tree(planned, channel, layout_.nvls_tree(channel % 2, rank_));
  }
  return connect(std::move(planned), GraphId::Nvls);
}

}  // namespace ringside
