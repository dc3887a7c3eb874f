#include "study/validate/measured_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/vocabulary.h"

namespace ringside::study {
namespace {

// Racks of 72 and groups of twenty racks were measured with all_reduce only.
constexpr std::array kReaches{
    MeasuredReach{Collective::AllReduce, 72, 1440},  MeasuredReach{Collective::AllGather, 8, 20},
    MeasuredReach{Collective::ReduceScatter, 8, 20}, MeasuredReach{Collective::AllToAll, 8, 20},
    MeasuredReach{Collective::SendRecv, 8, 20},      MeasuredReach{Collective::Broadcast, 8, 0},
    MeasuredReach{Collective::Reduce, 8, 0},
};

}  // namespace

std::span<const MeasuredReach> measured_reaches() { return kReaches; }

std::string beyond_measured(const SimPlan& plan) {
  const CommShape& shape = plan.job.shape();
  const auto name = to_string(plan.calls.collective);
  const auto reach = std::ranges::find(kReaches, plan.calls.collective, &MeasuredReach::collective);
  if (reach == std::end(kReaches)) return fmt::format("{} was not measured", name);
  const bool is_one = shape.nnodes == 1;
  int most = is_one ? reach->one_node : reach->several;
  if (!plan.surroundings.domain_spans_hosts) most = std::min(most, kMostMeasuredOfHosts);
  const char* const where = is_one ? "one node" : "several nodes";
  if (most == 0) return fmt::format("{} was not measured on {}", name, where);
  if (shape.nranks > most) {
    return fmt::format("{} was measured among {} ranks at most on {}", name, most, where);
  }
  return plan.job.asked.fabric ? "no system was measured with its fabric described" : "";
}

}  // namespace ringside::study
