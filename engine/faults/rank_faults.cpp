#include "engine/faults/rank_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"

namespace ringside {
namespace {

void add_to(CallEffects& effects, const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::Skip:
      effects.is_skipped = true;
      break;
    case FaultKind::Add:
      effects.is_repeated = true;
      break;
    case FaultKind::Reorder:
      effects.is_postponed = true;
      break;
    case FaultKind::Late:
      effects.delay += *fault.by;
      break;
    case FaultKind::Stall:
      effects.delay += fault.by.value_or(Seconds{0});
      effects.is_never_made = effects.is_never_made || !fault.by;
      break;
    case FaultKind::Throw:
    case FaultKind::Exit:
    case FaultKind::Kill:
    case FaultKind::Stop:
      if (effects.ending == nullptr) effects.ending = &fault;
      break;
    default:
      effects.changes.push_back(&fault);
  }
}

}  // namespace

CallEffects RankFaults::effects_on_next_call(std::string_view on) {
  const std::lock_guard lock(mutex_);
  auto of_this = std::ranges::find(counted_, on, &Counted::on);
  if (of_this == counted_.end()) of_this = counted_.insert(of_this, {std::string(on)});
  const std::int64_t number = calls_++;
  const std::int64_t number_on = of_this->calls++;
  CallEffects effects;
  for (const Fault& fault : plan_.faults) {
    if (is_link_fault(fault.kind) || fault.rank != rank_) continue;
    if (!fault.on.empty() && fault.on != on) continue;
    const std::int64_t at = (fault.on.empty() ? number : number_on) - fault.call.value_or(0);
    if (at >= 0 && (fault.times == 0 || at < fault.times)) add_to(effects, fault);
  }
  return effects;
}

std::string unfired_text(const Fault& fault, int rank, std::int64_t calls) {
  return fmt::format(
      "fault {}(rank={}, call={}{}) never fires: rank {} makes only {}, counted from 0",
      to_string(fault.kind), rank, fault.call.value_or(0),
      fault.on.empty() ? "" : ", on=" + fault.on, rank,
      plural(static_cast<std::size_t>(calls), "call", "calls"));
}

std::vector<std::string> RankFaults::unfired() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const Fault& fault : plan_.faults) {
    if (is_link_fault(fault.kind) || fault.rank != rank_) continue;
    const auto of_its_own = std::ranges::find(counted_, fault.on, &Counted::on);
    const std::int64_t calls = fault.on.empty()               ? calls_
                               : of_its_own == counted_.end() ? 0
                                                              : of_its_own->calls;
    if (fault.call.value_or(0) >= calls) lines.push_back(unfired_text(fault, rank_, calls));
  }
  return lines;
}

}  // namespace ringside
