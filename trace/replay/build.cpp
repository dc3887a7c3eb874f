#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/mixed.h"
#include "trace/match.h"
#include "trace/replay/replay.h"

namespace ringside {
namespace {

constexpr std::uint32_t kNoLane = UINT32_MAX;
constexpr std::size_t kBlocksBetweenLooks = 16;
constexpr double kWalkShare = 0.8;  // of the time; sorting the lanes takes the rest

struct HashKey {
  std::size_t operator()(const LaneKey& key) const {
    return static_cast<std::size_t>(
        mixed((std::uint64_t{key.communicator} << 32) ^
              (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.rank)) << 17) ^
              static_cast<std::uint32_t>(key.channel)));
  }
};

}  // namespace

/// One walk over the file: lanes are numbered as they come, sends meet receives, statistics add up. Then
/// the lanes are put in their order, and each gets its events.
class Replay::Builder {
 public:
  Builder(Replay& replay, const OnProgress& on_progress)
      : replay_(replay), on_progress_(on_progress) {
    matcher_.emplace([this](const TraceTransfer& transfer) {
      statistics_.add(transfer);
      replay_.transfers_.add(transfer);
    });
  }

  Status run() {
    const std::size_t size = replay_.table_.size();
    lane_of_.assign(size, kNoLane);
    for (std::size_t b = 0; b < replay_.table_.block_count(); ++b) {
      if (b % kBlocksBetweenLooks == 0) {
        RINGSIDE_TRY(report_progress(kWalkShare * static_cast<double>(b) /
                                     static_cast<double>(replay_.table_.block_count())));
      }
      take(replay_.table_.block(b), replay_.table_.first_of(b));
    }
    replay_.statistics_ = std::move(statistics_).finish(matcher_->unmatched());
    matcher_.reset();
    replay_.transfers_.finish();
    sort_extras();
    return fill_lanes();
  }

 private:
  struct Lane {
    LaneKey key;
    std::uint32_t events = 0;
    EventId last = kNoEvent;  ///< primitive
  };

  [[nodiscard]] Status report_progress(double share) const {
    if (!on_progress_ || on_progress_(share)) return {};
    return Error{ErrorCode::Aborted, "reading the trace was cancelled"};
  }

  void take(const TraceBlock& block, std::uint32_t first) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (block.is_readable(i)) take(block.event(i), first + static_cast<std::uint32_t>(i));
    }
  }

  void take(const TraceEvent& event, std::uint32_t number) {
    const bool is_call = event.kind == EventKind::Collective;
    const std::uint32_t number_of_lane =
        lane({event.communicator, event.rank, is_call ? LaneKey::kCalls : event.channel});
    Lane& lane = lanes_[number_of_lane];
    statistics_.add(event);
    if (event.kind == EventKind::Peer) {
      // The rest of a primitive; without one it belongs to no primitive and counts as one itself.
      if (lane.last != kNoEvent) replay_.extras_.push_back({EventId{number}, lane.last});
    } else {
      lane_of_[number] = number_of_lane;
      ++lane.events;
      lane.last = EventId{number};
    }
    const EventId primitive = lane.last == kNoEvent ? EventId{number} : lane.last;
    matcher_->add(event, {number, to_int(primitive)});
  }

  std::uint32_t lane(const LaneKey& key) {
    if (!lanes_.empty() && lanes_[last_lane_].key == key) return last_lane_;
    const auto [found, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(lanes_.size()));
    if (is_new) lanes_.push_back({.key = key});
    return last_lane_ = found->second;
  }

  void sort_extras() {
    auto& order = replay_.extras_by_primitive_;
    order.resize(replay_.extras_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, {}, [this](std::uint32_t place) { return replay_.extras_[place].primitive; });
  }

  Status fill_lanes() {
    std::vector<std::uint32_t> order(lanes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::uint32_t number) { return lanes_[number].key; });

    // The events of each lane behind each other, as they come in the file.
    std::vector<std::size_t> next(lanes_.size());
    std::size_t all = 0;
    for (const std::uint32_t number : order) {
      next[number] = all;
      all += lanes_[number].events;
    }
    std::vector<EventId> events(all);
    for (std::size_t id = 0; id < lane_of_.size(); ++id) {
      if (lane_of_[id] != kNoLane)
        events[next[lane_of_[id]]++] = EventId{static_cast<std::uint32_t>(id)};
    }
    lane_of_ = std::vector<std::uint32_t>();  // = {} would keep its memory

    std::vector<std::uint32_t> counts;
    counts.reserve(order.size());
    replay_.lanes_.reserve(order.size());
    for (const std::uint32_t number : order) {
      replay_.lanes_.push_back(lanes_[number].key);
      counts.push_back(lanes_[number].events);
    }
    replay_.index_.take(std::move(events), counts);
    std::size_t done = 0;
    for (std::size_t lane = 0; lane < counts.size(); ++lane) {
      if (lane % 1024 == 0) {
        RINGSIDE_TRY(
            report_progress(kWalkShare + (1 - kWalkShare) * static_cast<double>(done) /
                                             static_cast<double>(std::max<std::size_t>(all, 1))));
      }
      replay_.index_.fill(lane, replay_.table_);
      done += counts[lane];
    }
    return report_progress(1);
  }

  Replay& replay_;
  const OnProgress& on_progress_;
  StatisticsBuilder statistics_;
  std::optional<TransferMatcher> matcher_;  ///< while the file is gone over
  std::vector<Lane> lanes_;                 ///< as they come
  std::unordered_map<LaneKey, std::uint32_t, HashKey> numbers_;
  std::uint32_t last_lane_ = 0;
  std::vector<std::uint32_t> lane_of_;  ///< [event]
};

Result<Replay> Replay::open(const std::string& path, const OnProgress& on_progress) {
  RINGSIDE_TRY(TraceFile file, TraceFile::open(path));
  return make(std::move(file), on_progress);
}

Result<Replay> Replay::make(TraceFile file, const OnProgress& on_progress) {
  RINGSIDE_TRY(EventTable table,
               EventTable::make(std::make_shared<const TraceFile>(std::move(file))));
  Replay replay(std::move(table));
  RINGSIDE_TRY(Builder(replay, on_progress).run());
  return replay;
}

}  // namespace ringside
