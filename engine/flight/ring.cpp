#include "engine/flight/ring.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/pytorch_types.h"
#include "trace/clock.h"

namespace ringside {

bool is_flight_message(Collective collective) {
  return collective == Collective::Send || collective == Collective::Recv;
}

namespace {

std::uint32_t this_thread() {
  thread_local const auto id = static_cast<std::uint32_t>(::gettid());
  return id;
}

/// Returns how the entry's call ended: Pending, Done or Failed.
FlightFate fate_of(const FlightRecord& record, const FlightRing::GroupProgress& group) {
  if (record.fate != FlightFate::Ordered) return record.fate;
  if (record.op_id <= group.completed_op) return FlightFate::Done;
  return record.op_id <= group.failed_op ? FlightFate::Failed : FlightFate::Pending;
}

/// Returns the entry of a call without its description and without recorded times.
/// now     time of the dump, which counts as the end of a completed call
/// offset  from the entry's clock to the time since 1970, ns
FlightDump::Entry entry_of(const FlightRecord& record, FlightFate fate, std::int64_t now,
                           std::int64_t offset) {
  FlightDump::Entry entry;
  entry.group = static_cast<int>(record.group);
  entry.record_id = static_cast<std::int64_t>(record.number) - 1;
  entry.is_p2p = is_flight_message(record.collective);
  entry.op_id = record.op_id;
  (entry.is_p2p ? entry.p2p_seq : entry.collective_seq) = record.seq;
  entry.created_ns = record.created + offset;
  entry.thread = record.thread;
  entry.is_retired = fate != FlightFate::Pending;
  entry.state = fate == FlightFate::Done ? "completed" : "scheduled";
  if (fate == FlightFate::Done) entry.completed_ns = now + offset;
  return entry;
}

/// Replaces the times of an entry by those that were recorded, if any were.
void set_times(FlightDump::Entry& entry, const FlightTimes& times, std::int64_t offset) {
  const bool is_completed = entry.completed_ns.has_value();
  if (times.started != 0) {
    entry.started_ns = times.started + offset;
    if (!is_completed) entry.state = "started";
  }
  if (!is_completed || times.ended == 0) return;
  entry.completed_ns = times.ended + offset;
  entry.duration_ms = static_cast<double>(times.ended - times.started) / 1e6;
}

/// An entry carries both counters of its group; the ring stores only the counter that the call increased.
void add_other_counters(FlightDump& dump) {
  std::vector<std::pair<std::int64_t, std::int64_t>> last(dump.groups.size(), {0, 0});
  for (FlightDump::Entry& entry : dump.entries) {
    auto& [collective, p2p] = last[static_cast<std::size_t>(entry.group)];
    if (entry.is_p2p) {
      p2p = entry.p2p_seq;
      entry.collective_seq = collective;
    } else {
      collective = entry.collective_seq;
      entry.p2p_seq = p2p;
    }
  }
}

}  // namespace

FlightRing::FlightRing(const FlightSettings& settings)
    : slots_(settings.capacity),
      times_(settings.has_timing ? settings.capacity : 0),
      stacks_(settings.has_stacks ? settings.capacity : 0) {}

std::uint64_t FlightRing::take(std::uint32_t count) {
  return slots_.empty() ? 0 : next_.fetch_add(count, std::memory_order_relaxed);
}

void FlightRing::fill(std::uint64_t id, const FlightFacts& facts, const Place& place) {
  if (slots_.empty()) return;
  const std::size_t at = id % slots_.size();
  const StackAddresses stack = stacks_.empty() ? StackAddresses{} : take_stack();
  const std::uint32_t thread = this_thread();
  FlightSlot& slot = slots_[at];
  const HeldFlightSlot held(slot);
  slot.is_end = place.is_end;
  slot.fate = place.fate;
  slot.collective = facts.collective;
  slot.type = facts.type;
  slot.group = place.group;
  slot.thread = thread;
  slot.other = is_flight_message(facts.collective) ? facts.peer : facts.root;
  slot.number = id + 1;
  slot.created = place.created;
  slot.input = facts.input;
  slot.output = facts.output;
  slot.op_id = place.op_id;
  slot.seq = place.seq;
  slot.site = facts.site;
  if (!times_.empty()) times_[at] = {id + 1, 0, 0};
  if (!stacks_.empty()) stacks_[at] = stack;
}

void FlightRing::note_time(std::uint64_t first, std::uint32_t count,
                           std::int64_t FlightTimes::*field, Nanoseconds now) {
  if (times_.empty()) return;
  for (std::uint64_t id = first; id < first + count; ++id) {
    const std::size_t at = id % slots_.size();
    const HeldFlightSlot held(slots_[at]);
    if (times_[at].number == id + 1) times_[at].*field = now.count();
  }
}

void FlightRing::set_fate(std::uint64_t id, FlightFate fate) {
  if (slots_.empty()) return;
  FlightSlot& slot = slots_[id % slots_.size()];
  const HeldFlightSlot held(slot);
  if (slot.number == id + 1) slot.fate = fate;
}

void FlightRing::add_entries(FlightDump& dump,
                             const std::function<GroupProgress(std::uint32_t group)>& progress_of) {
  const std::int64_t offset = realtime_offset().count();
  const std::int64_t now = trace_now().count();
  using Key = std::tuple<std::uint32_t, bool, Collective, DataType, std::int64_t, std::int64_t,
                         std::int32_t, const CallSite*, StackAddresses>;
  std::map<Key, const FlightDump::Call*> calls;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto [record, group, times, stack] = copy_of(i, progress_of);
    if (record.number == 0) continue;
    const Key key{record.group,  record.is_end, record.collective, record.type, record.input,
                  record.output, record.other,  record.site,       stack};
    const FlightDump::Call*& call = calls[key];
    if (call == nullptr) call = &dump.calls.emplace_back(call_of(record, group.rank, stack));
    FlightDump::Entry entry = entry_of(record, fate_of(record, group), now, offset);
    entry.call = call;
    set_times(entry, times, offset);
    dump.entries.push_back(std::move(entry));
  }
  std::ranges::sort(dump.entries, {}, &FlightDump::Entry::record_id);
  dump.has_frames = std::ranges::any_of(
      dump.calls, [](const FlightDump::Call& call) { return !call.frames.empty(); });
  add_other_counters(dump);
}

