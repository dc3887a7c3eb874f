#include "gui/model/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/suggest.h"

namespace ringside::gui {
namespace {

constexpr std::array<std::string_view, kViews> kViewNames{"timeline", "topology", "chunks", "slots",
                                                          "numbers",  "findings", "compare"};
constexpr std::int64_t kShortest = 10;  // ns that a window shows at least

/// INT64_MAX if it is longer: a file may have times as far as 2^62 on either side.
std::int64_t length(TimeRange range) {
  std::int64_t ns = 0;
  return __builtin_sub_overflow(range.end_ns, range.begin_ns, &ns) ? INT64_MAX : ns;
}

/// With a margin of a twentieth on each side, so that the first beginning and the last end are visible.
TimeRange with_margin(TimeRange range) {
  const std::int64_t margin = std::max<std::int64_t>(length(range) / 20, 1);
  return {range.begin_ns - margin, range.end_ns + margin};
}

/// The nearest moment before or after `now` among the ends of a lane's steps.
class Nearest {
 public:
  Nearest(std::int64_t now, bool is_forward) : now_(now), is_forward_(is_forward) {}
  void take(std::int64_t moment) {
    if (is_forward_ ? moment <= now_ : moment >= now_) return;
    if (!found_ || (is_forward_ ? moment < *found_ : moment > *found_)) found_ = moment;
  }
  [[nodiscard]] std::optional<std::int64_t> found() const { return found_; }

 private:
  std::int64_t now_;
  bool is_forward_;
  std::optional<std::int64_t> found_;
};

/// Visits the events of a lane around `now`: 256 on each side, ordered by their begin. The nearest moment is among them
/// unless more than 256 events begin at `now`; a step back may then find none.
template <typename Visit>
void visit_near(const Replay& replay, LaneId lane, std::int64_t now, const Visit& visit) {
  constexpr std::ptrdiff_t kAround = 256;
  const auto events = replay.events(lane);
  const auto begin_of = [&](EventId id) { return replay.event(id).begin_ns; };
  const auto at = std::ranges::upper_bound(events, now, {}, begin_of) - events.begin();
  const auto first = std::max<std::ptrdiff_t>(at - kAround, 0);
  const auto last = std::min<std::ptrdiff_t>(at + kAround, std::ssize(events));
  for (auto i = first; i < last; ++i) {
    const EventId id = events[static_cast<std::size_t>(i)];
    visit(id, replay.event(id));
  }
}

constexpr std::size_t kMostLanesAsked = 4096;

template <typename Visit>
void visit_all_near(const Replay& replay, std::int64_t now, const Visit& visit) {
  const std::size_t lanes = std::min(replay.lanes().size(), kMostLanesAsked);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (replay.lanes()[i].channel == LaneKey::kCalls) continue;
    visit_near(replay, LaneId{static_cast<std::uint32_t>(i)}, now, visit);
  }
}

std::optional<std::int64_t> next_primitive(const State& state, const Replay& replay,
                                           bool is_forward) {
  Nearest nearest(state.now_ns, is_forward);
  const auto take = [&](EventId, const TraceEvent& event) { nearest.take(event.end_ns); };
  if (state.event != kNoEvent) {
    const TraceEvent chosen = replay.event(state.event);
    if (const auto lane = replay.find({chosen.communicator, chosen.rank, chosen.channel})) {
      visit_near(replay, *lane, state.now_ns, take);
      return nearest.found();
    }
  }
  visit_all_near(replay, state.now_ns, take);
  return nearest.found();
}

std::optional<std::int64_t> next_round(const State& state, const Document& document,
                                       bool is_forward) {
  const CallFacts* const call = document.call_at(state.now_ns);
  if (call == nullptr) return std::nullopt;
  Nearest nearest(state.now_ns, is_forward);
  nearest.take(call->time.begin_ns);
  for (const std::int64_t end : round_ends(*document.replay, *call)) nearest.take(end);
  return nearest.found();
}

std::optional<EventId> next_on_chunk(const State& state, const Replay& replay, bool is_forward) {
  if (state.event == kNoEvent) return std::nullopt;
  std::vector<EventId> others;
  if (is_forward) {
    replay.receivers_of(state.event, others);
  } else {
    replay.senders_of(state.event, others);
  }
  return others.empty() ? std::nullopt : std::optional(others.front());
}

std::optional<std::int64_t> next_call(const State& state, const Document& document,
                                      bool is_forward) {
  Nearest nearest(state.now_ns, is_forward);
  for (const CallFacts& call : document.calls) nearest.take(call.time.begin_ns);
  if (is_forward) nearest.take(document.whole().end_ns);
  return nearest.found();
}

}  // namespace

std::vector<std::int64_t> round_ends(const Replay& replay, const CallFacts& call) {
  std::vector<std::int64_t> ends;
  const auto [first, last] = replay.lanes_of(call.communicator);
  for (std::size_t i = first; i < last; ++i) {
    if (replay.lanes()[i].channel == LaneKey::kCalls) continue;
    const LaneId lane{static_cast<std::uint32_t>(i)};
    for (const EventId id : replay.events(lane)) {
      const TraceEvent event = replay.event(id);
      if (event.sequence != call.sequence || event.kind != EventKind::Primitive) continue;
      constexpr std::uint32_t kMostRounds = 1U << 16;
      if (event.step >= kMostRounds) continue;
      if (ends.size() <= event.step) ends.resize(event.step + 1, call.time.begin_ns);
      ends[event.step] = std::max(ends[event.step], event.end_ns);
    }
  }
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] = std::max(ends[i], ends[i - 1]);
  return ends;
}

