#include "engine/runtime/host/wait.h"

#include <sched.h>

namespace ringside {
namespace {

void relax_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

WaitPolicy wait_policy(int threads, int cores) {
  WaitPolicy policy;
  if (threads > cores) policy.spins = 1;  // the peer may need this core
  return policy;
}

Waiter::Advice Waiter::pause() {
  if (spun_ < policy_->spins) {
    ++spun_;
    relax_core();
    return Advice::LookAgain;
  }
  return pause_slowly();
}

Waiter::Advice Waiter::pause_slowly() {
  // The clock is read on the first yield and on every 8th: reading it costs a tenth of a yield.
  if (is_yielding_ && ++yields_ % 8 != 0) {
    ::sched_yield();
    return Advice::LookAgain;
  }
  const Clock::Time now = policy_->clock->now();
  if (spun_ == policy_->spins) {
    ++spun_;
    began_ = now;
    asked_ = now;
  }
  waited_ = now - began_;
  if (now - began_ > policy_->deadline) return Advice::GiveUp;
  is_yielding_ = now - began_ < policy_->yielding;
  if (is_yielding_) {
    ::sched_yield();
  } else {
    policy_->clock->sleep(policy_->sleep);
  }
  if (now - asked_ < policy_->check_every) return Advice::LookAgain;
  asked_ = now;
  return Advice::AskAboutPeer;
}

}  // namespace ringside
