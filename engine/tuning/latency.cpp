#include <algorithm>
#include <array>

#include "engine/tuning/cost_terms.h"

// Single precision where NCCL uses it, as in bandwidth.cpp.
// source  NCCL 2.30.7 graph/tuning.cc

namespace ringside {
namespace {

float step_us(const CostInputs& in, StepLink link, Algorithm algorithm, Protocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  // Up to 2.30, a step of a tree over PCI costs the same on POWER as a step of a ring.
  const bool as_ring = in.model.power_trees_pay_ring_latency && in.cpu_arch() == CpuArch::Power &&
                       link == StepLink::Pci && algorithm == Algorithm::Tree &&
                       protocol == Protocol::Simple;
  const Algorithm row = as_ring ? Algorithm::Ring : algorithm;
  return static_cast<float>(
      in.model.link_latency[static_cast<std::size_t>(link)][static_cast<std::size_t>(row)][p]);
}

/// Returns the network's overhead per step of a ring, us. NCCL adds it to every step, including those that stay within
/// a node.
float net_overhead(const CostInputs& in) {
  if (in.parameters.net_overhead_us) return static_cast<float>(*in.parameters.net_overhead_us);
  const bool amd = in.cpu_arch() == CpuArch::X86 &&
                   in.cpu_vendor(in.model.overhead_of_own_host) == CpuVendor::Amd;
  return static_cast<float>(amd ? in.model.net_overhead_amd_us : in.model.net_overhead_us);
}

/// The inputs of the formulas below. Each adds the latency of its steps to `delay`, which already contains the base
/// latency and the latency of one step.
struct Steps {
  const CostInputs& in;
  const GraphSummary& graph;
  Collective collective;
  Protocol protocol;

