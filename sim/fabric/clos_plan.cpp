#include "sim/fabric/clos_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace ringside {
namespace {

constexpr int kMostPorts = 1024;              ///< of a switch, in one direction
constexpr std::int64_t kMostLinks = 1 << 28;  ///< their ids are int
constexpr double kRounding = 1e-9;            ///< error of a quotient that is a whole number

Error bad(const FabricSettings& asked, const std::string& what, const std::string& help) {
  return {ErrorCode::Corrupt, fmt::format("{}: {}", asked.where, what), help};
}

/// Rounds a quotient up.
int quotient_up(double value) { return static_cast<int>(std::ceil(value - kRounding)); }

void count_leaves(const FabricSettings& asked, ClosPlan& plan) {
  const bool is_one = asked.kind == FabricKind::Switch;
  plan.hosts_per_leaf = is_one ? plan.hosts : std::min(asked.hosts_per_leaf, plan.hosts);
  plan.groups = (plan.hosts + plan.hosts_per_leaf - 1) / plan.hosts_per_leaf;
  plan.groups_per_pod = plan.groups;
  if (asked.rails == Rails::Only) plan.planes = plan.nics;
  if (asked.rails == Rails::Optimised) plan.rails = plan.nics;
  plan.nics_of_leaf = plan.hosts_per_leaf * (asked.rails == Rails::None ? plan.nics : 1);
}

Status count_spines(const FabricSettings& asked, ClosPlan& plan) {
  const double ups = plan.nics_of_leaf * plan.nic.value / (asked.oversubscription * plan.up.value);
  if (ups > kMostPorts) {
    return bad(asked, fmt::format("a leaf with {:.4g} links up", ups),
               fmt::format("at most {}: give a larger oversubscription or rate, or fewer "
                           "hosts_per_leaf",
                           kMostPorts));
  }
  plan.ups = std::max(1, quotient_up(ups));
  plan.spines = asked.spines > 0 ? asked.spines : plan.ups;
  if (plan.spines > plan.ups) {
    return bad(asked, fmt::format("{} spines for leaves with {} links up", plan.spines, plan.ups),
               fmt::format("give spines: {} or fewer", plan.ups));
  }
  return {};
}

Status count_tops(const FabricSettings& asked, ClosPlan& plan) {
  if (asked.hosts_per_pod % asked.hosts_per_leaf != 0) {
    return bad(
        asked,
        fmt::format("{} hosts of a pod on leaves of {}", asked.hosts_per_pod, asked.hosts_per_leaf),
        "give a multiple of hosts_per_leaf");
  }
  plan.groups_per_pod = std::min(asked.hosts_per_pod / asked.hosts_per_leaf, plan.groups);
  plan.pods = (plan.groups + plan.groups_per_pod - 1) / plan.groups_per_pod;
  const double downs = static_cast<double>(plan.leaves_of_pod()) * plan.ups / plan.spines;
  const double tops = downs * plan.up.value / (asked.spine_oversubscription * plan.core.value);
  if (tops > kMostPorts || asked.global_links > kMostPorts) {
    return bad(
        asked,
        fmt::format("a spine with {:.4g} links up", std::max<double>(tops, asked.global_links)),
        fmt::format("at most {}: give a larger oversubscription, or smaller pods", kMostPorts));
  }
  plan.tops = asked.global_links > 0 ? asked.global_links : std::max(1, quotient_up(tops));
  if (plan.top == ClosTop::Cores || plan.pods == 1) {
    if (plan.top == ClosTop::Pairs) plan.tops = 0;
    return {};
  }
  const int of_group = plan.spines * plan.tops;
  plan.tops = of_group / (plan.pods - 1);
  if (plan.tops == 0) {
    return bad(asked,
               fmt::format("{} groups, each with {} cables to the {} others", plan.pods, of_group,
                           plan.pods - 1),
               "give more global_links, or larger groups");
  }
  return {};
}

}  // namespace

Result<ClosPlan> plan_clos(const FabricSettings& asked, int hosts, int nics, BytesPerSecond nic) {
  ClosPlan plan;
  plan.hosts = hosts;
  plan.nics = nics;
  plan.nic = nic;
  plan.up = asked.rate.value_or(nic);
  plan.core = asked.core_rate.value_or(plan.up);
  count_leaves(asked, plan);
  if (asked.kind != FabricKind::Switch) {
    plan.has_spines = true;
    RINGSIDE_TRY(count_spines(asked, plan));
  }
  if (asked.kind == FabricKind::FatTree) plan.top = ClosTop::Cores;
  if (asked.kind == FabricKind::DragonflyPlus) plan.top = ClosTop::Pairs;
  if (plan.top != ClosTop::None) RINGSIDE_TRY(count_tops(asked, plan));
  if (plan.all_links() + plan.trunks() > kMostLinks) {
    return bad(asked, fmt::format("{} links", plan.all_links()),
               fmt::format("a fabric here has at most {}", kMostLinks));
  }
  return plan;
}

}  // namespace ringside
