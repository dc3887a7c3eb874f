#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/collectives/plan.h"

/// Between the sources of plan_channels(): one function a family of algorithms, one task a call.
namespace ringside {

/// What is the same for all of a call's tasks, checked.  unit  elements
struct PlanInput {
  const Choice& choice;
  const Channels& channels;
  const CallShape& call;
  Rank rank;
  int nranks;
  std::int64_t chunk;
  std::int64_t channel_grain;
  std::int64_t chunk_grain;
  int chunks_in_flight;  ///< that a connection holds

  /// A task with what all algorithms need.
  [[nodiscard]] ChannelTask task(const ChunkMap::Shape& shape) const;
  /// With what all maps need.  shape  `order` outlives the result
  [[nodiscard]] ChunkMap::Shape shape(std::span<const Rank> order, const ChannelPart& part) const;
};

/// This rank's node as NVLS and CollNetDirect see it, with the groups that its ports lead to.
struct NodeGroups {
  using Group = std::shared_ptr<const SwitchGroup>;
  std::vector<Rank> order;  ///< whose the blocks are: head h of node j at j x count + h
  std::vector<Rank> local;  ///< the node's ranks
  std::vector<Rank> heads;  ///< the node's, by slice
  std::vector<Rank> rail;   ///< heads only: the heads of the own slice, by node
  Heads place;              ///< without `inner`
  std::vector<Group> to_head, from_head;  ///< NVLS: the switch, by slice
  std::vector<Group>
      network;  ///< heads only: one for the slice, or by node where blocks are told apart
};

/// Empty `heads` where none are laid, or where they do not fit: plan_nvls() and plan_collnet_direct() say
/// so.
NodeGroups node_groups(const PlanInput& input);

/// 0, 1, .. n - 1
std::vector<Rank> natural_order(int nranks);

/// Unsupported: the algorithm is known, but `what` stands against it here.
Error nothing_laid(const PlanInput& input, const std::string& what);

Result<ChannelTask> plan_ring(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_tree(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_chain(const PlanInput& input, int channel);
Result<ChannelTask> plan_nvls(const PlanInput& input, const NodeGroups& groups, int channel,
                              const ChannelPart& part);
Result<ChannelTask> plan_collnet_direct(const PlanInput& input, const NodeGroups& groups,
                                        int channel, const ChannelPart& part);
Result<ChannelTask> plan_pat(const PlanInput& input, const ChannelPart& part);
Result<ChannelTask> plan_one_shot(const PlanInput& input, const ChannelPart& part);
Result<ChannelTask> plan_two_shot(const PlanInput& input, const ChannelPart& part);
Result<std::vector<ChannelTask>> plan_exchange(const PlanInput& input);

}  // namespace ringside