FlightRing::Copy FlightRing::copy_of(
    std::size_t at, const std::function<GroupProgress(std::uint32_t group)>& progress_of) {
  const HeldFlightSlot held(slots_[at]);
  const FlightSlot& slot = slots_[at];
  // Before the lock is released: a call that has ended by then has its times here, as noting them takes the lock, too.
  const GroupProgress progress = slot.number == 0 ? GroupProgress{} : progress_of(slot.group);
  return {slot, progress, times_.empty() ? FlightTimes{} : times_[at],
          stacks_.empty() ? StackAddresses{} : stacks_[at]};
}

FlightDump::Call FlightRing::call_of(const FlightRecord& record, int rank,
                                     const StackAddresses& stack) const {
  FlightDump::Call call;
  const bool is_one = is_flight_message(record.collective) && !record.is_end;
  call.profiling_name = fmt::format(
      "nccl:{}", recorded_name(record.is_end ? Collective::SendRecv : record.collective));
  if (is_one) {
    call.profiling_name += fmt::format(
        " {}{}{}", rank, record.collective == Collective::Send ? "->" : "<-", record.other);
  }
  if (!is_flight_message(record.collective)) call.root = record.other;
  call.input = {record.input};
  call.output = {record.output};
  call.type = pytorch_name(record.type);
  if (record.site != nullptr) {
    for (const CallFrame& frame : record.site->frames) {
      call.frames.push_back({frame.function, frame.file, frame.line});
    }
  }
  if (!stacks_.empty()) std::ranges::move(frames_of(stack), std::back_inserter(call.frames));
  return call;
}

}  // namespace ringside
