#include "engine/cuda/device/call_ranges.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace ringside {
namespace {

/// Returns the number of elements of a call's input and output; not for lists of transfers.
std::pair<std::int64_t, std::int64_t> elements_of(const CollectiveCall& call, Rank me, int nranks) {
  const std::int64_t all = call.count * nranks;
  switch (call.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return {call.count, all};
    case Collective::ReduceScatter:
    case Collective::Scatter:
      return {all, call.count};
    case Collective::AllToAll:
      return {all, all};
    case Collective::AllGatherV: {
      const auto index = static_cast<std::size_t>(to_int(me));
      return {index < call.counts.size() ? call.counts[index] : 0,
              std::accumulate(call.counts.begin(), call.counts.end(), std::int64_t{0})};
    }
    default:
      return {call.count, call.count};
  }
}

/// Compares addresses as numbers, because the buffers of two calls are not parts of one array.
bool overlap(const MemoryRange& a, const MemoryRange& b) {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a.begin);
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b.begin);
  return a_begin < b_begin + b.size && b_begin < a_begin + a.size;
}

bool any_overlap(const std::vector<MemoryRange>& all, const std::vector<MemoryRange>& others) {
  return std::ranges::any_of(all, [&](const MemoryRange& one) {
    return std::ranges::any_of(others,
                               [&](const MemoryRange& other) { return overlap(one, other); });
  });
}

}  // namespace

CallRanges ranges_of(const CollectiveCall& call, Rank me, int nranks) {
  const auto element = static_cast<std::int64_t>(size_of(call.type).value);
  const auto range = [element](const void* base, std::int64_t offset, std::int64_t count) {
    return MemoryRange{static_cast<const std::byte*>(base) + offset * element,
                       static_cast<std::size_t>(count * element)};
  };
  CallRanges ranges;
  if (is_listed(call)) {
    for (const Transfer& one : call.sends)
      ranges.reads.push_back(range(call.input, one.offset, one.count));
    for (const Transfer& one : call.recvs)
      ranges.writes.push_back(range(call.output, one.offset, one.count));
    return ranges;
  }
  const auto [inputs, outputs] = elements_of(call, me, nranks);
  if (call.input != nullptr) ranges.reads.push_back(range(call.input, 0, inputs));
  if (call.output != nullptr) ranges.writes.push_back(range(call.output, 0, outputs));
  return ranges;
}

bool depend(const CallRanges& a, const CallRanges& b) {
  return any_overlap(a.writes, b.reads) || any_overlap(a.writes, b.writes) ||
         any_overlap(a.reads, b.writes);
}

}  // namespace ringside
