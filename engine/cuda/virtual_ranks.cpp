#include "engine/cuda/virtual_ranks.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/collectives/plan.h"
#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/direct_plan.h"
#include "engine/cuda/launch_works.h"
#include "engine/runtime/host/host_choice.h"

namespace ringside {

DeviceLaunch VirtualRanks::Plan::launch(std::span<const DeviceBuffers> buffers) const {
  RINGSIDE_ASSERT(buffers.size() == ranks.size(), "{} buffers of {} ranks", buffers.size(),
                  ranks.size());
  return launch_of(grid, buffers);
}

DeviceTraffic VirtualRanks::Plan::traffic(Bytes element) const {
  DeviceTraffic all;
  for (const DeviceRank& rank : ranks) {
    const DeviceTraffic one = traffic_of(rank.tasks, rank.direct, choice, element);
    all.loaded.value += one.loaded.value;
    all.stored.value += one.stored.value;
  }
  return all;
}

Result<std::unique_ptr<VirtualRanks::Plan>> VirtualRanks::plan(
    std::span<const CollectiveCall> calls, const Choice& choice, const Options& options) {
  RINGSIDE_ASSERT(calls.size() == static_cast<std::size_t>(nranks_), "{} calls of {} ranks",
                  calls.size(), nranks_);
  auto plan = std::make_unique<Plan>();
  plan->choice = choice;
  // As on hosts, algorithms that connect nodes treat the ranks as several nodes.
  const int ranks_per_node =
      facts_of(choice.algorithm).needs_nodes ? played_ranks_per_node(nranks_) : 0;
  const Channels channels = host_channels(nranks_, choice.nchannels, ranks_per_node);
  int strands = 1;
  for (int rank = 0; rank < nranks_; ++rank) {
    const CollectiveCall& call = calls[static_cast<std::size_t>(rank)];
    RINGSIDE_TRY(auto tasks, plan_channels(choice, channels, shape_of(call), Rank{rank}));
    for (const ChannelTask& task : tasks) strands = std::max(strands, task.strands.count);
    plan->tasks.push_back(std::move(tasks));
    plan->ops.emplace_back();
    if (is_reduction(call.collective)) {
      RINGSIDE_TRY(plan->ops.back(), make_reduce_op(call.type, call.op, nranks_, call.scalar));
    }
  }
  const std::optional<ReduceOp>& first_op = plan->ops.front();
  if (options.stores_directly &&
      can_store_directly(choice.protocol, first_op ? &*first_op : nullptr)) {
    plan->direct = direct_stores_of(plan->tasks);
  }
  for (int rank = 0; rank < nranks_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const std::optional<ReduceOp>& op = plan->ops[index];
    plan->ranks.push_back({Rank{rank}, plan->tasks[index], op ? &*op : nullptr, {}});
    if (!plan->direct.empty()) plan->ranks.back().direct = plan->direct[index];
  }
  const int usual_warps = warps_on_gpu(choice, calls.front(), nranks_, strands);
  const DeviceCallShape shape{
      .choice = choice,
      .type = calls.front().type,
      .timeout = options.timeout,
      .warps_per_strand = options.warps_per_strand != 0 ? options.warps_per_strand : usual_warps,
      .events = options.events};
  RINGSIDE_TRY(plan->grid, lay_out(plan->ranks, shape, control_, *connections_, memory_));
  if (!plan->direct.empty()) plan->grid.window = DeviceLaunch::kSameSpace;
  return plan;
}

}  // namespace ringside
