// Runs sends and receives of an exchange concurrently on one thread: a part of HostPrimitives.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/engine_words.h"
#include "engine/collectives/record.h"
#include "engine/protocol/size_error.h"
#include "engine/runtime/host/host_primitives.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

/// A rank waits this long for the next step in order before it continues with other steps.
constexpr Nanoseconds kOrderly = std::chrono::milliseconds(1);

}  // namespace

/// Runs loops in order while they make progress. A fast rank would otherwise fill all slots, which have then left the
/// caches when the peer reads them (ring of 4 ranks on 2 cores, 16 MiB: 25 ms in order, 50 ms ahead).
void HostPrimitives::exchange(const ChannelTask& task) {
  begin_courses(task);
  const std::int64_t loops = task.loops();
  std::size_t left = loops == 0 ? 0 : courses_.size();
  Waiter waiter(policy());
  bool is_orderly = true;
  while (left > 0 && !setup_.failure->happened()) {
    bool has_moved = look_for_missing();
    const std::int64_t last =
        is_orderly ? std::ranges::min(courses_, {}, &Course::loop).loop : loops - 1;
    for (std::uint32_t i = 0; i < courses_.size(); ++i) {
      if (courses_[i].loop > last || !is_there(courses_[i])) continue;
      has_moved |= advance(courses_[i], i);
      if (courses_[i].loop == loops) --left;
    }
    if (has_moved) {
      waiter = Waiter(policy());
    } else if (left > 0 && !wait_for_any(waiter, loops)) {
      return;
    }
    is_orderly = is_orderly && waiter.waited() < kOrderly;
  }
}

/// Records the algorithm once: all loops take the same steps, and no step of an exchange depends on another.
void HostPrimitives::begin_courses(const ChannelTask& task) {
  if (courses_.empty()) {
    const Program program = ringside::record(task);
    for (int strand = 0; strand < program.strands.count; ++strand) {
      for_each_step(program, 0, strand, [&](const Step& step) {
        courses_.push_back({.primitive = step.primitive,
                            .chunk = step.chunk,
                            .from = parts_of(step.primitive).receives ? step.from : kNoPorts,
                            .to = parts_of(step.primitive).sends ? step.to : kNoPorts});
      });
    }
  }
  for (Course& course : courses_) {
    course.loop = 0;
    course.done = 0;
    course.begin_ns = 0;
  }
}

/// Advances as far as the connection permits, at most to the end of a chunk.
/// returns  whether any data moved
bool HostPrimitives::advance(Course& course, std::uint32_t number) {
  const ChunkSpan span = setup_.map->at(course.loop, course.chunk);
  const std::size_t element = setup_.element.value;
  const std::size_t bytes = static_cast<std::size_t>(span.count) * element;
  const std::byte* const input = setup_.input + static_cast<std::size_t>(span.input) * element;
  std::byte* const output = setup_.output + static_cast<std::size_t>(span.output) * element;
  const std::size_t slot = course.travels() ? static_cast<std::size_t>(setup_.slot.value) : bytes;
  if (setup_.lane != nullptr && course.begin_ns == 0) course.begin_ns = trace_now().count();
  step_ = static_cast<std::uint32_t>(course.loop) * static_cast<std::uint32_t>(courses_.size()) +
          number + 1;
  const std::size_t before = course.done;
  while (course.done < bytes) {
    const Slice slice{input + course.done, output + course.done,
                      std::min(slot, bytes - course.done)};
    const Result<bool> moved = move_course(course, slice);
    if (!moved) return fail(moved.error(), peer_of(course)), false;
    if (!*moved) return course.done > before;
    course.done += slice.bytes;
  }
  if (setup_.lane != nullptr)
    record(course.primitive, span, course.from, course.to, course.begin_ns);
  ++course.loop;
  course.done = 0;
  course.begin_ns = 0;
  return true;
}

