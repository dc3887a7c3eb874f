#include "trace/call_statistics.h"

#include <algorithm>
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
  std::map<std::uint32_t, std::set<std::int32_t>> members;  // ranks by communicator
  const auto never =
      file.processes().empty() ? std::nullopt : never_ended_at(file.processes().front());
  bool has_primitives = false;
  file.for_each_event([&](const TraceEvent& event) {
    has_primitives |= event.kind == EventKind::Primitive;
    if (event.kind != EventKind::Collective) return;
    members[event.communicator].insert(event.rank);
    add_rank(event, never == event.end_ns, calls[key_of(event)]);
  });
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
