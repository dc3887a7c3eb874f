#include "engine/cuda/direct_plan.h"

#include <utility>

namespace ringside {

bool can_store_directly(Protocol protocol, const ReduceOp* reduce) {
  return protocol == Protocol::Simple && (reduce == nullptr || reduce->divisor() == 0);
}

Result<bool> wants_direct_stores(const Environment& environment) {
  RINGSIDE_TRY(const auto disabled, env_int(environment, "NCCL_P2P_DIRECT_DISABLE", 0, 1));
  return disabled.value_or(0) == 0;
}

std::vector<std::vector<DirectStores>> direct_stores_of(
    std::span<const std::vector<ChannelTask>> tasks) {
  std::vector<std::vector<DirectStores>> stores(tasks.size());
  for (std::size_t channel = 0; channel < tasks.front().size(); ++channel) {
    std::vector<ChannelTask> of_channel;
    for (const std::vector<ChannelTask>& rank : tasks) of_channel.push_back(rank[channel]);
    std::vector<DirectStores> found = find_direct_stores(of_channel);
    for (std::size_t rank = 0; rank < stores.size(); ++rank) {
      stores[rank].push_back(std::move(found[rank]));
    }
  }
  return stores;
}

}  // namespace ringside
