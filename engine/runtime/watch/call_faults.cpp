#include "engine/runtime/watch/call_faults.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace ringside {
namespace {

constexpr Nanoseconds kNap = std::chrono::milliseconds(10);
constexpr std::size_t kMostMemory = std::size_t{1} << 32;  ///< bytes of a call that a fault changed

/// Lays the transfers out one behind the other, because the buffers of fused messages lie anywhere.
/// returns  elements of all transfers
std::int64_t lay_out(std::vector<Transfer>& transfers) {
  std::int64_t next = 0;
  for (Transfer& one : transfers) {
    one.offset = next;
    next += one.count;
  }
  return next;
}

/// Ends the rank in the way that the fault describes.
void leave(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::Throw:
      throw PlannedException();
    case FaultKind::Exit:
      ::_exit(fault.status);
    case FaultKind::Kill:
      ::raise(SIGKILL);
      break;
    default:  // FaultKind::Stop
      ::raise(SIGSTOP);
  }
}

/// Waits for the given time, or until the communicator fails.
void hang_for(const CallFaults::Caller& caller, Seconds time) {
  const Clock::Time began = caller.clock->now();
  while (!caller.failure->happened() && Seconds(caller.clock->now() - began) < time) {
    caller.clock->sleep(kNap);
  }
}

std::int64_t changed_count(const Fault& fault, std::int64_t count) {
  return changed_by(fault, {.count = count}, 1).count;  // the number of ranks changes only roots
}

/// Returns the call as the faults change it.
CollectiveCall changed(CollectiveCall call, const std::vector<const Fault*>& changes, int nranks) {
  for (const Fault* const fault : changes) {
    const FaultableCall before{call.collective, call.type, call.op, to_int(call.root), call.count};
    const FaultableCall after = changed_by(*fault, before, nranks);
    if (fault->kind == FaultKind::WrongCount) {
      for (Transfer& one : call.sends) one.count = changed_count(*fault, one.count);
      for (Transfer& one : call.recvs) one.count = changed_count(*fault, one.count);
      for (std::int64_t& count : call.counts) count = changed_count(*fault, count);
    }
    // Lists of transfers or blocks have no meaning for another collective.
    if (after.collective != before.collective) {
      call.sends.clear();
      call.recvs.clear();
      call.counts.clear();
    }
    call.collective = after.collective;
    call.type = after.type;
    call.op = after.op;
    call.root = Rank{after.root};
    call.count = after.count;
  }
  return call;
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using LazyZeros = std::unique_ptr<std::byte, Free>;

/// Returns zeros that the kernel provides when they are touched; null: no memory. A changed call must begin when the
/// other ranks' calls do: filling its memory first took longer than a timeout on a busy machine, and the job ended
/// before the rank had begun the call.
LazyZeros lazy_zeros(std::size_t size) {
  return LazyZeros(static_cast<std::byte*>(std::calloc(std::max<std::size_t>(size, 1), 1)));
}

/// Runs a call on memory of its own (CallFaults), and discards the result.
Status run_apart(const CallFaults::Caller& caller, CollectiveCall call) {
  const std::size_t element = size_of(call.type).value;
  const std::int64_t listed = std::max(lay_out(call.sends), lay_out(call.recvs));
  const Bytes whole = call_bytes(call.collective, shape_of(call), caller.nranks);
  const std::size_t size = std::max(
      {static_cast<std::size_t>(whole.value), element, static_cast<std::size_t>(listed) * element});
  if (size > kMostMemory) {
    return Error{ErrorCode::InvalidArgument, fmt::format("a fault makes a call of {} bytes", size),
                 fmt::format("give the fault a count for at most {} bytes", kMostMemory)};
  }
  const LazyZeros input = lazy_zeros(size);
  const LazyZeros output = lazy_zeros(size);
  if (!input || !output)
    return system_error(fmt::format("{} bytes for a changed call", size), ENOMEM);
  call.input = input.get();
  call.output = output.get();
  return caller.run(call);
}

}  // namespace

Status CallFaults::make(const Caller& caller, const CollectiveCall& call) {
  const CallEffects effects = faults_.effects_on_next_call(caller.on);
  if (effects.ending != nullptr) leave(*effects.ending);
  if (effects.is_never_made) hang_for(caller, Seconds::max());
  if (effects.delay.count() > 0) hang_for(caller, effects.delay);
  if (effects.is_skipped) return {};
  if (effects.is_postponed) {
    const std::lock_guard lock(mutex_);
    postponed_ = Postponed{caller, call};
    return {};
  }
  if (effects.is_repeated) {
    RINGSIDE_TRY(run_apart(caller, call));
  }
  if (effects.changes.empty()) {
    RINGSIDE_TRY(caller.run(call));
  } else {
    RINGSIDE_TRY(run_apart(caller, changed(call, effects.changes, caller.nranks)));
  }
  return make_postponed();
}

Status CallFaults::make_postponed() {
  std::optional<Postponed> postponed;
  {
    const std::lock_guard lock(mutex_);
    postponed = std::exchange(postponed_, std::nullopt);
  }
  return postponed ? run_apart(postponed->caller, postponed->call) : Status{};
}

void CallFaults::forget(const void* who) {
  const std::lock_guard lock(mutex_);
  if (postponed_ && postponed_->caller.who == who) postponed_.reset();
}

}  // namespace ringside
