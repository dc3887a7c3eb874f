#include "engine/runtime/host/host_plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

namespace ringside {
namespace {

CollectiveCall call_of(std::size_t count) {
  CollectiveCall call;
  call.count = static_cast<decltype(call.count)>(count);
  return call;
}

HostPlan& add(HostPlans& plans, std::size_t count) {
  auto plan = std::make_unique<HostPlan>();
  plan->call = call_of(count);
  return plans.keep(std::move(plan));
}

TEST(HostPlans, APlanThatWasFoundOutlivesPlansThatWereNot) {
  HostPlans plans;
  HostPlan* const first = &add(plans, 0);
  for (std::size_t count = 1; count < HostPlans::kMost; ++count) add(plans, count);
  EXPECT_EQ(plans.find(call_of(0)), first);
  // The cache is full: each new plan replaces the one whose last use is the longest ago.
  for (std::size_t i = 1; i < HostPlans::kMost; ++i) {
    add(plans, HostPlans::kMost + i);
    EXPECT_EQ(plans.find(call_of(i)), nullptr) << i;
  }
  EXPECT_EQ(plans.find(call_of(0)), first);
}

TEST(HostPlans, APlanIsDroppedAfterAsManyOthersAsTheCacheHolds) {
  HostPlans plans;
  for (std::size_t count = 0; count < HostPlans::kMost; ++count) add(plans, count);
  EXPECT_NE(plans.find(call_of(0)), nullptr);
  for (std::size_t i = 0; i < HostPlans::kMost; ++i) add(plans, HostPlans::kMost + i);
  EXPECT_EQ(plans.find(call_of(0)), nullptr);
}

}  // namespace
}  // namespace ringside
