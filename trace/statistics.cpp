#include "trace/statistics.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "trace/match.h"
#include "trace/saturating_sum.h"

namespace ringside {
namespace {

using ChannelKey = std::tuple<std::uint32_t, std::int32_t, std::uint16_t>;
using CollectiveKey = std::tuple<Collective, Algorithm, Protocol>;

struct CollectiveSum {
  CollectiveStatistics sum;
  std::unordered_set<std::uint64_t> distinct;  ///< communicator << 32 | sequence
};

/// Total time that is covered by at least one of several time ranges.
///
/// Ranges come nearly in order, so only the latest ones are kept apart. A range that begins before all
/// kept ones counts from the end of the ranges that are already summed up.
class CoveredTime {
 public:
  void add(std::int64_t begin_ns, std::int64_t end_ns) {
    begin_ns = std::max(begin_ns, summed_until_ns_);
    if (begin_ns >= end_ns) return;
    auto first = std::ranges::lower_bound(ranges_, begin_ns, {}, &Range::end_ns);
    auto last = first;
    for (; last != ranges_.end() && last->begin_ns <= end_ns; ++last) {
      begin_ns = std::min(begin_ns, last->begin_ns);
      end_ns = std::max(end_ns, last->end_ns);
    }
    if (first != last) {
      *first = {begin_ns, end_ns};
      ranges_.erase(first + 1, last);
      return;
    }
    ranges_.insert(first, {begin_ns, end_ns});
    if (ranges_.size() <= kMostRanges) return;
    summed_ = saturating_sum(summed_, length_of(ranges_.front()));
    summed_until_ns_ = ranges_.front().end_ns;
    ranges_.erase(ranges_.begin());
  }

  [[nodiscard]] Nanoseconds sum() const {
    Nanoseconds sum = summed_;
    for (const Range& range : ranges_) sum = saturating_sum(sum, length_of(range));
    return sum;
  }

 private:
  struct Range {
    std::int64_t begin_ns, end_ns;
  };
  static Nanoseconds length_of(const Range& range) {
    return Nanoseconds{range.end_ns - range.begin_ns};
  }
  static constexpr std::size_t kMostRanges = 32;

  std::vector<Range> ranges_;  ///< disjoint and not adjacent, by time
  Nanoseconds summed_{0};      ///< of ranges that are no longer kept
  std::int64_t summed_until_ns_ = INT64_MIN;
};

/// The sums of one channel.
struct ChannelSum {
  ChannelStatistics all;
  CoveredTime covered;
};

}  // namespace

BytesPerSecond ChannelStatistics::achieved() const {
  return busy.count() > 0 ? sent / Seconds{busy} : BytesPerSecond{0};
}

Bytes CollectiveStatistics::mean_bytes() const { return calls > 0 ? bytes / calls : Bytes{0}; }

Nanoseconds CollectiveStatistics::mean_time() const {
  return calls > 0 ? total / static_cast<std::int64_t>(calls) : Nanoseconds{0};
}

struct StatisticsBuilder::Sums {
  TraceStatistics all;
  std::map<ChannelKey, ChannelSum> channels;
  std::map<CollectiveKey, CollectiveSum> collectives;
  std::set<std::pair<std::uint32_t, std::int32_t>> callers;  ///< ranks with calls
  bool is_first = true;
  std::pair<const ChannelKey, ChannelSum>* last = nullptr;  ///< of `channels`

  /// Returns the statistics of a channel. Most events are of the channel of the event before.
  ChannelSum& channel(const ChannelKey& key) {
    if (last == nullptr || last->first != key) last = &*channels.try_emplace(key).first;
    return last->second;
  }
};

StatisticsBuilder::StatisticsBuilder() : sums_(std::make_unique<Sums>()) {}
StatisticsBuilder::~StatisticsBuilder() = default;

void StatisticsBuilder::add(const TraceTransfer& transfer) {
  ++sums_->all.transfers;
  const TraceConnection& connection = transfer.connection;
  const std::int64_t late_until = std::min(transfer.send_begin_ns, transfer.recv_end_ns);
  const Nanoseconds waiting{std::max<std::int64_t>(0, late_until - transfer.recv_begin_ns)};
  ChannelStatistics& channel =
      sums_->channels[{connection.communicator, connection.receiver, connection.channel}].all;
  channel.waiting = saturating_sum(channel.waiting, waiting);
}

void StatisticsBuilder::add(const TraceEvent& event) {
  TraceStatistics& all = sums_->all;
  const bool is_first = std::exchange(sums_->is_first, false);
  all.begin_ns = is_first ? event.begin_ns : std::min(all.begin_ns, event.begin_ns);
  all.end_ns = is_first ? event.end_ns : std::max(all.end_ns, event.end_ns);
  const Nanoseconds duration{event.end_ns - event.begin_ns};
  if (event.kind == EventKind::Collective) {
    ++all.collective_calls;
    sums_->callers.insert({event.communicator, event.rank});
    auto& [sum, distinct] = sums_->collectives[{event.collective, event.algorithm, event.protocol}];
    ++sum.calls;
    sum.bytes = sum.bytes + Bytes{event.bytes};
    sum.total = saturating_sum(sum.total, duration);
    sum.longest = std::max(sum.longest, duration);
    sum.is_modelled = sum.is_modelled || event.is_modelled;
    distinct.insert((std::uint64_t{event.communicator} << 32) | event.sequence);
    return;
  }
  if (event.kind == EventKind::Compute) return;
  auto& [channel, covered] = sums_->channel({event.communicator, event.rank, event.channel});
  if (event.kind == EventKind::Primitive) {
    ++all.primitives;
    ++channel.primitives;
    channel.in_primitives = saturating_sum(channel.in_primitives, duration);
    covered.add(event.begin_ns, event.end_ns);
  }
  const bool sends = parts_of(event.primitive).sends && event.send_peer >= 0;
  if (sends) channel.sent = channel.sent + Bytes{event.bytes};
}

TraceStatistics StatisticsBuilder::finish(std::uint64_t unmatched) && {
  TraceStatistics all = std::move(sums_->all);
  all.unmatched_halves = unmatched;
  auto ranks = std::move(sums_->callers);
  for (auto& [key, sum] : sums_->channels) {
    ChannelStatistics& channel = sum.all;
    channel.busy = sum.covered.sum();
    ranks.insert({std::get<0>(key), std::get<1>(key)});
    channel.waiting = std::min(channel.waiting, channel.busy);
    channel.communicator = std::get<0>(key);
    channel.rank = Rank{std::get<1>(key)};
    channel.channel = ChannelId{std::get<2>(key)};
    all.channels.push_back(channel);
  }
  for (const auto& [communicator, rank] : ranks) {
    if (all.communicators.empty() || all.communicators.back().communicator != communicator) {
      all.communicators.push_back({communicator, 0});
    }
    all.ranks = std::max(all.ranks, ++all.communicators.back().ranks);
  }
  for (auto& [key, collective] : sums_->collectives) {
    std::tie(collective.sum.collective, collective.sum.algorithm, collective.sum.protocol) = key;
    collective.sum.count = collective.distinct.size();
    all.collectives.push_back(collective.sum);
  }
  return all;
}

TraceStatistics statistics_of(const TraceFile& file) {
  StatisticsBuilder statistics;
  TransferMatcher matcher([&](const TraceTransfer& transfer) { statistics.add(transfer); });
  file.for_each_event([&](const TraceEvent& event) {
    statistics.add(event);
    matcher.add(event);
  });
  return std::move(statistics).finish(matcher.unmatched());
}

}  // namespace ringside
