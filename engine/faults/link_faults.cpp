#include "engine/faults/link_faults.h"

#include <algorithm>
#include <chrono>

namespace ringside {
namespace {

constexpr Seconds kLongest{1e6};  ///< longest delay of a message; a longer one is endless

bool fits(const std::optional<int>& wanted, int is) { return !wanted || *wanted == is; }

Nanoseconds in_ns(Seconds time) { return std::chrono::duration_cast<Nanoseconds>(time); }

}  // namespace

const Fault* LinkFaults::find(int from, int to, int channel) const {
  if (plan == nullptr) return nullptr;
  if (!job_ranks.empty()) {
    from = job_ranks[static_cast<std::size_t>(from)];
    to = job_ranks[static_cast<std::size_t>(to)];
  }
  for (const Fault& fault : plan->faults) {
    if (!is_link_fault(fault.kind) || (!fault.on.empty() && fault.on != on)) continue;
    if (fits(fault.from, from) && fits(fault.to, to) && fits(fault.channel, channel)) return &fault;
  }
  return nullptr;
}

bool LinkState::is_on() const { return bytes_ >= fault_.after && messages_ >= fault_.step; }

bool LinkState::may_send(Nanoseconds now) {
  if (!is_on()) return true;
  if (fault_.kind == FaultKind::SlowLink) return now >= next_;
  if (fault_.kind != FaultKind::StallLink) return true;
  if (!began_) began_ = now;
  return fault_.by && now - *began_ >= in_ns(*fault_.by);
}

LinkState::Outcome LinkState::next_outcome() const {
  if (!is_on()) return Outcome::Delivered;
  switch (fault_.kind) {
    case FaultKind::CutLink:
      return Outcome::Broken;
    case FaultKind::Blackhole:
      return Outcome::Lost;
    case FaultKind::Drop:
      return fault_.times == 0 || lost_ < fault_.times ? Outcome::Lost : Outcome::Delivered;
    default:
      return Outcome::Delivered;
  }
}

void LinkState::sent(Bytes size, Nanoseconds now) {
  if (next_outcome() == Outcome::Lost) ++lost_;
  if (is_on() && fault_.kind == FaultKind::SlowLink) {
    const Seconds takes =
        fault_.by.value_or(Seconds{0}) + (fault_.rate ? size / *fault_.rate : Seconds{0});
    next_ = std::max(now, next_) + in_ns(std::min(takes, kLongest));
  }
  bytes_ = bytes_ + size;
  ++messages_;
}

}  // namespace ringside
