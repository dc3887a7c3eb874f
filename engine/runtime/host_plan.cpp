#include "engine/runtime/host_plan.h"

#include <algorithm>

namespace ringside {
namespace {

constexpr std::size_t kMostPlans = 64;

bool are_alike(const std::vector<Transfer>& a, const std::vector<Transfer>& b) {
  return std::ranges::equal(a, b, [](const Transfer& x, const Transfer& y) {
    return x.peer == y.peer && x.offset == y.offset && x.count == y.count;
  });
}

}  // namespace

bool is_alike(const CollectiveCall& a, const CollectiveCall& b) {
  return a.count == b.count && a.collective == b.collective && a.type == b.type && a.op == b.op &&
         a.root == b.root && a.scalar == b.scalar && a.counts == b.counts &&
         are_alike(a.sends, b.sends) && are_alike(a.recvs, b.recvs);
}

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
