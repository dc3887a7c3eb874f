#include "engine/faults/rank_faults.h"

#include <algorithm>

namespace ringside {
namespace {

void add_to(CallFate& fate, const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::Skip:
      fate.is_left_out = true;
      break;
    case FaultKind::Add:
      fate.is_made_twice = true;
      break;
    case FaultKind::Reorder:
      fate.is_put_off = true;
      break;
    case FaultKind::Late:
      fate.late += *fault.by;
      break;
    case FaultKind::Stall:
      fate.late += fault.by.value_or(Seconds{0});
      fate.never = fate.never || !fault.by;
      break;
    case FaultKind::Throw:
    case FaultKind::Exit:
    case FaultKind::Kill:
    case FaultKind::Stop:
      if (fate.end == nullptr) fate.end = &fault;
      break;
    default:
      fate.changes.push_back(&fault);
  }
}

}  // namespace

CallFate RankFaults::fate_of(std::string_view on) {
  const std::lock_guard lock(mutex_);
  auto of_this = std::ranges::find(counted_, on, &Counted::on);
  if (of_this == counted_.end()) of_this = counted_.insert(of_this, {std::string(on)});
  const std::int64_t number = calls_++;
  const std::int64_t number_on = of_this->calls++;
  CallFate fate;
  for (const Fault& fault : plan_.faults) {
    if (is_link_fault(fault.kind) || fault.rank != rank_) continue;
    if (!fault.on.empty() && fault.on != on) continue;
    const std::int64_t at = (fault.on.empty() ? number : number_on) - fault.call.value_or(0);
    if (at >= 0 && (fault.times == 0 || at < fault.times)) add_to(fate, fault);
  }
  return fate;
}

}  // namespace ringside
