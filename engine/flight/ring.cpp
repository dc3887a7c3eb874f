#include "engine/flight/ring.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
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

/// Returns how the slot's call ended: Pending, Done or Failed.
FlightFate fate_of(const FlightSlot& slot, const FlightRing::GroupProgress& group) {
  if (slot.fate != FlightFate::Ordered) return slot.fate;
  if (slot.op_id <= group.completed_op) return FlightFate::Done;
  return slot.op_id <= group.failed_op ? FlightFate::Failed : FlightFate::Pending;
}

/// Returns the entry of a call without its description and without recorded times.
/// now     time of the dump, which counts as the end of a completed call
/// offset  from the slot's clock to the time since 1970, ns
FlightDump::Entry entry_of(const FlightSlot& slot, FlightFate fate, std::int64_t now,
                           std::int64_t offset) {
  FlightDump::Entry entry;
  entry.group = static_cast<int>(slot.group);
  entry.record_id = static_cast<std::int64_t>(slot.number) - 1;
  entry.is_p2p = is_flight_message(slot.collective);
  entry.op_id = slot.op_id;
  (entry.is_p2p ? entry.p2p_seq : entry.collective_seq) = slot.seq;
  entry.created_ns = slot.created + offset;
  entry.thread = slot.thread;
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

/// What a call is but for its number and times: calls with equal keys share one description.
struct CallKey {
  std::uint32_t group = 0;
  int rank = 0;  ///< this one's, in the group
  bool is_end = false;
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  std::int64_t input = 0, output = 0;  ///< elements
  std::int32_t peer_or_root = -1;
  const CallSite* site = nullptr;
  StackAddresses stack{};  ///< empty: not recorded
  auto operator<=>(const CallKey&) const = default;
};

CallKey key_of(const FlightSlot& slot, int rank) {
  return {.group = slot.group,
          .rank = rank,
          .is_end = slot.is_end,
          .collective = slot.collective,
          .type = slot.type,
          .input = slot.input,
          .output = slot.output,
          .peer_or_root = slot.other,
          .site = slot.site,
          .stack = {}};
}

FlightDump::Call call_of(const CallKey& key) {
  FlightDump::Call call;
  const bool is_one = is_flight_message(key.collective) && !key.is_end;
  call.profiling_name =
      fmt::format("nccl:{}", recorded_name(key.is_end ? Collective::SendRecv : key.collective));
  if (is_one) {
    call.profiling_name += fmt::format(
        " {}{}{}", key.rank, key.collective == Collective::Send ? "->" : "<-", key.peer_or_root);
  }
  if (!is_flight_message(key.collective)) call.root = key.peer_or_root;
  call.input = {key.input};
  call.output = {key.output};
  call.type = pytorch_name(key.type);
  if (key.site != nullptr) {
    for (const CallFrame& frame : key.site->frames) {
      call.frames.push_back({frame.function, frame.file, frame.line});
    }
  }
  std::ranges::move(frames_of(key.stack), std::back_inserter(call.frames));
  return call;
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
  FlightSlot& slot = slots_[at];
  const HeldFlightSlot held(slot);
  slot.is_end = place.is_end;
  slot.fate = place.fate;
  slot.collective = facts.collective;
  slot.type = facts.type;
  slot.group = place.group;
  slot.thread = this_thread();
  slot.other = is_flight_message(facts.collective) ? facts.peer : facts.root;
  slot.number = id + 1;
  slot.created = place.created;
  slot.input = facts.input;
  slot.output = facts.output;
  slot.op_id = place.op_id;
  slot.seq = place.seq;
  slot.site = facts.site;
  if (!times_.empty()) times_[at] = {id + 1, 0, 0};
  if (!stacks_.empty()) stacks_[at] = take_stack();
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
  std::map<CallKey, const FlightDump::Call*> calls;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    CallKey key;
    FlightDump::Entry entry;
    {  // Calls wait for this lock: names are looked up and formatted after it.
      const HeldFlightSlot held(slots_[i]);
      const FlightSlot& slot = slots_[i];
      if (slot.number == 0) continue;
      const GroupProgress group = progress_of(slot.group);
      key = key_of(slot, group.rank);
      if (!stacks_.empty()) key.stack = stacks_[i];
      entry = entry_of(slot, fate_of(slot, group), now, offset);
      if (!times_.empty()) set_times(entry, times_[i], offset);
    }
    const FlightDump::Call*& call = calls[key];
    if (call == nullptr) call = &dump.calls.emplace_back(call_of(key));
    entry.call = call;
    dump.entries.push_back(std::move(entry));
  }
  std::ranges::sort(dump.entries, {}, &FlightDump::Entry::record_id);
  dump.has_frames = std::ranges::any_of(
      dump.calls, [](const FlightDump::Call& call) { return !call.frames.empty(); });
  add_other_counters(dump);
}

}  // namespace ringside