/// returns  false: the connection does not permit it yet
Result<bool> HostPrimitives::move_course(const Course& course, const Slice& slice) {
  if (!course.travels()) {
    write_output(slice.output, slice.input, slice.bytes);
    return true;
  }
  const std::uint32_t end = end_of(course);
  RINGSIDE_TRY(const bool has_moved, course.sends() ? offer(end, slice) : accept(end, slice));
  if (!has_moved) return false;
  ConnectionCount& count = *counts_of(course)[end];
  count.add(slice.bytes);
  if (count.is_waiting.load(std::memory_order_relaxed)) count.is_waiting = false;
  return true;
}

/// Receives the next message into the output.
/// returns  false: it has not arrived
Result<bool> HostPrimitives::accept(std::uint32_t index, const Slice& slice) {
  RecvEnd& end = *setup_.ports->recv.ends[index];
  if (!setup_.is_streaming) return end.take({slice.output, slice.bytes});
  RINGSIDE_TRY(const std::span<const std::byte> arrived, end.peek());
  if (arrived.empty()) return false;
  if (arrived.size() != slice.bytes) return other_size(arrived.size(), slice.bytes);
  if (arrived.data() != nullptr) write_output(slice.output, arrived.data(), slice.bytes);
  RINGSIDE_TRY(end.release());
  return true;
}

std::uint32_t HostPrimitives::end_of(const Course& course) const {
  return course.sends() ? setup_.ports->send.begin(course.to.first)
                        : setup_.ports->recv.begin(course.from.first);
}

const std::vector<ConnectionCount*>& HostPrimitives::counts_of(const Course& course) const {
  return course.sends() ? setup_.ports->send.counts : setup_.ports->recv.counts;
}

Rank HostPrimitives::peer_of(const Course& course) const {
  const auto& peers = course.sends() ? setup_.ports->send.peers : setup_.ports->recv.peers;
  return peers[end_of(course)];
}

bool HostPrimitives::is_there(const Course& course) const {
  return !course.travels() || counts_of(course)[end_of(course)] != nullptr;
}

const WaitPolicy& HostPrimitives::policy() const {
  return setup_.ports->missing.empty() ? *setup_.wait : *setup_.wait_for_missing;
}

/// returns  whether any missing connection is ready now
bool HostPrimitives::look_for_missing() {
  if (setup_.ports->missing.empty()) return false;
  if (const Status made = setup_.connections->advance(); !made) {
    setup_.failure->set(made.error());
    return false;
  }
  return add_made(*setup_.ports, *setup_.connections);
}

void HostPrimitives::give_up(const Course& course) {
  const Rank peer = peer_of(course);
  if (is_there(course)) return give_up(peer, course.sends() ? "a free slot" : "a chunk");
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(policy().deadline);
  setup_.failure->set(
      {ErrorCode::Timeout,
       fmt::format("rank {} cannot reach rank {} on channel {}: {}{} s for it to come to the call",
                   setup_.event.rank, to_int(peer), setup_.event.channel, kWaited, waited.count()),
       "see what that rank does, or raise the time-out of calls"});
}

/// Waits because no course could advance.
/// returns  whether to try again
bool HostPrimitives::wait_for_any(Waiter& waiter, std::int64_t loops) {
  if (setup_.failure->happened() || !move_on()) return false;
  const Waiter::Advice advice = waiter.pause();
  if (advice == Waiter::Advice::LookAgain) return true;
  if (setup_.recorder != nullptr) setup_.recorder->flush();
  for (const Course& course : courses_) {
    if (course.loop == loops) continue;
    if (advice == Waiter::Advice::GiveUp) {
      return give_up(course), false;
    }
    if (!is_there(course)) continue;
    const std::uint32_t end = end_of(course);
    const auto look = [&](const auto& side) {
      return look_after(*side.ends[end], *side.counts[end], side.peers[end]);
    };
    if (!(course.sends() ? look(setup_.ports->send) : look(setup_.ports->recv))) return false;
  }
  return check_receivers();
}

}  // namespace ringside
