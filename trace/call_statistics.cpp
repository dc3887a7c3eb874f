#include "trace/call_statistics.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace ringside {
namespace {

constexpr int kMostRanks = 1 << 20;  ///< a larger size in a file is damaged

bool is_transfer(Collective collective) {
  return collective == Collective::Send || collective == Collective::Recv ||
         collective == Collective::SendRecv;
}

/// Returns the sizes that the file states, by communicator: `8; 8; 2` in kGroupSizes. An unreadable one is 0.
std::vector<int> group_sizes(const TraceFile& file) {
  std::vector<int> sizes;
  for (const TraceInfo& info : file.processes()) {
    for (const auto& [key, value] : info.values) {
      if (key != kGroupSizes || !sizes.empty()) continue;
      for (std::size_t at = 0; at < value.size();) {
        const std::size_t end = std::min(value.find(';', at), value.size());
        const auto size = parse_int(std::string_view(value).substr(at, end - at));
        sizes.push_back(size ? static_cast<int>(std::clamp<std::int64_t>(*size, 0, kMostRanks))
                             : 0);
        at = value.find_first_not_of("; ", end);
      }
    }
  }
  return sizes;
}

/// Communicator, sequence, and for a transfer the rank: transfers of a sequence are different calls.
using CallKey = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;

CallKey key_of(const TraceEvent& event) {
  return {event.communicator, event.sequence, is_transfer(event.collective) ? event.rank : -1};
}

/// A call, as far as the events read so far show it.
struct CallInMaking {
  CallSummary call;
  bool is_choice_known = false;  ///< an event states it; else it is that of the first event
};

/// Adds one rank's event of the call.
void add_rank(const TraceEvent& event, bool is_endless, CallInMaking& made) {
  CallSummary& call = made.call;
  const bool is_first = call.recorded == 0;
  if (is_first) {
    call.communicator = event.communicator;
    call.sequence = event.sequence;
    call.collective = event.collective;
    call.begin_ns = call.all_in_ns = event.begin_ns;
    call.end_ns = event.end_ns;
    call.last_rank = event.rank;
  }
  if (is_first || event.step == kChoiceIsKnown) {
    call.algorithm = event.algorithm;
    call.protocol = event.protocol;
  }
  made.is_choice_known |= event.step == kChoiceIsKnown;
  call.begin_ns = std::min(call.begin_ns, event.begin_ns);
  if (event.begin_ns > call.all_in_ns) {
    call.all_in_ns = event.begin_ns;
    call.last_rank = event.rank;
  }
  call.end_ns = std::max(call.end_ns, event.end_ns);
  call.bytes = std::max(call.bytes, Bytes{event.bytes});
  call.is_endless |= is_endless;
  ++call.recorded;
}

/// The newest calls of each rank, to find out whether the last one ended.
///
/// A rank works on one call of a communicator at a time and records an event at its end, also where a time-out or
/// another rank's failure ended it. Such a call has fewer primitives than the rank's previous call of the same type.
class NewestCalls {
 public:
  void take(const TraceEvent& event) {
    std::map<std::uint32_t, Progress>& calls = ranks_[{event.communicator, event.rank}];
    Progress& call = calls.try_emplace(event.sequence, Progress{event}).first->second;
    if (event.kind == EventKind::Primitive) {
      ++call.primitives;
      if (!call.has_end) call.shown.begin_ns = std::min(call.shown.begin_ns, event.begin_ns);
    } else {
      call.shown = event;
      call.has_end = true;
    }
    if (calls.size() > kKept) calls.erase(calls.begin());
  }

  /// Marks the last calls that did not end, and adds those of which no rank recorded the end.
  void mark(std::map<CallKey, CallInMaking>& all) const {
    for (const auto& [rank, calls] : ranks_) {
      const Progress& last = calls.rbegin()->second;
      if (has_ended(calls)) continue;
      const auto [found, is_new] = all.try_emplace(key_of(last.shown));
      CallSummary& call = found->second.call;
      if (is_new) {
        call.communicator = last.shown.communicator;
        call.sequence = last.shown.sequence;
        call.collective = last.shown.collective;
        call.algorithm = last.shown.algorithm;
        call.protocol = last.shown.protocol;
        call.begin_ns = call.all_in_ns = last.shown.begin_ns;
        call.end_ns = last.shown.end_ns;
        call.last_rank = last.shown.rank;
      }
      call.is_endless = true;
      if (last.has_end) continue;  // counted by its event
      ++call.recorded;
      call.begin_ns = std::min(call.begin_ns, last.shown.begin_ns);
      if (last.shown.begin_ns > call.all_in_ns) {
        call.all_in_ns = last.shown.begin_ns;
        call.last_rank = last.shown.rank;
      }
    }
  }

 private:
  /// Calls kept of a rank: more than the blocks of its lanes can be apart.
  static constexpr std::size_t kKept = 64;
  struct Progress {
    TraceEvent shown;  ///< the event of the whole call, or of its first primitive
    std::uint64_t primitives = 0;
    bool has_end = false;