const char* to_string(View view) { return kViewNames[static_cast<std::size_t>(view)].data(); }

Result<View> parse_view(std::string_view text) {
  for (std::size_t i = 0; i < kViewNames.size(); ++i) {
    if (kViewNames[i] == text) return static_cast<View>(i);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown view '{}'", text),
               suggestion(text, kViewNames)};
}

State first_state(const Document& document) {
  State state;
  const TimeRange whole = document.whole();
  state.now_ns = whole.begin_ns;
  state.visible = with_margin(whole);
  // Every trace plays for ten seconds, and one of less than 10 ns at 1 ns per second.
  state.speed = std::max(1.0, static_cast<double>(length(whole)) / 10);
  return state;
}

std::int64_t moment_of_still(const Document& document) {
  const TimeRange whole = document.whole();
  if (document.never_ended_ns || !document.waits.empty()) return whole.end_ns;
  const std::int64_t middle = whole.begin_ns + (whole.end_ns - whole.begin_ns) / 2;
  if (document.calls.empty()) return middle;
  const std::uint32_t first =
      std::ranges::min_element(document.calls, {}, &CallFacts::communicator)->communicator;
  const auto moment_of = [&](const CallFacts& call) {
    return std::clamp(call.time.begin_ns / 2 + call.time.end_ns / 2, whole.begin_ns, whole.end_ns);
  };
  std::int64_t nearest = INT64_MAX;
  for (const CallFacts& call : document.calls) {
    if (call.communicator != first) continue;
    const std::int64_t moment = moment_of(call);
    if (nearest == INT64_MAX || std::abs(moment - middle) < std::abs(nearest - middle))
      nearest = moment;
  }
  return nearest;
}

void advance(State& state, const Document& document, double seconds) {
  if (!state.is_playing) return;
  const TimeRange span = state.ruler && state.loops ? *state.ruler : document.whole();
  const double passed = state.part_ns + seconds * state.speed;
  const double left = static_cast<double>(span.end_ns - state.now_ns);
  if (passed >= left) {
    state.part_ns = 0;
    state.now_ns = state.loops ? span.begin_ns : span.end_ns;
    state.is_playing = state.loops;
  } else {
    const double whole = std::floor(passed);
    state.now_ns += static_cast<std::int64_t>(whole);
    state.part_ns = passed - whole;
  }
  if (state.now_ns >= state.visible.end_ns || state.now_ns < state.visible.begin_ns) {
    show_time(state, document, state.now_ns);
  }
}

void show_range(State& state, const Document& document, TimeRange range) {
  const TimeRange most = with_margin(document.whole());
  const std::int64_t wanted =
      std::clamp(length(range), kShortest, std::max(kShortest, length(most)));
  std::int64_t begin =
      std::clamp(range.begin_ns, most.begin_ns, std::max(most.begin_ns, most.end_ns - wanted));
  state.visible = {begin, begin + wanted};
}

void zoom(State& state, const Document& document, double factor, std::int64_t around_ns) {
  const double now = static_cast<double>(length(state.visible));
  const double most = static_cast<double>(length(with_margin(document.whole())));
  const double wanted = std::clamp(now * factor, static_cast<double>(kShortest),
                                   std::max(most, static_cast<double>(kShortest)));
  const double share = static_cast<double>(around_ns - state.visible.begin_ns) / now;
  const std::int64_t begin = around_ns - std::llround(share * wanted);
  show_range(state, document, {begin, begin + std::llround(wanted)});
}

void pan(State& state, const Document& document, double share) {
  const std::int64_t by = std::llround(static_cast<double>(length(state.visible)) * share);
  show_range(state, document, {state.visible.begin_ns + by, state.visible.end_ns + by});
}

void show_time(State& state, const Document& document, std::int64_t time_ns) {
  if (time_ns >= state.visible.begin_ns && time_ns < state.visible.end_ns) return;
  const std::int64_t begin = time_ns - length(state.visible) / 10;
  show_range(state, document, {begin, begin + length(state.visible)});
}

void select(State& state, const Document& document, EventId event) {
  state.event = event;
  if (event == kNoEvent) return;
  const TraceEvent chosen = document.replay->event(event);
  if (chosen.kind == EventKind::Collective) return;
  state.channel = chosen.channel;
  if (chosen.send_peer >= 0) {
    state.connection = {chosen.communicator, chosen.rank, chosen.send_peer, chosen.channel};
  } else if (chosen.recv_peer >= 0) {
    state.connection = {chosen.communicator, chosen.recv_peer, chosen.rank, chosen.channel};
  }
}

void step(State& state, const Document& document, Stride stride, bool is_forward) {
  state.is_playing = false;
  state.part_ns = 0;
  std::optional<std::int64_t> moment;
  switch (stride) {
    case Stride::Primitive:
      moment = next_primitive(state, *document.replay, is_forward);
      break;
    case Stride::Round:
      moment = next_round(state, document, is_forward);
      break;
    case Stride::Call:
      moment = next_call(state, document, is_forward);
      break;
    case Stride::Chunk:
      if (const auto next = next_on_chunk(state, *document.replay, is_forward)) {
        select(state, document, *next);
        moment = document.replay->event(*next).end_ns;
      }
      break;
  }
  if (!moment) return;
  state.now_ns = *moment;
  show_time(state, document, state.now_ns);
}

}  // namespace ringside::gui
