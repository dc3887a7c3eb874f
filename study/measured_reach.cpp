#include "study/measured_reach.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/vocabulary.h"

namespace ringside::study {
namespace {

/// Most ranks that somebody measured, on one node and on several; 0: nobody did.
struct Reach {
  Collective collective;
  int one_node, several;
};

// One NVLink domain of 72 counts as a node here, and was measured by all_reduce alone. Of that, 1,440 ranks are 20 racks.
constexpr Reach kReaches[] = {
    {Collective::AllReduce, 72, 1440},  {Collective::AllGather, 8, 20},
    {Collective::ReduceScatter, 8, 20}, {Collective::AllToAll, 8, 20},
    {Collective::SendRecv, 8, 20},      {Collective::Broadcast, 8, 4},
    {Collective::Reduce, 8, 0},
};
// Of hosts that are no rack of one NVLink domain: two racks of GB200.
constexpr int kMostOfHosts = 128;

}  // namespace

std::string beyond_measured(const SimPlan& plan) {
  const CommShape& shape = plan.job.shape();
  const auto name = to_string(plan.calls.collective);
  const auto reach = std::ranges::find(kReaches, plan.calls.collective, &Reach::collective);
  if (reach == std::end(kReaches)) return fmt::format("{} was not measured", name);
  const bool is_one = shape.nnodes == 1;
  int most = is_one ? reach->one_node : reach->several;
  if (!plan.surroundings.domain_spans_hosts) most = std::min(most, kMostOfHosts);
  const char* const where = is_one ? "one node" : "several nodes";
  if (most == 0) return fmt::format("{} was not measured on {}", name, where);
  if (shape.nranks > most) {
    return fmt::format("{} was measured among {} ranks at most on {}", name, most, where);
  }
  return plan.job.asked.fabric ? "no system was measured with its fabric described" : "";
}

}  // namespace ringside::study
