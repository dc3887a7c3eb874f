#include "engine/tuning/cost_table.h"

#include <algorithm>
#include <bit>

#include "engine/tuning/cost_terms.h"

namespace ringside {
namespace {

constexpr int kMaxThreads = 640;        // threads of a block
constexpr int kMaxSimpleThreads = 512;  // threads that move data; the others post
constexpr float kPciBandwidth = 12;     // GB/s; PCI 3.0 x16

bool is_collnet(Algorithm a) { return facts_of(a).collnet == CollNet::Always; }
bool is_nvls(Algorithm a) { return facts_of(a).takes_nvswitch; }

/// Returns whether NCCL has a kernel for the combination.
Obstacle kernel_obstacle(const TuningModel& model, Collective c, Algorithm a, Protocol p) {
  if (!has_algorithm(c, a)) return Obstacle::NotForCollective;
  if (facts_of(a).is_simple_only && p != Protocol::Simple) return Obstacle::SimpleOnly;
  const bool lacks =
      (a == Algorithm::Pat && !model.has_pat) ||
      (is_gather(c) && a == Algorithm::Nvls && !model.nvls_gathers) ||
      (is_gather(c) && a == Algorithm::CollNetDirect && !model.collnet_direct_gathers);
  return lacks ? Obstacle::NotInVersion : Obstacle::None;
}

Obstacle collnet_obstacle(const CostInputs& in, Algorithm a) {
  const CommShape& shape = in.shape;
  if (!shape.has_collnet) return Obstacle::NoCollNet;
  if (a == Algorithm::CollNetChain && !shape.has_collnet_chain) return Obstacle::NoChainSupport;
  const bool needs_switch = a == Algorithm::CollNetDirect && in.model.collnet_direct_needs_switch;
  return needs_switch && !shape.has_nvswitch ? Obstacle::NoNvSwitch : Obstacle::None;
}

Obstacle nvls_obstacle(const CostInputs& in, Algorithm a) {
  const CommShape& shape = in.shape;
  if (!shape.has_nvls) return Obstacle::NoNvls;
  if (a == Algorithm::NvlsTree && shape.nnodes == 1) return Obstacle::OneNode;
  if (a == Algorithm::Nvls && shape.nnodes > 1 && !shape.has_collnet) return Obstacle::SeveralNodes;
  const bool too_few = in.model.nvls_needs_two_heads && shape.graph(GraphId::Nvls).nchannels < 2;
  return too_few ? Obstacle::TooFewHeads : Obstacle::None;
}

/// Returns whether every rank of every node heads an NVLS channel, so that PAT can reach the GPUs of all nodes through
/// the switches.
bool can_pat_over_nvls(const TuningModel& model, const CommShape& shape) {
  return model.pat_over_nvls && shape.nnodes > 1 && shape.has_nvls &&
         shape.min_local_ranks == shape.nvls_heads && shape.max_local_ranks == shape.nvls_heads;
}

Obstacle pat_obstacle(const CostInputs& in) {
  const auto& [model, shape, parameters] = in;
  if (parameters.pat_enable == 0) return Obstacle::Variable;
  if (shape.min_cc < model.pat_capability) return Obstacle::Capability;
  if (parameters.pat_enable == 1) return Obstacle::None;
  if (shape.nranks == shape.nnodes || can_pat_over_nvls(model, shape)) return Obstacle::None;
  return model.pat_over_nvls ? Obstacle::TooFewNvlsHeads : Obstacle::SeveralRanksPerNode;
}

/// Returns what in the job's hardware prevents the combination.
Obstacle shape_obstacle(const CostInputs& in, Collective c, Algorithm a) {
  if (in.shape.nranks == 1) return Obstacle::OneRank;
  if (is_collnet(a)) {
    if (const Obstacle found = collnet_obstacle(in, a); found != Obstacle::None) return found;
  }
  if (is_nvls(a)) {
    if (const Obstacle found = nvls_obstacle(in, a); found != Obstacle::None) return found;
  }
  if (a == Algorithm::Pat) return pat_obstacle(in);
  // Across nodes, a gather that uses the network needs a head for each rank of a node.
  const bool needs_heads = is_gather(c)
                               ? a == Algorithm::CollNetDirect ||
                                     (a == Algorithm::Nvls && in.model.nvls_gathers_across_nodes)
                               : is_collnet(a) && in.model.collnet_needs_heads;
  if (in.shape.nnodes > 1 && needs_heads) {
    const int heads = a == Algorithm::Nvls ? in.shape.nvls_heads : in.shape.collnet_heads;
    if (in.shape.max_local_ranks > heads) return Obstacle::TooManyLocalRanks;
  }
  return Obstacle::None;
}

/// Returns whether a path farther than PXB is acceptable, from Hopper on.
bool is_hopper_safe(const CostInputs& in, PathType type) {
  if (in.shape.min_cc < 90 || type > PathType::Pxn) return false;
  if (in.model.ll128_p2c_is_last) return type == PathType::Pxn || in.parameters.ll128_c2c;
  return !in.model.ll128_over_c2c || in.parameters.ll128_c2c;
}

/// LL128 requires that stores of 128 bytes arrive whole.
bool is_ll128_safe(const CostInputs& in, Algorithm a) {
  const CommShape& s = in.shape;
  const GraphSummary& graph = s.graph(facts_of(a).graph);
  if (graph.type_inter > PathType::Pxb && !is_hopper_safe(in, graph.type_inter)) return false;
  if (graph.type_intra > (in.model.ll128_over_nvb ? PathType::Nvb : PathType::Nvl)) return false;
  const bool may_differ = s.min_cc >= 90 && !in.model.ll128_needs_one_capability;
  if (s.min_cc != s.max_cc && !may_differ) return false;
  const std::vector<int>& listed = in.model.ll128_capabilities;
  if (listed.empty()) return s.min_cc >= 70;
  return std::find(listed.begin(), listed.end(), s.min_cc) != listed.end();
}

/// Returns whether NCCL_ALGO permits only CollNet.
bool names_only_collnet(const std::array<Permission, kAlgorithms>& algorithms) {
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    const bool collnet = is_collnet(static_cast<Algorithm>(a));
    if (!collnet && algorithms[a] != Permission::No) return false;
  }
  return true;
}

Obstacle permission_obstacle(const CostInputs& in, Collective c, Algorithm a, Protocol p) {
  const auto row = static_cast<std::size_t>(c);
  const bool ring_stays = a == Algorithm::Ring && c != Collective::AllReduce &&
                          in.model.ring_fallback == RingFallback::Always;
  const bool came_back = (a == Algorithm::Ring || a == Algorithm::Tree) &&
                         in.model.collnet_lists_are_ignored && !in.shape.has_collnet &&
                         names_only_collnet(in.parameters.algorithms[row]);
  if (!ring_stays && !came_back &&
      in.parameters.algorithms[row][static_cast<std::size_t>(a)] == Permission::No) {
    return Obstacle::Algorithm;
  }
  const Permission protocol = in.parameters.protocols[row][static_cast<std::size_t>(p)];
  if (protocol == Permission::No) return Obstacle::Protocol;
  const bool asked = protocol == Permission::Yes;
  return p == Protocol::LL128 && !asked && !is_ll128_safe(in, a) ? Obstacle::UnsafeLl128
                                                                 : Obstacle::None;
}

/// Returns obstacles that NCCL checks only when it chooses: its table, and its log, still contain the numbers.
Obstacle late_obstacle(const CostInputs& in, Collective c, Algorithm a) {
  constexpr int kCollNetRanks = 8;
  const auto& [model, shape, parameters] = in;
  const bool is_limited =
      a == Algorithm::CollNetDirect || (is_collnet(a) && model.collnet_chain_is_limited);
  if (is_limited && shape.max_local_ranks > kCollNetRanks) return Obstacle::TooManyLocalRanks;
  if (!is_nvls(a) || !is_gather(c)) return Obstacle::None;
  if (shape.nnodes > 1 && !model.nvls_gathers_across_nodes) return Obstacle::OnlyOneNode;
  const bool too_many =
      model.nvls_gather_ranks > 0 && shape.max_local_ranks > model.nvls_gather_ranks;
  return too_many ? Obstacle::TooManyLocalRanks : Obstacle::None;
}

Cost make_cost(const CostInputs& in, Collective c, Algorithm a, Protocol p) {
  Cost cost;
  cost.obstacle = kernel_obstacle(in.model, c, a, p);
  if (cost.is_available()) cost.obstacle = shape_obstacle(in, c, a);
  if (!cost.is_available()) return cost;
  cost.obstacle = permission_obstacle(in, c, a, p);
  if (!cost.is_available() && !in.model.refused_pairs_keep_cost) return cost;
  const Speed speed = bandwidth_of(in, c, a, p);
  cost.bandwidth_gbs = speed.algorithm_gbs;
  cost.bandwidth = speed.terms;
  if (!(cost.bandwidth_gbs > 0)) {
    if (cost.is_available()) cost.obstacle = Obstacle::NoBandwidth;
    return cost;
  }
  const Delay delay = latency_of(in, c, a, p);
  cost.latency_us = delay.us;
  cost.latency = delay.terms;
  cost.is_last_resort =
      a == Algorithm::Pat && in.model.pat_over_nvls && in.shape.nranks > in.shape.nnodes;
  if (cost.is_available()) cost.obstacle = late_obstacle(in, c, a);
  return cost;
}

void set_threads(const CostInputs& in, CostTable& table) {
  const auto set = [&](Algorithm a, Protocol p, int threads) {
    table.max_threads[static_cast<std::size_t>(a)][static_cast<std::size_t>(p)] = threads;
  };
  const GraphSummary& ring = in.shape.graph(GraphId::Ring);
  const float ring_bandwidth = ring.bw_intra * static_cast<float>(ring.nchannels);
  const int ring_simple =
      ring_bandwidth <= kPciBandwidth ? in.model.slow_ring_threads : kMaxSimpleThreads;
  const int asked = in.parameters.nthreads.value_or(kMaxSimpleThreads);
  set(Algorithm::Ring, Protocol::Simple, in.parameters.nthreads.value_or(ring_simple));
  set(Algorithm::Tree, Protocol::Simple, asked);
  for (const Algorithm a : {Algorithm::Tree, Algorithm::Ring}) {
    set(a, Protocol::LL, asked);
    set(a, Protocol::LL128, in.parameters.ll128_nthreads.value_or(kMaxThreads));
  }
  for (const Algorithm a :
       {Algorithm::CollNetDirect, Algorithm::CollNetChain, Algorithm::Nvls, Algorithm::NvlsTree}) {
    set(a, Protocol::Simple, kMaxThreads);
  }
}

void set_thresholds(const CostInputs& in, CostTable& table) {
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    const bool collnet = is_collnet(static_cast<Algorithm>(a));
    table.thread_thresholds[a] = {8, 8, collnet ? 512 : 64};
  }
  // The longer the ring, the longer the small lines of LL take to pass it.
  table.thread_thresholds[static_cast<std::size_t>(Algorithm::Ring)][0] *= in.shape.nranks;
  for (std::size_t i = 0; i < in.parameters.thread_thresholds.size(); ++i) {
    if (const auto value = in.parameters.thread_thresholds[i]) {
      table.thread_thresholds[i / kProtocols][i % kProtocols] = *value;
    }
  }
}

}  // namespace

