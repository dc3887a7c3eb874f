#include "harness/logs/write_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/debuglog/cpu_list.h"
#include "engine/debuglog/operation_text.h"
#include "engine/debuglog/topology_text.h"
#include "engine/debuglog/warning_text.h"
#include "harness/logs/connections.h"
#include "harness/logs/incident_log.h"
#include "harness/logs/write_begin.h"
#include "harness/logs/write_diagnostics.h"

namespace ringside {
namespace {

constexpr Subsystems kInit = Subsystem::Init;

/// The steps of the set-up of a communicator whose duration is drawn.
enum SetUpStep : std::uint64_t { kBootstrap, kTopo, kKernels, kAlloc, kTotal, kCore };

/// Returns the seconds that a step takes with that many ranks.
double seconds(const RankView& rank, SetUpStep what, double least, double each) {
  return least * (0.8 + 0.4 * rank.share(what)) + each * rank.layout().nranks();
}

void write_root_lines(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  if (version.is_from(22) && version.is_before(26)) {
    log.info(kInit, rank.init_thread(), "CC Off, Multi-GPU CC Off, workFifoBytes 1048576");
  } else if (version.is_from(26)) {
    log.info(kInit, rank.init_thread(), "CC Off, workFifoBytes 1048576");
  }
  if (!log.shows(Subsystem::Tuning)) return;
  for (const std::string& line : tuning_table_text(version, rank.layout().tuner().table())) {
    log.info(Subsystem::Tuning, rank.init_thread(), line);
  }
}

void write_nvls_support(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const CommunicatorLayout& layout = rank.layout();
  if (version.is_before(17) || layout.node_place(rank.rank).local_ranks <= 2) return;
  const CommShape& shape = layout.job().connection.shape;
  const bool is_searched = layout.report(rank.rank).graphs[GraphId::Nvls].nchannels > 0;
  const bool is_available =
      rank.job.request().has_partial_nvls ? !rank.host().lacks_nvls : is_searched;
  log.info(kInit | Subsystem::Nvls, rank.init_thread(),
           nvls_support_text(version, rank.main_thread().dev, is_available,
                             std::max(shape.nvls_channels, 16)));
}

void write_topology(const RankView& rank, DebugLog& log) {
  const CommunicatorLayout& layout = rank.layout();
  const LineThread thread = rank.init_thread();
  const int first_rank = *std::ranges::min_element(layout.node(rank.rank).ranks);
  if (!log.shows(Subsystem::Graph)) return;
  for (const std::string& line :
       system_text(rank.version(), layout.system(rank.rank), first_rank)) {
    log.info(Subsystem::Graph, thread, line);
  }
}

void write_patterns(const RankView& rank, DebugLog& log) {
  if (!log.shows(Subsystem::Graph)) return;
  const CommunicatorLayout& layout = rank.layout();
  const int first_rank = *std::ranges::min_element(layout.node(rank.rank).ranks);
  for (const Graph& graph : layout.report(rank.rank).graphs.by_id) {
    if (graph.nchannels == 0) continue;
    for (const std::string& line :
         graph_text(rank.version(), layout.system(rank.rank), graph, first_rank)) {
      log.info(Subsystem::Graph, rank.init_thread(), line);
    }
  }
}

/// A rank's neighbours in a ring. They omit rank `skipped`; -1: none.
struct Neighbours {
  int previous, next;
};
Neighbours neighbours(const RankView& rank, int channel, int skipped) {
  const CommunicatorLayout& layout = rank.layout();
  Neighbours found{layout.in_ring(channel, rank.rank, -1), layout.in_ring(channel, rank.rank, 1)};
  if (found.previous == skipped) found.previous = layout.in_ring(channel, rank.rank, -2);
  if (found.next == skipped) found.next = layout.in_ring(channel, rank.rank, 2);
  return found;
}

void write_rings(const RankView& rank, DebugLog& log) {
  const CommunicatorLayout& layout = rank.layout();
  const NcclVersion version = rank.version();
  const LineThread thread = rank.init_thread();
  const bool is_short = rank.job.request().incident.kind == IncidentKind::ShortRing &&
                        breaks_off(rank, LogPhase::Kind::Graphs);
  const int skipped = is_short ? skipped_rank(rank) : -1;
  const int nchannels = layout.nchannels();
  if (rank.rank == 0) {
    std::vector<int> ranks;
    for (int channel = 0; channel < nchannels; ++channel) {
      ranks.clear();
      for (const Rank member :
           layout.job().connection.channels.rings[static_cast<std::size_t>(channel)]) {
        if (to_int(member) != skipped) ranks.push_back(to_int(member));
      }
      log.info(kInit, thread, channel_ring_text(version, channel, nchannels, ranks));
    }
  }
  if (version.is_from(10) && log.shows(Subsystem::Graph)) {
    for (int channel = 0; channel < nchannels; ++channel) {
      const Neighbours seen = neighbours(rank, channel, skipped);
      log.info(Subsystem::Graph, thread, ring_text(channel, seen.previous, rank.rank, seen.next));
    }
  }
}

void write_trees(const RankView& rank, DebugLog& log) {
  const CommunicatorLayout& layout = rank.layout();
  std::vector<TreeEdges> trees;
  for (int channel = 0; channel < layout.nchannels(); ++channel) {
    trees.push_back(layout.tree(channel, rank.rank));
  }
  const LineThread thread = rank.init_thread();
  if (rank.version().is_from(8) && log.shows(Subsystem::Graph)) {
    for (std::size_t channel = 0; channel < trees.size(); ++channel) {
      log.info(Subsystem::Graph, thread,
               tree_text(static_cast<int>(channel), rank.rank, trees[channel]));
    }
    const CommShape& shape = layout.job().connection.shape;
    if (rank.version().is_from(18) && shape.nvls_channels > 0 && shape.nnodes > 1) {
      log.info(Subsystem::Graph, thread,
               nvls_trees_text(rank.rank, layout.nvls_tree(0, rank.rank),
                               layout.nvls_tree(1, rank.rank)));
    }
  }
  log.info(kInit, thread, trees_text(rank.version(), rank.rank, trees));
}

/// Writes, when connections are made, which pairs of GPU and NIC use GPUDirect RDMA.
void write_gdr_pairs(const RankView& rank, const std::vector<ConnectionFacts>& connections,
                     DebugLog& log) {
  const NcclVersion version = rank.version();
  const Subsystems about =
      version.is_before(26) ? Subsystems{Subsystem::Net} : Subsystem::Graph | Subsystem::Net;
  if (version.is_from(29) || !log.shows(about)) return;
  std::set<std::pair<int, bool>> said;
  const ConnectionEnd own = connection_end(rank.layout(), rank.rank);
  const System& system = rank.layout().system(rank.rank);
  for (const ConnectionFacts& connection : connections) {
    const bool is_send = connection.medium == Medium::NetSend;
    if (!is_send && connection.medium != Medium::NetReceive) continue;
    if (!said.emplace(connection.net_device, is_send).second) continue;
    const auto net = std::ranges::find(system.nets, connection.net_device, &NetInfo::dev);
    if (net == system.nets.end() || !net->gdr) continue;
    const NodeRef from{NodeKind::Gpu, rank.layout().place(rank.rank).gpu};
    const NodeRef to{NodeKind::Net, static_cast<int>(net - system.nets.begin())};
    log.info(about, rank.init_thread(),
             gdr_pair_text(version, {.rank = own.rank,
                                     .bus_id = own.bus_id,
                                     .net_device = connection.net_device,
                                     .distance = system.path(from, to).type,
                                     .is_read = is_send,
                                     .is_enabled = connection.is_gdr}));
  }
}

void write_connections(const RankView& rank, const std::vector<ConnectionFacts>& connections,
                       DebugLog& log) {
  const LineThread thread = rank.init_thread();
  for (const ConnectionFacts& connection : connections) {
    log.info(kInit | Subsystem::Net, thread, connection_text(rank.version(), connection));
  }
}

void write_proxies(const RankView& rank, DebugLog& log) {
  if (rank.version().is_before(23)) return;
  const int core = static_cast<int>(rank.share(kCore) * 60);
  const LineThread proxy = rank.proxy_thread();
  const int dev = rank.main_thread().dev;
  log.info(kInit, proxy, fmt::format("[Proxy Service] Device {} CPU core {}", dev, core));
  log.info(kInit, {proxy.tid + 1, proxy.dev},
           fmt::format("[Proxy Service UDS] Device {} CPU core {}", dev, core + 1));
}

void write_gdr_devices(const RankView& rank, DebugLog& log) {
  const HostNetwork& network = rank.host().network;
  // Up to 2.12, a device is named only if the kernel module is missing.
  if (rank.version().is_before(13) && (network.has_gdr || network.kind != NetworkKind::Ib)) return;
  for (const Hca& hca : network.devices) {
    log.info(Subsystem::Net, rank.init_thread(),
             gdr_device_text(rank.version(), network.name, hca, network.has_gdr));
  }
}

}  // namespace

void write_start(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const LineThread thread = rank.init_thread();
  const HostNetwork& network = rank.host().network;
  if (version.is_from(27)) log.info(kInit, thread, assigned_net_text(network.name));
  log.info(kInit | Subsystem::Net, thread, using_network_text(network.name));
  const bool has_no_root = rank.job.request().incident.kind == IncidentKind::NoRoute;
  if (has_no_root && version.is_before(23)) return write_incident(rank, LogPhase::Kind::Start, log);
  if (version.is_from(13) && network.has_gdr && network.kind == NetworkKind::Ofi) {
    log.info(kInit, thread, dma_buf_text(rank.main_thread().dev));
  }
  if (version.is_from(18)) log.info(kInit, thread, init_start_text(version, rank.facts()));
  if (has_no_root) return write_incident(rank, LogPhase::Kind::Start, log);
  if (version.is_from(23)) {
    const double recv = seconds(rank, kBootstrap, 0.02, 0.0004);
    log.info(kInit | Subsystem::Bootstrap | Subsystem::Profile, thread,
             bootstrap_times_text({.total = recv + 0.0021,
                                   .create = 0.00008,
                                   .send = 0.0003,
                                   .recv = recv,
                                   .ring = 0.0012}));
  }
  write_incident(rank, LogPhase::Kind::Start, log);
}

void write_graphs(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const LineThread thread = rank.init_thread();
  const bool is_first = rank.generation == 0;
  if (is_first) write_settings(rank, ReadAt::Topology, thread, log);
  write_gdr_devices(rank, log);
  write_topology(rank, log);
  const NodePlace place = rank.layout().node_place(rank.rank);
  if (place.is_mnnvl && version.is_from(21)) {
    log.info(kInit, thread, mnnvl_text(version, place.local_ranks, place.local_rank));
  }
  if (rank.job.request().refuses_p2p && version.is_from(12) && place.local_ranks > 1) {
    log.info(kInit | Subsystem::P2p, thread, p2p_refused_text(0, 1));
  }
  const LogProcess& process = rank.job.processes()[static_cast<std::size_t>(rank.process)];
  log.info(kInit, thread,
           affinity_text(rank.main_thread().dev,
                         version.is_before(27) ? process.cpus : cpu_list(process.cpus)));
  write_nvls_support(rank, log);
  if (is_first) write_settings(rank, ReadAt::Channels, thread, log);
  if (version.is_from(20)) log.info(kInit, thread, nodes_text(rank.facts(), place));
  write_patterns(rank, log);
  write_rings(rank, log);
  write_incident(rank, LogPhase::Kind::Graphs, log);
  if (breaks_off(rank, LogPhase::Kind::Graphs)) return;
  write_trees(rank, log);
  if (version.is_from(16)) {
    log.info(kInit, thread, p2p_chunk_text(rank.layout().job().connection.shape.p2p_chunk));
  }
  if (is_first && version.is_from(23)) log.info(kInit, thread, no_profiler_text(version));
}

void write_connect(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const LineThread thread = rank.init_thread();
  const ConnectionRules rules = rank.job.rules(rank.host());
  RankConnections connections{rank.layout(), rules, rank.rank};
  write_proxies(rank, log);
  const std::vector<ConnectionFacts> rings = connections.connect_rings();
  write_gdr_pairs(rank, rings, log);
  write_connections(rank, rings, log);
  write_incident(rank, LogPhase::Kind::Connect, log);
  if (breaks_off(rank, LogPhase::Kind::Connect)) return;
  if (version.is_from(8)) {
    log.info(kInit, thread, connected_rings_text(version, connections.ring_use()));
  }
  const std::vector<ConnectionFacts> trees = connections.connect_trees();
  write_connections(rank, trees, log);
  if (version.is_from(8)) log.info(kInit, thread, connected_trees_text());
  const CommShape& shape = rank.layout().job().connection.shape;
  if (shape.nvls_channels > 0 && shape.nnodes > 1) {
    write_connections(rank, connections.connect_nvls_trees(), log);
    log.info(kInit, thread, connected_nvls_tree_text());
  }
}

void write_complete(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  const LineThread thread = rank.init_thread();
  const CommunicatorLayout& layout = rank.layout();
  const CommShape& shape = layout.job().connection.shape;
  const auto& thresholds = layout.tuner().table().thread_thresholds;
  ThreadThresholds shown;
  for (std::size_t protocol = 0; protocol < 3; ++protocol) {
    shown.tree[protocol] = thresholds[static_cast<std::size_t>(Algorithm::Tree)][protocol];
    shown.ring[protocol] = thresholds[static_cast<std::size_t>(Algorithm::Ring)][protocol];
  }
  if (rank.generation == 0 && version.is_from(22)) {
    log.info(kInit | Subsystem::Tuning, thread, no_tuner_text(version));
  }
  const auto write_thresholds = [&] {
    log.info(kInit, thread, thread_thresholds_text(version, shown));
  };
  if (version.is_from(31)) write_thresholds();
  if (rank.rank == 0) write_root_lines(rank, log);
  if (version.is_before(31)) write_thresholds();
  log.info(kInit, thread,
           channel_counts_text(version, {.coll = layout.nchannels(),
                                         .nvls = shape.nvls_channels,
                                         .p2p = shape.p2p_channels,
                                         .p2p_per_peer = shape.p2p_channels_per_peer,
                                         .has_collnet = shape.has_collnet}));
  if (version.is_from(31)) {
    const bool is_even = shape.min_local_ranks == shape.max_local_ranks;
    log.info(kInit, thread, symmetric_text(is_even ? shape.max_local_ranks : 0, true));
  }
  log.info(kInit, thread, init_complete_text(version, rank.facts()));
  write_diagnostics(rank, log);
  if (version.is_before(22)) return;
  InitTimes times{.kernels = rank.generation == 0 ? seconds(rank, kKernels, 0.25, 0) : 0,
                  .alloc = seconds(rank, kAlloc, 0.1, 0),
                  .bootstrap = seconds(rank, kBootstrap, 0.02, 0.0004),
                  .allgathers = 0.0001 * layout.nranks(),
                  .topo = seconds(rank, kTopo, 0.4, 0),
                  .graphs = 0.01,
                  .connections = connects_late(rank.job) ? 0.05 : 0.4,
                  .rest = 0.01};
  times.total = times.kernels + times.alloc + times.bootstrap + times.allgathers + times.topo +
                times.graphs + times.connections + times.rest;
  log.info(kInit | Subsystem::Profile, thread, init_times_text(version, rank.facts(), times));
}

void write_end(const RankView& rank, DebugLog& log) {
  const NcclVersion version = rank.version();
  if (version.is_before(12)) return;
  const Subsystem about = version.is_before(30) ? Subsystem::Init : Subsystem::Destroy;
  if (version.is_from(31)) log.info(about, rank.main_thread(), destroy_start_text(rank.facts()));
  log.info(about, rank.main_thread(), destroy_text(version, rank.facts()));
}

}  // namespace ringside
