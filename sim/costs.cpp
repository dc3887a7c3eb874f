#include "sim/costs.h"

#include <algorithm>
#include <cmath>

namespace ringside {
namespace {

Seconds from_us(double us) { return Seconds{us * 1e-6}; }

// Latency of an EFA device whose description states none: the lowest of the plugin's values (150, 75 and 35 us by
// generation).
// source  aws-ofi-nccl, src/platform-aws.cpp
constexpr double kEfaLatencyUs = 35;

constexpr std::size_t at(StepLink link) { return static_cast<std::size_t>(link); }

const SimModel::Link& net_of(const SimModel& model, const Surroundings& surroundings) {
  return model.net[static_cast<std::size_t>(surroundings.net)];
}

double use_of_nvlink(const SimModel& model, Collective collective, Algorithm algorithm) {
  if (is_point_to_point(collective)) return model.nvlink_uses.exchange;
  return algorithm == Algorithm::Ring ? model.nvlink_uses.ring : model.nvlink_uses.tree;
}

/// Returns the link that the GPUs of a node use among each other.
const SimModel::Link& local_link(const CommShape& shape, const SimModel& model) {
  return shape.graph(GraphId::Ring).type_intra <= PathType::Nvb ? model.nvlink : model.pci;
}

/// Returns the share of a NIC's rate that the connections of its channels can use; 1: all.
double share_of_streams(const CommShape& shape, const SimModel::Link& net) {
  const auto nic = static_cast<double>(shape.min_net_bw);
  if (net.stream <= 0 || nic <= 0) return 1;
  const int channels = std::max(shape.nchannels / std::max(shape.min_net_count, 1), 1);
  return std::min(net.stream * channels / nic, 1.0);
}

/// Returns, for an exchange, the number of peers on other hosts that a GPU's proxy serves after its first.
int later_peers(const CommShape& shape, Collective collective) {
  if (!is_point_to_point(collective) || collective == Collective::SendRecv) return 0;
  return std::max(shape.nranks - shape.max_local_ranks - 1, 0);
}

}  // namespace

Seconds SimOverheads::total(Seconds steps, Seconds busiest) const {
  return std::max(steps + ramp * (1 - std::exp(-busiest / ramp_over)), least);
}

SimCosts costs_of(const Tuner& tuner, const SimModel& model, const Surroundings& surroundings,
                  Collective collective, Algorithm algorithm, Protocol protocol) {
  const CommShape& shape = tuner.shape();
  const auto a = static_cast<std::size_t>(algorithm);
  const auto p = static_cast<std::size_t>(protocol);
  const auto gpu = static_cast<std::size_t>(class_of_gpu(shape.min_cc));
  const SimModel::Link& net = net_of(model, surroundings);
  SimCosts costs;
  costs.launch =
      from_us(model.kernel[p] + model.launch[static_cast<std::size_t>(surroundings.launch)].adds);
  costs.launch += from_us(model.exchange_post * later_peers(shape, collective));
  costs.step[at(StepLink::NvLink)] = from_us(model.nvlink.step[p]);
  costs.step[at(StepLink::Pci)] = from_us(model.pci.step[p]);
  costs.share[at(StepLink::NvLink)] = model.nvlink.share[p] * model.nvlink_generation[gpu] *
                                      use_of_nvlink(model, collective, algorithm);
  costs.share[at(StepLink::Pci)] = model.pci.share[p];
  costs.share[at(StepLink::Net)] = std::min(net.share[p], share_of_streams(shape, net)) *
                                   (is_point_to_point(collective) ? model.exchange_across : 1);
  // The flush of Simple crosses the NIC once more.
  const double stated_us = shape.graph(facts_of(algorithm).graph).latency_inter;
  const bool is_unstated = surroundings.net == NetKind::Efa && stated_us == 0;
  const double nic_us = is_unstated ? kEfaLatencyUs : stated_us;
  const double nic_all_us = protocol == Protocol::Simple ? 2 * nic_us : nic_us;
  costs.step[at(StepLink::Net)] = from_us(net.step[p] + net.nic * nic_all_us);
  costs.network_reduction =
      from_us(tuner.model().link_latency[at(StepLink::Net)][a][p] + nic_all_us);
  if (facts_of(algorithm).takes_nvswitch) {
    costs.nvswitch = from_us(model.nvswitch_step[gpu]);
    costs.nvswitch_efficiency =
        model.nvswitch_share[gpu] * (shape.nnodes > 1 ? model.nvswitch_across : 1);
  }
  return costs;
}

SimOverheads overheads_of(const Tuner& tuner, const SimModel& model,
                          const Surroundings& surroundings, Protocol protocol) {
  const CommShape& shape = tuner.shape();
  const SimModel::Launch& launch = model.launch[static_cast<std::size_t>(surroundings.launch)];
  const bool is_across = shape.nnodes > 1;
  const SimModel::Link& link = is_across ? net_of(model, surroundings) : local_link(shape, model);
  SimOverheads overheads;
  overheads.least = from_us(launch.least_per_gpu * shape.max_local_ranks);
  if (is_across || protocol == Protocol::Simple) {
    overheads.ramp = from_us(link.ramp.most);
    overheads.ramp_over = from_us(link.ramp.over);
  }
  return overheads;
}

double wire_factor(Protocol protocol) {
  switch (protocol) {
    case Protocol::LL:
      return 2;
    case Protocol::LL128:
      return 16.0 / 15;
    case Protocol::Simple:
      break;
  }
  return 1;
}

}  // namespace ringside
