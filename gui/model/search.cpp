#include "gui/model/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/suggest.h"
#include "base/text.h"
#include "base/vocabulary.h"

namespace ringside::gui {
namespace {

constexpr std::array<std::string_view, 6> kQueryKeys{"rank", "channel", "call",
                                                     "step", "peer",    "waiting"};
constexpr const char* kHelp =
    "words: rank=3 channel=2 call=5 step=7 peer=1 waiting >10us, a primitive (recv_reduce_send) or "
    "a collective";

std::optional<Primitive> primitive_of(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(Primitive::RecvSend); ++i) {
    const auto one = static_cast<Primitive>(i);
    if (word == to_string(one)) return one;
  }
  return std::nullopt;
}

Status take_number(Query& query, std::string_view key, std::string_view text) {
  RINGSIDE_TRY(const std::int64_t number, parse_int(text));
  if (key == "rank")
    query.rank = number;
  else if (key == "channel")
    query.channel = number;
  else if (key == "call")
    query.call = number;
  else if (key == "step")
    query.step = number;
  else if (key == "peer")
    query.peer = number;
  else
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown word '{}'", key),
                 suggestion(key, kQueryKeys)};
  return {};
}

Status take_word(Query& query, std::string_view word) {
  if (word == "waiting") {
    query.is_waiting = true;
    return {};
  }
  if (word.front() == '>') {
    RINGSIDE_TRY(const Seconds time, parse_time(word.substr(1)));
    query.longer_than = std::chrono::duration_cast<Nanoseconds>(time);
    return {};
  }
  if (const auto equals = word.find('='); equals != std::string_view::npos) {
    return take_number(query, word.substr(0, equals), word.substr(equals + 1));
  }
  if ((query.primitive = primitive_of(word))) return {};
  if (const auto collective = parse_collective(word)) {
    query.collective = *collective;
    return {};
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown word '{}'", word), kHelp};
}

bool is_wanted(std::optional<std::int64_t> wanted, std::int64_t is) {
  return !wanted || *wanted == is;
}

class Finder {
 public:
  Finder(const Document& document, const Query& query)
      : document_(document), replay_(*document.replay), query_(query) {}

  template <typename Visit>
  void for_each_lane(const Visit& visit) const {
    const auto lanes = replay_.lanes();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const LaneKey& key = lanes[i];
      const bool is_calls = key.channel == LaneKey::kCalls;
      const bool wants_steps =
          query_.primitive || query_.step || query_.peer || query_.channel || query_.is_waiting;
      if (is_calls && wants_steps) continue;
      if (!is_wanted(query_.rank, key.rank) || !is_wanted(query_.channel, key.channel)) continue;
      visit(replay_.events(LaneId{static_cast<std::uint32_t>(i)}));
    }
  }

  bool fits(EventId id, const TraceEvent& event) {
    if (!is_wanted(query_.call, event.sequence)) return false;
    if (event.kind == EventKind::Compute && (query_.call || query_.collective)) return false;
    if (query_.step && (event.kind != EventKind::Primitive || *query_.step != event.step))
      return false;
    if (query_.peer && *query_.peer != event.recv_peer && *query_.peer != event.send_peer)
      return false;
    if (query_.primitive &&
        (event.kind == EventKind::Collective || event.kind == EventKind::Compute ||
         *query_.primitive != event.primitive))
      return false;
    if (query_.collective && *query_.collective != event.collective) return false;
    if (query_.longer_than && event.end_ns - event.begin_ns <= query_.longer_than->count())
      return false;
    // If there are steps, they are more exact than their call.
    const bool is_vague =
        event.kind == EventKind::Collective && replay_.statistics().primitives > 0;
    return !query_.is_waiting ||
           (!is_vague && waiting_of(document_, id, event, scratch_).count() > 0);
  }

  [[nodiscard]] const Replay& replay() const { return replay_; }

 private:
  const Document& document_;
  const Replay& replay_;
  const Query& query_;
  std::vector<EventId> scratch_;
};

}  // namespace

Result<Query> parse_query(std::string_view text) {
  Query query;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) RINGSIDE_TRY(take_word(query, word));
  return query;
}

std::optional<EventId> find_event(const Document& document, const Query& query, const State& state,
                                  bool is_forward) {
  Finder finder(document, query);
  const Replay& replay = finder.replay();
  using Key = std::pair<std::int64_t, std::uint32_t>;
  const Key here = state.event != kNoEvent
                       ? Key{replay.event(state.event).begin_ns, to_int(state.event)}
                       : Key{state.now_ns, is_forward ? 0 : UINT32_MAX};
  std::optional<Key> next;   // after `here`, the nearest
  std::optional<Key> round;  // from the other end
  const auto is_nearer = [&](const Key& a, const std::optional<Key>& b) {
    return !b || (is_forward ? a < *b : a > *b);
  };
  finder.for_each_lane([&](std::span<const EventId> events) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventId id = events[is_forward ? i : events.size() - 1 - i];
      const TraceEvent event = replay.event(id);
      const Key key{event.begin_ns, to_int(id)};
      // Lanes are sorted: nothing after this event is nearer.
      const bool is_behind = is_forward ? key > here : key < here;
      if (is_behind ? !is_nearer(key, next) : !is_nearer(key, round)) {
        if (is_behind) break;
        continue;
      }
      if (!finder.fits(id, event)) continue;
      (is_behind ? next : round) = key;
      if (is_behind) break;
    }
  });
  if (next) return EventId{next->second};
  if (round) return EventId{round->second};
  return std::nullopt;
}

std::optional<EventId> find_longest(const Document& document, const Query& query) {
  Finder finder(document, query);
  std::optional<EventId> found;
  std::int64_t longest = -1;
  finder.for_each_lane([&](std::span<const EventId> events) {
    for (const EventId id : events) {
      const TraceEvent event = finder.replay().event(id);
      if (event.end_ns - event.begin_ns <= longest || !finder.fits(id, event)) continue;
      longest = event.end_ns - event.begin_ns;
      found = id;
    }
  });
  return found;
}

}  // namespace ringside::gui
