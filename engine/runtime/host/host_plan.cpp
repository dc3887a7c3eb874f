#include "engine/runtime/host/host_plan.h"

#include <utility>

namespace ringside {
namespace {

constexpr std::size_t kMostPlans = 64;

}  // namespace

HostPlan* HostPlans::find(const CollectiveCall& call) {
  if (!plans_.empty() && is_alike(plans_[last_]->call, call)) return plans_[last_].get();
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    if (!is_alike(plans_[i]->call, call)) continue;
    last_ = i;
    return plans_[i].get();
  }
  return nullptr;
}

HostPlan& HostPlans::keep(std::unique_ptr<HostPlan> plan) {
  if (plans_.size() < kMostPlans) {
    last_ = plans_.size();
    plans_.push_back(std::move(plan));
  } else {
    last_ = oldest_;
    oldest_ = (oldest_ + 1) % kMostPlans;
    plans_[last_] = std::move(plan);
  }
  return *plans_[last_];
}

}  // namespace ringside
