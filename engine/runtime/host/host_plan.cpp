#include "engine/runtime/host/host_plan.h"

#include <algorithm>
#include <utility>

namespace ringside {

HostPlan* HostPlans::find(const CollectiveCall& call) {
  const auto found =
      std::ranges::find_if(plans_, [&](const auto& plan) { return is_alike(plan->call, call); });
  if (found == plans_.end()) return nullptr;
  std::rotate(plans_.begin(), found, found + 1);
  return plans_.front().get();
}

HostPlan& HostPlans::keep(std::unique_ptr<HostPlan> plan) {
  if (plans_.size() == kMost) plans_.pop_back();
  plans_.insert(plans_.begin(), std::move(plan));
  return *plans_.front();
}

}  // namespace ringside