const char* to_string(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::None:
      return "available";
    case Obstacle::NotForCollective:
      return "not for this collective";
    case Obstacle::SimpleOnly:
      return "knows the simple protocol only";
    case Obstacle::NotInVersion:
      return "not in this version of NCCL";
    case Obstacle::OneNode:
      return "needs several nodes";
    case Obstacle::SeveralNodes:
      return "on several nodes it needs CollNet";
    case Obstacle::OnlyOneNode:
      return "on one node only";
    case Obstacle::NoCollNet:
      return "CollNet is off";
    case Obstacle::NoChainSupport:
      return "the CollNet plugin has no chains";
    case Obstacle::NoNvSwitch:
      return "no NVSwitch";
    case Obstacle::TooManyLocalRanks:
      return "too many ranks in a node";
    case Obstacle::NoNvls:
      return "no NVLink multicast (NVLS)";
    case Obstacle::TooFewHeads:
      return "NVLS needs two heads";
    case Obstacle::NoBandwidth:
      return "the search found no channels";
    case Obstacle::Capability:
      return "compute capability too low";
    case Obstacle::SeveralRanksPerNode:
      return "only with one rank a node";
    case Obstacle::TooFewNvlsHeads:
      return "only with one rank per node, or on several nodes where NVLS has a channel for every "
             "rank";
    case Obstacle::UnsafeLl128:
      return "LL128 is not safe over these paths and GPUs";
    case Obstacle::Algorithm:
      return "switched off by NCCL_ALGO";
    case Obstacle::Protocol:
      return "switched off by NCCL_PROTO";
    case Obstacle::Variable:
      return "switched off by NCCL_PAT_ENABLE";
    case Obstacle::Reduction:
      return "not with this type or reduction";
    case Obstacle::OneRank:
      return "one rank only copies";
  }
  return "";
}

int log2_floor(std::uint64_t value) { return static_cast<int>(std::bit_width(value)) - 1; }

CostTable make_cost_table(const TuningModel& model, const CommShape& shape,
                          const TuningParameters& parameters) {
  const CostInputs in{model, shape, parameters};
  CostTable table;
  set_threads(in, table);
  if (shape.nranks > 1 || model.lone_rank_has_thresholds) set_thresholds(in, table);
  for (std::size_t c = 0; c < kTunedCollectives; ++c) {
    for (std::size_t a = 0; a < kAlgorithms; ++a) {
      for (std::size_t p = 0; p < kProtocols; ++p) {
        table.costs[c][a][p] = make_cost(in, static_cast<Collective>(c), static_cast<Algorithm>(a),
                                         static_cast<Protocol>(p));
      }
    }
  }
  return table;
}

}  // namespace ringside
