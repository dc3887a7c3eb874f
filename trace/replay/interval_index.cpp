#include "trace/replay/interval_index.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringside {
namespace {

/// Times lie within 2^62, so a difference fits; a sum of many hostile ones may not.
std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

std::size_t nodes_above(std::size_t count) {
  return (count + IntervalIndex::kFanOut - 1) / IntervalIndex::kFanOut;
}

Fold fold_of_event(EventId id, const TraceEvent& event) {
  const Nanoseconds time{event.end_ns - event.begin_ns};
  return {.time = {event.begin_ns, event.end_ns},
          .count = 1,
          .primitives = 1U << static_cast<unsigned>(event.primitive),
          .busy = time,
          .longest = id,
          .longest_time = time};
}

/// Events come by their beginning, so the longest of equals stays the first.
void add(Fold& to, const Fold& more) {
  if (to.count == 0) {
    to = more;
    return;
  }
  to.time.begin_ns = std::min(to.time.begin_ns, more.time.begin_ns);
  to.time.end_ns = std::max(to.time.end_ns, more.time.end_ns);
  to.count += more.count;
  to.primitives |= more.primitives;
  to.busy = Nanoseconds{saturating_sum(to.busy.count(), more.busy.count())};
  if (more.longest_time > to.longest_time) {
    to.longest = more.longest;
    to.longest_time = more.longest_time;
  }
}

}  // namespace

IntervalIndex::Node IntervalIndex::node_of(const Fold& fold) {
  return {.time = fold.time,
          .longest = fold.longest,
          .longest_ns = static_cast<std::uint32_t>(
              std::min<std::int64_t>(fold.longest_time.count(), UINT32_MAX)),
          .busy_ns = static_cast<float>(fold.busy.count()),
          .primitives = static_cast<std::uint16_t>(fold.primitives)};
}

Fold IntervalIndex::fold_of(const Node& node, std::uint32_t count, const EventTable& table) {
  Nanoseconds longest{node.longest_ns};
  if (node.longest_ns == UINT32_MAX) {
    const TimeRange time = table.times(node.longest);
    longest = Nanoseconds{time.end_ns - time.begin_ns};
  }
  constexpr auto kMost = static_cast<float>(std::int64_t{1} << 62);
  return {.time = node.time,
          .count = count,
          .primitives = node.primitives,
          .busy = Nanoseconds{static_cast<std::int64_t>(std::min(node.busy_ns, kMost))},
          .longest = node.longest,
          .longest_time = longest};
}

void IntervalIndex::take(std::vector<EventId> events, std::size_t lanes) {
  events_ = std::move(events);
  lanes_.reserve(lanes);
  // 1/4 + 1/16 + ... of the events, and what each lane and level has beyond whole nodes.
  nodes_.reserve(events_.size() / (kFanOut - 1) + 2 * lanes);
}

void IntervalIndex::add_lane(std::size_t count, const EventTable& table) {
  struct Begin {
    std::int64_t ns;
    EventId id;
    bool operator<(const Begin& other) const {
      return std::pair(ns, id) < std::pair(other.ns, other.id);
    }
  };
  const std::uint32_t first = lanes_.empty() ? 0 : lanes_.back().first + lanes_.back().count;
  const Lane lane{first, static_cast<std::uint32_t>(count), nodes_.size()};
  const auto own = std::span(events_).subspan(first, count);
  std::vector<Begin> order;
  order.reserve(count);
  for (const EventId id : own) order.push_back({table.times(id).begin_ns, id});
  if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < count; ++i) own[i] = order[i].id;

  Fold sum;
  for (std::size_t i = 0; i < count; ++i) {
    add(sum, fold_of_event(own[i], table.event(own[i])));
    if ((i + 1) % kFanOut == 0 || i + 1 == count) nodes_.push_back(node_of(std::exchange(sum, {})));
  }
  std::size_t below = lane.first_node;
  for (std::size_t nodes = nodes_.size() - below; nodes > 1; nodes = nodes_above(nodes)) {
    for (std::size_t i = 0; i < nodes; ++i) {
      add(sum, fold_of(nodes_[below + i], 1, table));
      if ((i + 1) % kFanOut == 0 || i + 1 == nodes)
        nodes_.push_back(node_of(std::exchange(sum, {})));
    }
    below += nodes;
  }
  lanes_.push_back(lane);
}

std::span<const EventId> IntervalIndex::events(std::size_t lane) const {
  return std::span(events_).subspan(lanes_[lane].first, lanes_[lane].count);
}

