#include <fmt/format.h>

#include "engine/collectives/plan_parts.h"

namespace ringside {

Result<ChannelTask> plan_one_shot(const PlanInput& input, const ChannelPart& part) {
  if (input.nranks > kMaxPortsInSet) {
    return nothing_laid(input, fmt::format("it joins {} ranks at most", kMaxPortsInSet));
  }
  const std::vector<Rank> order = natural_order(input.nranks);
  ChunkMap::Shape shape = input.shape(order, part);
  shape.slices = 1;
  ChannelTask task = input.task(shape);
  for (const Rank rank : order) task.recv_peers.push_back({.rank = rank});
  task.send_peers = task.recv_peers;
  task.strands = {2, {0, 1}};
  return task;
}

}  // namespace ringside