    [[nodiscard]] bool is_like(const Progress& other) const {
      return has_end && other.has_end && shown.collective == other.shown.collective &&
             shown.algorithm == other.shown.algorithm && shown.protocol == other.shown.protocol &&
             shown.bytes == other.shown.bytes;
    }
  };

  static bool has_ended(const std::map<std::uint32_t, Progress>& calls) {
    const Progress& last = calls.rbegin()->second;
    if (!last.has_end) return false;
    for (auto before = std::next(calls.rbegin()); before != calls.rend(); ++before) {
      if (before->second.is_like(last)) return last.primitives >= before->second.primitives;
    }
    return true;
  }

  std::map<std::pair<std::uint32_t, std::int32_t>, std::map<std::uint32_t, Progress>> ranks_;
};

/// Returns the upper one of two middle values.
template <typename T>
std::optional<T> median(std::vector<T> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::optional<Nanoseconds> CallSummary::skew() const {
  if (recorded < 2) return std::nullopt;
  return Nanoseconds{all_in_ns - begin_ns};
}

std::optional<BytesPerSecond> CallSummary::algbw() const {
  if (is_endless || bytes.value == 0 || end_ns <= all_in_ns) return std::nullopt;
  return bytes / Seconds{Nanoseconds{end_ns - all_in_ns}};
}

std::optional<BytesPerSecond> CallSummary::busbw() const {
  const auto bandwidth = algbw();
  if (!bandwidth || nranks < 2) return std::nullopt;
  return BytesPerSecond{bandwidth->value * busbw_factor(collective, nranks)};
}

std::vector<CallSummary> calls_of(const TraceFile& file) {
  std::map<CallKey, CallInMaking> calls;
  NewestCalls newest;
  std::map<std::uint32_t, std::set<std::int32_t>> members;  // ranks by communicator
  const auto never =
      file.processes().empty() ? std::nullopt : never_ended_at(file.processes().front());
  bool has_primitives = false;
  file.for_each_event([&](const TraceEvent& event) {
    has_primitives |= event.kind == EventKind::Primitive;
    if (event.kind != EventKind::Collective && event.kind != EventKind::Primitive) return;
    newest.take(event);
    members[event.communicator].insert(event.rank);
    if (event.kind != EventKind::Collective) return;
    add_rank(event, never == event.end_ns, calls[key_of(event)]);
  });
  if (!file.last_gap()) newest.mark(calls);
  const std::vector<int> stated = group_sizes(file);
  std::vector<CallSummary> all;
  all.reserve(calls.size());
  for (auto& [key, made] : calls) {
    CallSummary& call = made.call;
    if (!has_primitives && !made.is_choice_known) {
      call.algorithm = std::nullopt;
      call.protocol = std::nullopt;
    }
    const int size = call.communicator < stated.size() ? stated[call.communicator] : 0;
    call.nranks = std::max(size, static_cast<int>(members[call.communicator].size()));
    all.push_back(call);
  }
  std::ranges::stable_sort(all, {}, &CallSummary::begin_ns);
  return all;
}

std::vector<SizeSummary> sizes_of(const std::vector<CallSummary>& calls) {
  using Key =
      std::tuple<Collective, std::uint64_t, int, std::optional<Algorithm>, std::optional<Protocol>>;
  struct Values {
    std::uint64_t count = 0;
    std::vector<BytesPerSecond> algbw, busbw, expected;
    std::vector<Nanoseconds> skew;
    std::map<std::int32_t, std::uint64_t> last;
  };
  std::map<Key, Values> sums;
  for (const CallSummary& call : calls) {
    Values& values =
        sums[{call.collective, call.bytes.value, call.nranks, call.algorithm, call.protocol}];
    ++values.count;
    if (const auto bandwidth = call.algbw()) values.algbw.push_back(*bandwidth);
    if (const auto bandwidth = call.busbw()) values.busbw.push_back(*bandwidth);
    if (call.expected_busbw) values.expected.push_back(*call.expected_busbw);
    if (const auto skew = call.skew()) {
      values.skew.push_back(*skew);
      ++values.last[call.last_rank];
    }
  }
  std::vector<SizeSummary> all;
  for (auto& [key, values] : sums) {
    SizeSummary one;
    std::uint64_t bytes = 0;
    std::tie(one.collective, bytes, one.nranks, one.algorithm, one.protocol) = key;
    one.bytes = {bytes};
    one.count = values.count;
    if (!values.skew.empty()) {
      one.longest_skew = std::ranges::max(values.skew);
      const auto most =
          std::ranges::max_element(values.last, {}, [](const auto& rank) { return rank.second; });
      one.last_rank = most->first;
      one.last_rank_count = most->second;
    }
    one.algbw = median(std::move(values.algbw));
    one.busbw = median(std::move(values.busbw));
    one.expected_busbw = median(std::move(values.expected));
    one.skew = median(std::move(values.skew));
    all.push_back(one);
  }
  return all;
}

}  // namespace ringside
