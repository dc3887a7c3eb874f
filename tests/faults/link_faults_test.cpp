#include "engine/faults/link_faults.h"

#include <gtest/gtest.h>

#include "engine/faults/fault_text.h"

namespace ringside {
namespace {

using Outcome = LinkState::Outcome;
constexpr Nanoseconds kMs = std::chrono::milliseconds(1);

LinkState state_of(const char* text) { return LinkState(*parse_fault(text)); }

TEST(LinkFaults, AFaultHitsItsEndsItsChannelAndItsCommunicator) {
  FaultPlan plan;
  plan.faults = {*parse_fault("skip:rank=5"), *parse_fault("drop:from=5,to=6,channel=1,on=tensor"),
                 *parse_fault("blackhole:from=7")};
  // The communicator's ranks 0, 1, 2 are the job's 5, 6, 7.
  const LinkFaults tensor{&plan, "tensor", {5, 6, 7}};
  EXPECT_EQ(tensor.find(0, 1, 1), &plan.faults[1]);
  EXPECT_EQ(tensor.find(0, 1, 0), nullptr);
  EXPECT_EQ(tensor.find(0, 2, 1), nullptr);
  EXPECT_EQ(tensor.find(1, 0, 1), nullptr);
  EXPECT_EQ(tensor.find(2, 0, 0), &plan.faults[2]);
  const LinkFaults other{&plan, "other", {5, 6, 7}};
  EXPECT_EQ(other.find(0, 1, 1), nullptr);
  const LinkFaults world{&plan, "tensor", {}};
  EXPECT_EQ(world.find(5, 6, 1), &plan.faults[1]);
  EXPECT_EQ(LinkFaults{}.find(0, 1, 0), nullptr);
}

// After 100 bytes and 2 messages: only before the third message both limits have been reached.
TEST(LinkState, AFaultStartsAfterItsBytesAndItsStep) {
  LinkState state = state_of("blackhole:after=100,step=2");
  EXPECT_EQ(state.next_outcome(), Outcome::Delivered);
  state.sent(200_B, kMs);
  EXPECT_EQ(state.next_outcome(), Outcome::Delivered);
  state.sent(1_B, kMs);
  EXPECT_EQ(state.next_outcome(), Outcome::Lost);
  state.sent(1_B, kMs);
  EXPECT_EQ(state.next_outcome(), Outcome::Lost);
}

TEST(LinkState, ADropLosesExactlyItsNumberOfMessages) {
  LinkState state = state_of("drop:times=2,step=1");
  state.sent(1_B, kMs);
  EXPECT_EQ(state.next_outcome(), Outcome::Lost);
  state.sent(1_B, kMs);
  EXPECT_EQ(state.next_outcome(), Outcome::Lost);
  state.sent(1_B, kMs);
  EXPECT_EQ(state.next_outcome(), Outcome::Delivered);
}

TEST(LinkState, ACutIsForEver) {
  LinkState state = state_of("cut_link");
  EXPECT_EQ(state.next_outcome(), Outcome::Broken);
}

TEST(LinkState, AStallEndsWhenItsTimeIsOverOrNever) {
  LinkState state = state_of("stall_link:by=5ms,step=1");
  EXPECT_TRUE(state.may_send(100 * kMs));
  state.sent(1_B, 100 * kMs);
  EXPECT_FALSE(state.may_send(101 * kMs));  // blocked from here on
  EXPECT_FALSE(state.may_send(105 * kMs));
  EXPECT_TRUE(state.may_send(106 * kMs));
  LinkState never = state_of("stall_link");
  EXPECT_FALSE(never.may_send(kMs));
  EXPECT_FALSE(never.may_send(1'000'000 * kMs));
}

// 1,000,000 bytes at 100 MB/s: 10 ms.
TEST(LinkState, ASlowLinkTakesTheNextMessageWhenTheLastOneIsThrough) {
  LinkState state = state_of("slow_link:rate=100MB/s");
  EXPECT_TRUE(state.may_send(kMs));
  state.sent(1'000'000_B, kMs);
  EXPECT_FALSE(state.may_send(10 * kMs));
  EXPECT_TRUE(state.may_send(11 * kMs));
  state.sent(1_B, 50 * kMs);
  EXPECT_TRUE(state.may_send(51 * kMs));
}

}  // namespace
}  // namespace ringside
