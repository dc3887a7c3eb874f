#include <fmt/format.h>

#include <algorithm>

#include "engine/collectives/plan_parts.h"

/// Plans the two algorithms that connect every pair of ranks.
namespace ringside {
namespace {

/// The smallest share of a rank. One rank handles shorter data alone: with fewer cores than ranks, waiting
/// for one rank less saves more than its help (4 ranks on 2 cores, 64 B: 3.5 us with one owner, 7.8 us with
/// four).
/// unit  bytes
constexpr std::int64_t kLeastShare = 1024;

Status check_ranks(const PlanInput& input) {
  if (input.nranks <= kMaxPortsInSet) return {};
  return missing_structure(input, fmt::format("it joins {} ranks at most", kMaxPortsInSet));
}

}  // namespace

Result<ChannelTask> plan_one_shot(const PlanInput& input, int /*channel*/,
                                  const ChannelPart& part) {
  RINGSIDE_TRY(check_ranks(input));
  ChunkMap::Shape shape = input.shape(input.tables.natural, part);
  shape.slices = 1;
  ChannelTask task = input.task(shape);
  for (const Rank rank : *input.tables.natural) task.recv_peers.push_back({.rank = rank});
  task.send_peers = task.recv_peers;
  task.strands = {2, {0, 1}};
  return task;
}

Result<ChannelTask> plan_two_shot(const PlanInput& input, int /*channel*/,
                                  const ChannelPart& part) {
  RINGSIDE_TRY(check_ranks(input));
  ChunkMap::Shape shape = input.shape(input.tables.natural, part);
  shape.grain = std::max(shape.grain,
                         kLeastShare / static_cast<std::int64_t>(size_of(input.call.type).value));
  ChannelTask task = input.task(shape);
  for (int index = 0; index < 2; ++index) {
    for (const Rank rank : *input.tables.natural) {
      const bool is_other = rank != input.rank;
      task.recv_peers.push_back(is_other ? Peer{.rank = rank, .index = index} : Peer{});
    }
  }
  task.send_peers = task.recv_peers;
  task.strands = {3, {0, 0, 1}};
  return task;
}

}  // namespace ringside
