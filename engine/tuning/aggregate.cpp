#include "engine/tuning/aggregate.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ringside {
namespace {

/// Returns what calls of one kind have in common. Min and max are one device operation, so they are one kind.
/// Collectives that only move bytes are one kind for all types.
std::tuple<Collective, RedOp, DataType> kind_of(const TuningCall& call) {
  const bool counts_bytes =
      call.collective == Collective::AllGather || call.collective == Collective::Broadcast;
  if (counts_bytes) return {call.collective, RedOp::Sum, DataType::Int8};
  return {call.collective, call.op == RedOp::Min ? RedOp::Max : call.op, call.type};
}

/// Returns the bytes by which NCCL compares calls of a group.
std::uint64_t traffic_of(const TuningCall& call, int nranks) {
  // The bytes of an all-gather or reduce-scatter are those of all ranks together.
  const bool counts_all =
      call.collective == Collective::AllGather || call.collective == Collective::ReduceScatter;
  return call.bytes.value * (counts_all ? 1 : traffic_per_byte(call.collective, nranks));
}

}  // namespace

std::vector<Aggregate> aggregates(std::span<const TuningCall> calls, int nranks) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return traffic_of(calls[a], nranks) > traffic_of(calls[b], nranks);
  });
  std::vector<std::vector<std::size_t>> kinds;  // within each, the call with the most traffic first
  for (const std::size_t i : order) {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) {
      return kind_of(calls[kind.front()]) == kind_of(calls[i]);
    });
    if (found == kinds.end()) {
      kinds.push_back({i});
    } else {
      found->push_back(i);
    }
  }
  std::vector<Aggregate> all;
  for (auto& kind : kinds) {
    // From the least traffic on: an aggregate ends before the call with four times the traffic of its first one.
    std::reverse(kind.begin(), kind.end());
    std::uint64_t least = 0;
    for (const std::size_t i : kind) {
      const std::uint64_t traffic = traffic_of(calls[i], nranks);
      if (i == kind.front() || traffic >= 4 * least) {
        all.push_back({.members = {i}, .whole = calls[i]});
        least = traffic;
        continue;
      }
      all.back().members.push_back(i);
      all.back().whole.bytes = all.back().whole.bytes + calls[i].bytes;
    }
  }
  return all;
}

}  // namespace ringside
