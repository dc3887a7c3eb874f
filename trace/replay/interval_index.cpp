#include "trace/replay/interval_index.h"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include "trace/saturating_sum.h"

namespace ringside {
namespace {

/// Returns the number of nodes of the lowest level.
std::size_t leaves_above(std::size_t events) {
  return (events + IntervalIndex::kLeaf - 1) / IntervalIndex::kLeaf;
}
/// Returns the number of nodes of the level above a level; 0: that level is the root.
std::size_t nodes_above(std::size_t nodes) {
  return nodes <= 1 ? 0 : (nodes + IntervalIndex::kFanOut - 1) / IntervalIndex::kFanOut;
}

Fold fold_of_event(EventId id, const EventTable& table) {
  const auto [time, primitive] = table.outline(id);
  const Nanoseconds length{time.end_ns - time.begin_ns};
  return {.time = time,
          .count = 1,
          .primitives = 1U << static_cast<unsigned>(primitive),
          .busy = length,
          .longest = id,
          .longest_time = length};
}

/// Adds events to those of a fold. Callers add in order of begin, so the first of several longest events stays.
void add(Fold& to, const Fold& more) {
  if (to.count == 0) {
    to = more;
    return;
  }
  to.time.begin_ns = std::min(to.time.begin_ns, more.time.begin_ns);
  to.time.end_ns = std::max(to.time.end_ns, more.time.end_ns);
  to.count += more.count;
  to.primitives |= more.primitives;
  to.busy = saturating_sum(to.busy, more.busy);
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

void IntervalIndex::take(std::vector<EventId> events, std::span<const std::uint32_t> counts) {
  events_ = std::move(events);
  lanes_.reserve(counts.size());
  std::uint32_t first = 0;
  std::size_t nodes = 0;
  for (const std::uint32_t count : counts) {
    lanes_.push_back({first, count, nodes});
    first += count;
    for (std::size_t level = leaves_above(count); level > 0; level = nodes_above(level))
      nodes += level;
  }
  nodes_.resize(nodes);
}

void IntervalIndex::fill(std::size_t number, const EventTable& table) {
  struct Begin {
    std::int64_t ns;
    EventId id;
    auto operator<=>(const Begin&) const = default;
  };
  const Lane& lane = lanes_[number];
  const auto own = std::span(events_).subspan(lane.first, lane.count);
  std::vector<Begin> order;
  order.reserve(own.size());
  for (const EventId id : own) order.push_back({table.times(id).begin_ns, id});
  if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = order[i].id;

  std::size_t next = lane.first_node;
  Fold sum;
  for (std::size_t i = 0; i < own.size(); ++i) {
    add(sum, fold_of_event(own[i], table));
    if ((i + 1) % kLeaf == 0 || i + 1 == own.size())
      nodes_[next++] = node_of(std::exchange(sum, {}));
  }
  std::size_t below = lane.first_node;
  for (std::size_t nodes = leaves_above(own.size()); nodes > 1; nodes = nodes_above(nodes)) {
    for (std::size_t i = 0; i < nodes; ++i) {
      add(sum, fold_of(nodes_[below + i], 1, table));
      if ((i + 1) % kFanOut == 0 || i + 1 == nodes)
        nodes_[next++] = node_of(std::exchange(sum, {}));
    }
    below += nodes;
  }
}

std::span<const EventId> IntervalIndex::events(std::size_t lane) const {
  return std::span(events_).subspan(lanes_[lane].first, lanes_[lane].count);
}

/// Visits the nodes and events of a lane that may overlap a range, by begin.
class IntervalIndex::Walk {
 public:
  Walk(const IntervalIndex& index, std::size_t lane, TimeRange range)
      : index_(index), lane_(index.lanes_[lane]), range_(range) {
    std::size_t first = lane_.first_node;
    for (std::size_t nodes = leaves_above(lane_.count); nodes > 0; nodes = nodes_above(nodes)) {
      levels_[depth_++] = {first, nodes};
      first += nodes;
    }
  }

  [[nodiscard]] const Node* root() const {
    return depth_ == 0 ? nullptr : &index_.nodes_[levels_[depth_ - 1].first];
  }

  /// take_node(node, count)  returns true if it needs no look below the node, which has `count` events
  /// take_event(id)          is called for the other events, which need not overlap the range; it returns false for the
  ///                         first event that begins after the range
  template <typename TakeNode, typename TakeEvent>
  void run(TakeNode&& take_node, TakeEvent&& take_event) {
    if (depth_ > 0) descend(depth_ - 1, 0, take_node, take_event);
  }

 private:
  struct Level {
    std::size_t first;  ///< node
    std::size_t count;
  };

  /// returns  false: everything that follows begins after the range
  template <typename TakeNode, typename TakeEvent>
  bool descend(std::size_t level, std::size_t number, TakeNode& take_node, TakeEvent& take_event) {
    const Node& node = index_.nodes_[levels_[level].first + number];
    if (node.time.begin_ns >= range_.end_ns) return false;
    if (node.time.end_ns < range_.begin_ns) return true;
    if (take_node(node, events_below(level, number))) return true;
    if (level == 0) {
      const std::size_t first = number * kLeaf;
      const std::size_t end = std::min<std::size_t>(first + kLeaf, lane_.count);
      for (std::size_t i = first; i < end; ++i) {
        if (!take_event(index_.events_[lane_.first + i])) return false;
      }
      return true;
    }
    const std::size_t first = number * kFanOut;
    const std::size_t end = std::min(first + kFanOut, levels_[level - 1].count);
    for (std::size_t i = first; i < end; ++i) {
      if (!descend(level - 1, i, take_node, take_event)) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint32_t events_below(std::size_t level, std::size_t number) const {
    std::size_t each = kLeaf;
    for (std::size_t i = 0; i < level; ++i) each *= kFanOut;
    const std::size_t first = number * each;
    return static_cast<std::uint32_t>(std::min<std::size_t>(each, lane_.count - first));
  }

  const IntervalIndex& index_;
  const Lane lane_;
  const TimeRange range_;
  std::array<Level, 16> levels_{};  ///< the lowest first
  std::size_t depth_ = 0;
};
static_assert(IntervalIndex::kLeaf >= 4 && IntervalIndex::kFanOut >= 4,
              "at most 16 levels: 4^16 = 2^32");

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
  const auto emit = [&] {
    if (sum.count > 0) into.push_back(std::exchange(sum, {}));
  };
  const auto take = [&](const Fold& more) {
    if (sum.count > 0 &&
        !is_short({sum.time.begin_ns, std::max(sum.time.end_ns, more.time.end_ns)})) {
      emit();
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
            const Fold event = fold_of_event(id, table);
            if (event.time.begin_ns >= range.end_ns) return false;
            if (range.overlaps(event.time.begin_ns, event.time.end_ns)) take(event);
            return true;
          });
  emit();
}

}  // namespace ringside