/// Goes down a lane's pyramid, from left to right, to what is seen in a range.
class IntervalIndex::Walk {
 public:
  Walk(const IntervalIndex& index, std::size_t lane, TimeRange range)
      : index_(index), lane_(index.lanes_[lane]), range_(range) {
    std::size_t first = lane_.first_node;
    for (std::size_t count = nodes_above(lane_.count); count > 0; count = nodes_above(count)) {
      levels_[depth_++] = {first, count};
      first += count;
      if (count == 1) break;
    }
  }

  [[nodiscard]] const Node* root() const {
    return depth_ == 0 ? nullptr : &index_.nodes_[levels_[depth_ - 1].first];
  }

  /// take(node, count) says whether it has taken the node as a whole; if not, it is gone through, down to
  /// take(id) for events that may or may not be seen.
  template <typename TakeNode, typename TakeEvent>
  void run(TakeNode&& take_node, TakeEvent&& take_event) {
    if (depth_ > 0) descend(depth_ - 1, 0, take_node, take_event);
  }

 private:
  struct Level {
    std::size_t first;
    std::size_t count;
  };

  /// returns  false: what follows begins behind the range
  template <typename TakeNode, typename TakeEvent>
  bool descend(std::size_t level, std::size_t number, TakeNode& take_node, TakeEvent& take_event) {
    const Node& node = index_.nodes_[levels_[level].first + number];
    if (node.time.begin_ns >= range_.end_ns) return false;
    if (node.time.end_ns < range_.begin_ns) return true;
    if (take_node(node, events_below(level, number))) return true;
    const std::size_t first = number * kFanOut;
    if (level == 0) {
      const std::size_t end = std::min<std::size_t>(first + kFanOut, lane_.count);
      for (std::size_t i = first; i < end; ++i) {
        if (!take_event(index_.events_[lane_.first + i])) return false;
      }
      return true;
    }
    const std::size_t end = std::min(first + kFanOut, levels_[level - 1].count);
    for (std::size_t i = first; i < end; ++i) {
      if (!descend(level - 1, i, take_node, take_event)) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint32_t events_below(std::size_t level, std::size_t number) const {
    const std::size_t each = kFanOut << (2 * level);
    const std::size_t first = number * each;
    return static_cast<std::uint32_t>(std::min<std::size_t>(each, lane_.count - first));
  }

  const IntervalIndex& index_;
  const Lane lane_;
  const TimeRange range_;
  std::array<Level, 16> levels_{};  // 4^16 = 2^32
  std::size_t depth_ = 0;
};
static_assert(IntervalIndex::kFanOut == 4, "events_below() shifts by 2");

TimeRange IntervalIndex::span(std::size_t lane) const {
  const Node* const root = Walk(*this, lane, {}).root();
  return root == nullptr ? TimeRange{} : root->time;
}

void IntervalIndex::overlapping(std::size_t lane, TimeRange range, const EventTable& table,
                                std::vector<EventId>& into) const {
  Walk(*this, lane, range)
      .run([](const Node&, std::uint32_t) { return false; },
           [&](EventId id) {
             const auto [begin_ns, end_ns] = table.times(id);
             if (begin_ns >= range.end_ns) return false;
             if (range.overlaps(begin_ns, end_ns)) into.push_back(id);
             return true;
           });
}

void IntervalIndex::fold(std::size_t lane, TimeRange range, Nanoseconds resolution,
                         const EventTable& table, std::vector<Fold>& into) const {
  Fold sum;
  const auto is_short = [&](const TimeRange& time) {
    return time.end_ns - time.begin_ns < resolution.count();
  };
  const auto hand_over = [&] {
    if (sum.count > 0) into.push_back(std::exchange(sum, {}));
  };
  const auto take = [&](const Fold& more) {
    if (sum.count > 0 &&
        !is_short({sum.time.begin_ns, std::max(sum.time.end_ns, more.time.end_ns)})) {
      hand_over();
    }
    add(sum, more);
  };
  Walk(*this, lane, range)
      .run(
          [&](const Node& node, std::uint32_t count) {
            const bool is_inside =
                node.time.begin_ns >= range.begin_ns && node.time.end_ns < range.end_ns;
            if (!is_inside || !is_short(node.time)) return false;
            take(fold_of(node, count, table));
            return true;
          },
          [&](EventId id) {
            const TraceEvent event = table.event(id);
            if (event.begin_ns >= range.end_ns) return false;
            if (range.overlaps(event.begin_ns, event.end_ns)) take(fold_of_event(id, event));
            return true;
          });
  hand_over();
}

}  // namespace ringside