  [[nodiscard]] int local_peers() const { return in.shape.nranks / in.shape.nnodes - 1; }
  [[nodiscard]] int levels() const {
    return log2_floor(static_cast<std::uint64_t>(in.shape.nnodes));
  }
};

void ring(const Steps& steps, Delay& delay) {
  const auto& [in, graph, collective, protocol] = steps;
  LatencyTerms& t = delay.terms;
  const int nsteps = ring_steps(collective, in.shape.nranks);
  const int nnodes = in.shape.nnodes;
  if (collective == Collective::Broadcast || collective == Collective::Reduce) {
    const StepLink link = nnodes > 1 ? StepLink::Net : t.local_link;
    // If the channels differ, ranks wait for each other's chunks; NCCL estimates this by the step of a tree.
    const bool waits = !graph.same_channels && protocol == Protocol::Simple;
    const float us = step_us(in, link, waits ? Algorithm::Tree : Algorithm::Ring, protocol);
    const int count = graph.same_channels ? 1 : nsteps;
    t.local_us = t.net_us = us;
    (nnodes > 1 ? t.net_steps : t.local_steps) = count;
    delay.us += static_cast<float>(count) * us;
    return;
  }
  float overhead = 0;
  if (nnodes > 1) overhead = net_overhead(in) * (protocol == Protocol::Simple ? 3.0F : 1.0F);
  if (overhead > t.local_us) {
    t.local_us = overhead;
    t.local_link = StepLink::Net;
  }
  int net_steps = nnodes == 1 ? 0 : nnodes - 1;
  if (collective == Collective::AllReduce && nnodes > 1) {
    net_steps = in.model.all_reduce_crosses_all_nodes ? 2 * nnodes : 2 * (nnodes - 1);
  }
  t.local_steps = nsteps - net_steps;
  t.net_steps = net_steps;
  delay.us += static_cast<float>(nsteps - net_steps) * t.local_us +
              static_cast<float>(net_steps) * t.net_us;
}

void tree(const Steps& steps, Delay& delay) {
  LatencyTerms& t = delay.terms;
  t.local_steps = 2 * steps.local_peers();
  t.net_steps = 2 * steps.levels();
  delay.us += 2 * (static_cast<float>(steps.local_peers()) * t.local_us +
                   static_cast<float>(steps.levels()) * t.net_us);
}

void collnet_direct(const Steps& steps, Delay& delay) {
  LatencyTerms& t = delay.terms;
  const int local_peers = steps.local_peers();
  const double arity_us = steps.in.model.collnet_arity_us;
  t.local_steps = 2 * std::min(1, local_peers);
  t.net_steps = 1;
  t.other_us = static_cast<float>(2 * local_peers * arity_us);
  delay.us = static_cast<float>(
      delay.us +
      (2 * (static_cast<double>(static_cast<float>(std::min(1, local_peers)) * t.local_us) +
            local_peers * arity_us) +
       static_cast<double>(t.net_us)));
}

void collnet_chain(const Steps& steps, Delay& delay) {
  LatencyTerms& t = delay.terms;
  t.local_steps = 2 * steps.local_peers();
  t.net_steps = 1;
  delay.us += static_cast<float>(2 * steps.local_peers()) * t.local_us + t.net_us;
}

void nvls(const Steps& steps, Delay& delay) {
  LatencyTerms& t = delay.terms;
  const bool several = steps.in.shape.nnodes > 1;
  t.local_steps = 1;
  t.net_steps = several ? 1 : 0;
  delay.us += t.local_us;
  if (several) delay.us += t.net_us;
}

void nvls_tree(const Steps& steps, Delay& delay) {
  LatencyTerms& t = delay.terms;
  const int nnodes = steps.in.shape.nnodes;
  const int net_steps = steps.in.model.nvls_counts_nodes ? 2 * (nnodes - 1) : 2 * steps.levels();
  t.local_steps = 1;
  t.net_steps = net_steps;
  delay.us += t.local_us + static_cast<float>(net_steps) * t.net_us;
}

void pat(const Steps& steps, Delay& delay) {
  LatencyTerms& t = delay.terms;
  const TuningModel& m = steps.in.model;
  const int nranks = steps.in.shape.nranks;
  t.net_steps = steps.levels() / m.pat_step_divisor;
  t.other_us = static_cast<float>(nranks * m.pat_rank_us);
  delay.us = static_cast<float>(
      delay.us + (steps.levels() * (t.net_us / m.pat_step_divisor) + nranks * m.pat_rank_us));
}

/// By Algorithm.
constexpr std::array<void (*)(const Steps&, Delay&), kAlgorithms> kSteps{
    tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat};

}  // namespace

Delay latency_of(const CostInputs& in, Collective collective, Algorithm algorithm,
                 Protocol protocol) {
  const GraphSummary& graph = in.shape.graph(facts_of(algorithm).graph);
  const TuningModel& m = in.model;
  Delay delay;
  LatencyTerms& t = delay.terms;
  t.base_us = static_cast<float>(
      m.base_latency[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(protocol)]);
  t.local_link = graph.type_intra == PathType::Nvl ? StepLink::NvLink : StepLink::Pci;
  t.local_us = step_us(in, t.local_link, algorithm, protocol);
  // With one rank per node, no work within the node hides the network's latency.
  const bool pays_tree =
      m.lone_rank_latency == LoneRankLatency::All ||
      (m.lone_rank_latency == LoneRankLatency::Ring && algorithm == Algorithm::Ring);
  const bool lone = pays_tree && in.shape.nranks == in.shape.nnodes;
  t.net_us = step_us(in, StepLink::Net, lone ? Algorithm::Tree : algorithm, protocol);
  if (!(facts_of(algorithm).takes_nvswitch && m.nvls_counts_nodes)) {
    t.net_us += graph.latency_inter;
    const bool has_flush = protocol == Protocol::Simple &&
                           !(algorithm == Algorithm::Pat && m.pat_counts_nic_latency_once);
    if (has_flush) t.net_us += graph.latency_inter;  // the flush crosses the NIC too
  }

  delay.us = t.base_us;
  kSteps[static_cast<std::size_t>(algorithm)]({in, graph, collective, protocol}, delay);
  return delay;
}

}  // namespace ringside
