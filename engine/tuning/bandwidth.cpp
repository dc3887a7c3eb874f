#include <algorithm>
#include <limits>

#include "engine/tuning/cost_terms.h"

// Each assignment rounds to single precision where NCCL's does, and the operands keep NCCL's order: ties and the last
// digit depend on both.
// source  NCCL 2.30.7 graph/tuning.cc

namespace ringside {
namespace {

/// Returns the table's value for the class of the GPUs and the number of nodes.
double value_in(const TuningModel::PerClass& table, const CostInputs& in) {
  return table[static_cast<std::size_t>(in.gpu_class())][in.nodes_column()];
}

/// Across nodes, LL is limited by the CPUs that handle the flags, not by the GPUs.
float ll_bus(const CostInputs& in) {
  GpuClass row = in.gpu_class();
  if (in.shape.nnodes > 1) {
    const CpuVendor vendor = in.cpu_vendor(in.model.cpus_of_own_host);
    const bool amd = vendor == CpuVendor::Amd || vendor == CpuVendor::Mixed;
    row = amd ? GpuClass::Ampere : GpuClass::Volta;
  }
  return static_cast<float>(in.model.ll_bus[static_cast<std::size_t>(row)][in.nodes_column()]);
}

/// Lowers `bus` to `limit` if that is smaller, and stores the reason.
void limit_bus(Speed& speed, double limit, Bound bound) {
  if (limit < speed.terms.bus_gbs) {
    speed.terms.bus_gbs = static_cast<float>(limit);
    speed.terms.bound = bound;
  }
}

/// NVLS is limited by the switch's rate per head, or by the NICs. Each head has one channel.
void nvls_channel(const CostInputs& in, Collective collective, Algorithm algorithm,
                  const GraphSummary& graph, Speed& speed) {
  const float ppn = in.model.nvls_gathers_count_smallest_node
                        ? static_cast<float>(in.shape.min_local_ranks)
                        : in.ranks_per_node();
  const auto k = static_cast<float>(graph.nchannels);
  float intra = graph.bw_intra;
  float inter = graph.bw_inter;
  float cap = std::numeric_limits<float>::max();
  if (in.model.nvls_speed == NvlsSpeed::ByNodes) {
    (in.shape.nnodes <= 2 ? inter : intra) = cap;
  } else if (in.model.nvls_speed == NvlsSpeed::Efficiency) {
    const double efficiency = in.model.nvls_efficiency[static_cast<std::size_t>(in.gpu_class())];
    intra = static_cast<float>(graph.bw_intra * efficiency * static_cast<double>(k - 1) /
                               static_cast<double>(k));
    if (collective == Collective::AllReduce) intra *= 2.0F;
    if (algorithm == Algorithm::NvlsTree) {
      if (in.shape.nnodes <= 2) inter *= 2.0F;
      cap = static_cast<float>(value_in(in.model.nvls_tree_channel, in));
    }
  } else if (algorithm == Algorithm::NvlsTree && in.shape.nnodes > 2) {
    inter /= 2;
  }
  if (is_gather(collective)) {
    if (in.model.nvls_gathers_skip_self) intra *= (ppn - 1.0F) / ppn;
    inter = static_cast<float>(inter * in.model.nvls_gather_net);
  }
  speed.terms.channel_gbs = std::min({intra, inter, cap});
  if (intra <= inter && intra <= cap) {
    speed.terms.bound = Bound::NvSwitch;
  } else {
    speed.terms.bound = inter <= cap ? Bound::Nics : Bound::NvlsTreeChannel;
  }
}

/// Up to 2.30, two nodes are limited by the links within the nodes: the graph has already given each channel the rate
/// of its NIC.
void graph_channel(const CostInputs& in, Algorithm algorithm, const GraphSummary& graph,
                   Speed& speed) {
  const bool is_collnet = facts_of(algorithm).collnet == CollNet::Always;
  const bool is_blackwell = in.gpu_class() == GpuClass::Blackwell;
  const bool takes_narrower =
      (algorithm == Algorithm::Pat && in.model.pat_takes_narrower) ||
      (algorithm == Algorithm::Tree && is_blackwell && in.model.blackwell_trees_take_narrower);
  const bool pair_takes_nics =
      algorithm == Algorithm::Ring && is_blackwell && in.model.blackwell_ring_pairs_take_nics;
  const int most_local = pair_takes_nics ? 1 : 2;  // nodes
  const bool takes_intra = takes_narrower ? graph.bw_intra < graph.bw_inter
                                          : in.shape.nnodes <= most_local || is_collnet;
  speed.terms.channel_gbs = takes_intra ? graph.bw_intra : graph.bw_inter;
  const bool nics = in.shape.nnodes > 1 && (!takes_intra || graph.bw_intra == graph.bw_inter);
  speed.terms.bound = nics ? Bound::Nics : Bound::LocalLinks;
}

void apply_ring(const CostInputs& in, Collective collective, Protocol protocol, Speed& speed) {
  float& bus = speed.terms.bus_gbs;
  const TuningModel& m = in.model;
  if (protocol == Protocol::LL) {
    const bool reduces = collective == Collective::AllReduce || collective == Collective::Reduce;
    bus = static_cast<float>(bus *
                             (in.shape.nnodes > 1 || reduces ? m.ring_ll : m.ring_ll_otherwise));
    speed.terms.bound = Bound::LlLines;
    limit_bus(speed, ll_bus(in), Bound::LlBus);
  }
  if (protocol == Protocol::LL128) {
    bus = static_cast<float>(
        bus * (in.ranks_per_node() < 2 ? m.ring_ll128_one_rank_a_node : m.ring_ll128));
    limit_bus(speed, speed.terms.nchannels * value_in(m.ring_ll128_channel, in),
              Bound::Ll128Channel);
  }
}

void apply_tree(const CostInputs& in, Protocol protocol, const GraphSummary& graph, Speed& speed) {
  float& bus = speed.terms.bus_gbs;
  const TuningModel& m = in.model;
  bus = static_cast<float>(bus * m.tree);
  limit_bus(speed, speed.terms.nchannels * value_in(m.tree_channel, in), Bound::TreeChannel);
  if (protocol == Protocol::LL) {
    bus = static_cast<float>(bus * 1.0 / m.tree_ll_divisor);
    speed.terms.bound = Bound::LlLines;
    limit_bus(speed, ll_bus(in), Bound::LlBus);
  }
  if (protocol == Protocol::LL128) {
    bus = static_cast<float>(bus * (in.shape.nnodes == 1 ? m.tree_ll128_one_node : m.tree_ll128));
    limit_bus(speed, speed.terms.nchannels * value_in(m.tree_ll128_channel, in),
              Bound::Ll128Channel);
  }
  const Pattern pattern = m.tree_pattern_of_all_nodes ? in.shape.max_tree_pattern : graph.pattern;
  if (pattern == Pattern::Tree) bus = static_cast<float>(bus * m.tree_without_balance);
}

void apply_collnet_direct(const CostInputs& in, Collective collective, const GraphSummary& graph,
                          Speed& speed) {
  float& bus = speed.terms.bus_gbs;
  const float ppn = in.ranks_per_node();
  if (is_gather(collective) && in.model.collnet_direct_gather_blends) {
    constexpr float kPeers = 7;  // of a GPU in a full node of 8
    const float full = (ppn - 1) / kPeers;
    const auto share = static_cast<float>(in.model.collnet_direct_gather_full * full +
                                          in.model.collnet_direct_gather_lone * (1.0 - full));
    bus = ppn * graph.bw_intra * share;
    speed.terms.bound = Bound::LocalLinks;
    return;
  }
  if (is_gather(collective)) {
    const auto net =
        static_cast<float>(graph.bw_inter * static_cast<float>(in.model.collnet_direct_gather_net));
    bus = ppn * std::min(graph.bw_intra, net);
    speed.terms.bound = net < graph.bw_intra ? Bound::Nics : Bound::LocalLinks;
    return;
  }
  // GPUs without a nearby NIC send through a GPU that has one.
  auto factor = static_cast<float>(ppn / (1.0 * graph.nchannels));
  factor -= (factor - 1) / 2;
  bus /= factor;
  if (in.shape.min_cc >= 90) bus = static_cast<float>(bus * in.model.collnet_direct_hopper);
}

/// Returns algorithm bandwidth / bus bandwidth: bytes of the buffer over bytes that a link carries.
float algorithm_share(const CostInputs& in, Collective collective, Algorithm algorithm) {
  if (algorithm == Algorithm::Nvls && is_gather(collective)) {
    return static_cast<float>(in.model.nvls_gather_ratio);
  }
  if (algorithm != Algorithm::Ring && is_gather(collective)) return 1;
  const double of_ring = (1.0 * in.shape.nranks) / ring_steps(collective, in.shape.nranks);
  switch (algorithm) {
    case Algorithm::Ring:
      return static_cast<float>(of_ring);
    case Algorithm::Nvls:
      return static_cast<float>(in.model.nvls_ratio > 0 ? in.model.nvls_ratio : of_ring);
    case Algorithm::NvlsTree: {
      double ratio = in.model.nvls_tree_ratio;
      if (ratio <= 0) return static_cast<float>(of_ring);
      if (in.model.nvls_tree_ratio_by_nodes && in.shape.nnodes > 1) {
        ratio *= 1.0 * in.shape.nnodes / (in.shape.nnodes - 1);
      }
      return static_cast<float>(ratio);
    }
    default:
      return 0.5F;  // each byte goes up to the root and down again
  }
}

}  // namespace

GpuClass CostInputs::gpu_class() const { return class_of_gpu(shape.min_cc); }

int ring_steps(Collective collective, int nranks) {
  switch (collective) {
    case Collective::AllReduce:
      return 2 * (nranks - 1);
    case Collective::AllGather:
    case Collective::ReduceScatter:
      return nranks - 1;
    default:
      return nranks;
  }
}

Speed bandwidth_of(const CostInputs& in, Collective collective, Algorithm algorithm,
                   Protocol protocol) {
  const GraphSummary& graph = in.shape.graph(facts_of(algorithm).graph);
  Speed speed;
  speed.terms.nchannels = graph.nchannels;
  if (graph.nchannels == 0) return speed;
  if (facts_of(algorithm).takes_nvswitch) {
    nvls_channel(in, collective, algorithm, graph, speed);
  } else {
    graph_channel(in, algorithm, graph, speed);
  }
  speed.terms.bus_gbs = static_cast<float>(graph.nchannels) * speed.terms.channel_gbs;
  if (algorithm == Algorithm::Ring) apply_ring(in, collective, protocol, speed);
  if (algorithm == Algorithm::Tree) apply_tree(in, protocol, graph, speed);
  if (algorithm == Algorithm::Pat) {
    speed.terms.bus_gbs = static_cast<float>(speed.terms.bus_gbs * in.model.pat);
  }
  if (algorithm == Algorithm::CollNetDirect) apply_collnet_direct(in, collective, graph, speed);
  speed.algorithm_gbs = speed.terms.bus_gbs * algorithm_share(in, collective, algorithm);
  return speed;
}

}  // namespace ringside
