#include "trace/replay/critical_path.h"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace ringside {
namespace {

/// A step, and its position among the steps of its rank on its channel.
struct Place {
  EventId id = kNoEvent;
  TraceEvent event;
  std::span<const EventId> lane = {};
  std::size_t at = 0;
};

/// Follows the path backwards from the last step of the call: from each step to the step that it waited for.
class Walk {
 public:
  Walk(const Replay& replay, std::uint32_t communicator, std::uint32_t sequence,
       const PathKnowledge& knowledge)
      : replay_(replay), communicator_(communicator), sequence_(sequence), knowledge_(knowledge) {}

  std::vector<PathLeg> run() {
    std::vector<PathLeg> legs;
    EventId step = last_step();
    // No path is longer than all steps: the steps of a damaged trace may form a cycle.
    while (step != kNoEvent && legs.size() < steps_) {
      const Waited before = waited_for(place(step));
      legs.push_back({step, before.cause, before.peer, {before.end, replay_.event(step).end_ns}});
      step = before.step;
    }
    std::ranges::reverse(legs);
    return legs;
  }

 private:
  /// An input of a step.
  struct Waited {
    EventId step = kNoEvent;  ///< the step that provides it; kNoEvent: no step does
    PathCause cause = PathCause::Begin;
    std::int32_t peer = -1;
    std::int64_t end = 0;        ///< of that step
    std::int64_t available = 0;  ///< time from which the input was available
  };

  /// Returns whether the event is a step of the call.
  [[nodiscard]] bool belongs(const TraceEvent& event) const {
    return event.kind == EventKind::Primitive && event.sequence == sequence_;
  }

  /// Finds the step that ended last, and counts the steps.
  EventId last_step() {
    const auto [first, last] = replay_.lanes_of(communicator_);
    EventId found = kNoEvent;
    std::int64_t end = 0;
    for (std::size_t lane = first; lane < last; ++lane) {
      for (const EventId id : replay_.events(LaneId{static_cast<std::uint32_t>(lane)})) {
        const TraceEvent event = replay_.event(id);
        if (!belongs(event)) continue;
        ++steps_;
        if (found != kNoEvent && event.end_ns < end) continue;
        found = id;
        end = event.end_ns;
      }
    }
    return found;
  }

  [[nodiscard]] Place place(EventId id) const {
    Place found{.id = id, .event = replay_.event(id)};
    const auto lane = replay_.find({communicator_, found.event.rank, found.event.channel});
    if (!lane) return found;
    found.lane = replay_.events(*lane);
    const auto begin_of = [this](EventId one) { return replay_.event(one).begin_ns; };
    auto at = std::ranges::lower_bound(found.lane, found.event.begin_ns, {}, begin_of);
    while (at != found.lane.end() && *at != id) ++at;
    found.at = static_cast<std::size_t>(at - found.lane.begin());
    return found;
  }

  /// Returns the input that became available last.
  [[nodiscard]] Waited waited_for(const Place& step) const {
    std::vector<Waited> all;
    const auto take = [&](const Waited& one) {
      if (one.step != kNoEvent && one.end <= step.event.end_ns) all.push_back(one);
    };
    // Of inputs that were available at the same time, the first counts. So the path follows a link that is never idle.
    take(busy_link(step));
    std::vector<EventId> senders;
    replay_.senders_of(step.id, senders);
    for (const EventId id : senders) {
      const TraceEvent sent = replay_.event(id);
      const ChunkTimes times = times_of(sent, step.event.rank);
      take({id, PathCause::Message, sent.rank, sent.end_ns,
            sent.end_ns + (times.crossing + times.latency).count()});
    }
    take(room(step));
    take(own(step));
    if (all.empty()) return {.end = step.event.begin_ns, .available = step.event.begin_ns};
    if (const Waited* const last = last_of(all, step.event.end_ns)) return *last;
    return *std::ranges::max_element(all, {}, &Waited::available);
  }

