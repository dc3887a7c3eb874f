#include "sim/costs.h"

namespace ringside {
namespace {

Seconds from_us(double us) { return Seconds{us * 1e-6}; }

GpuClass gpu_class(int capability) {
  if (capability >= 100) return GpuClass::Blackwell;
  if (capability >= 90) return GpuClass::Hopper;
  return capability >= 80 ? GpuClass::Ampere : GpuClass::Volta;
}

}  // namespace

SimCosts costs_of(const Tuner& tuner, Collective collective, Algorithm algorithm,
                  Protocol protocol) {
  const TuningModel& model = tuner.model();
  const CommShape& shape = tuner.shape();
  const auto a = static_cast<std::size_t>(algorithm);
  const auto p = static_cast<std::size_t>(protocol);
  SimCosts costs;
  costs.launch = from_us(model.base_latency[a][p]);
  for (std::size_t link = 0; link < costs.step.size(); ++link) {
    costs.step[link] = from_us(model.link_latency[link][a][p]);
  }
  // The flush of Simple crosses the NIC once more.
  const double nic_us = shape.graph(facts_of(algorithm).graph).latency_inter;
  Seconds& net = costs.step[static_cast<std::size_t>(StepLink::Net)];
  net += from_us(protocol == Protocol::Simple ? 2 * nic_us : nic_us);
  costs.network_reduction = net;
  if (facts_of(algorithm).takes_nvswitch) {
    const int passages = collective == Collective::AllReduce ? 2 : 1;
    costs.nvswitch = costs.step[static_cast<std::size_t>(StepLink::NvLink)] / passages;
    costs.nvswitch_efficiency =
        model.nvls_efficiency[static_cast<std::size_t>(gpu_class(shape.min_cc))];
  }
  return costs;
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