  /// Returns the input at whose time the step ended: simulated steps take no time of their own. Without an input, a chunk
  /// took longer than it would have taken alone, so the last message counts.
  /// returns  null: the trace is not simulated, or no message was needed
  [[nodiscard]] const Waited* last_of(const std::vector<Waited>& all, std::int64_t end) const {
    constexpr std::int64_t kRounded = 2;  // ns: two times, each off by half of one, and their sum
    if (!knowledge_.chunk) return nullptr;
    for (const Waited& one : all) {
      if (std::abs(one.available - end) <= kRounded) return &one;
    }
    const Waited* message = nullptr;
    for (const Waited& one : all) {
      if (one.cause != PathCause::Message) continue;
      if (message == nullptr || one.available > message->available) message = &one;
    }
    return message;
  }

  [[nodiscard]] ChunkTimes times_of(const TraceEvent& sent, std::int32_t to) const {
    return knowledge_.chunk ? knowledge_.chunk(sent, to) : ChunkTimes{};
  }

  /// Returns the last step of the rank and channel that ended before this one began. Several strands may share the lane.
  [[nodiscard]] Waited own(const Place& step) const {
    constexpr std::size_t kMostNeighbours = 64;  // steps of other strands in between
    Waited found;
    const std::size_t least = step.at > kMostNeighbours ? step.at - kMostNeighbours : 0;
    for (std::size_t i = step.at; i-- > least;) {
      const TraceEvent event = replay_.event(step.lane[i]);
      if (!belongs(event) || event.end_ns > step.event.begin_ns) continue;
      if (found.step != kNoEvent && event.end_ns <= found.end) continue;
      found = {step.lane[i], PathCause::Own, -1, event.end_ns, event.end_ns};
      if (event.end_ns == step.event.begin_ns) break;
    }
    return found;
  }

  /// Returns the nth step before this one that sends to the same rank.
  [[nodiscard]] EventId earlier_send(const Place& step, int n) const {
    if (step.event.send_peer < 0) return kNoEvent;
    for (std::size_t i = step.at; i-- > 0;) {
      const TraceEvent event = replay_.event(step.lane[i]);
      if (event.sequence != sequence_) break;
      if (belongs(event) && event.send_peer == step.event.send_peer && --n == 0)
        return step.lane[i];
    }
    return kNoEvent;
  }

  /// Returns when the link to the receiver had carried the previous chunk: for the time of its bytes if it was alone, and
  /// until its receiver had it if other chunks shared the link, unless that was later than this step.
  [[nodiscard]] Waited busy_link(const Place& step) const {
    if (!knowledge_.chunk) return {};
    const EventId id = earlier_send(step, 1);
    if (id == kNoEvent) return {};
    const TraceEvent before = replay_.event(id);
    const std::int32_t to = step.event.send_peer;
    const ChunkTimes times = times_of(before, to);
    std::int64_t available = before.end_ns + times.crossing.count();
    if (const EventId taken = receiver_of(id, to); taken != kNoEvent) {
      const std::int64_t crossed = replay_.event(taken).end_ns - times.latency.count();
      if (crossed <= step.event.end_ns) available = std::max(available, crossed);
    }
    return {id, PathCause::Link, to, before.end_ns, available};
  }

  /// Returns the step of the rank that received the chunk.
  [[nodiscard]] EventId receiver_of(EventId sent, std::int32_t rank) const {
    std::vector<EventId> receivers;
    replay_.receivers_of(sent, receivers);
    const auto found =
        std::ranges::find(receivers, rank, [this](EventId id) { return replay_.event(id).rank; });
    return found == receivers.end() ? kNoEvent : *found;
  }

  /// Returns the step that released the slot which this step reuses.
  [[nodiscard]] Waited room(const Place& step) const {
    if (knowledge_.room <= 0) return {};
    const EventId sent = earlier_send(step, knowledge_.room);
    if (sent == kNoEvent) return {};
    const EventId taken = receiver_of(sent, step.event.send_peer);
    if (taken == kNoEvent) return {};
    const std::int64_t end = replay_.event(taken).end_ns;
    return {taken, PathCause::Room, step.event.send_peer, end, end};
  }

  const Replay& replay_;
  const std::uint32_t communicator_;
  const std::uint32_t sequence_;
  const PathKnowledge& knowledge_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<PathLeg> critical_path(const Replay& replay, std::uint32_t communicator,
                                   std::uint32_t sequence, const PathKnowledge& knowledge) {
  return Walk(replay, communicator, sequence, knowledge).run();
}

}  // namespace ringside
