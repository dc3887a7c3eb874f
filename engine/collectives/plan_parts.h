#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/collectives/plan.h"

/// Between the sources of plan_channels(): one function a family of algorithms, one task a call.
namespace ringside {

struct NodeGroups;

/// What is the same for all of a call's tasks, checked.  unit  elements
struct PlanCommon {
  const Choice& choice;
  const Channels& channels;
  const CallShape& call;
  int nranks;
  std::int64_t chunk;
  std::int64_t channel_grain;
  std::int64_t chunk_grain;
  int chunks_in_flight;  ///< that a connection holds
};

/// What is looked up for them.
struct PlanTables : PlanCommon {
  std::vector<ChannelPart> parts = {};                 ///< by channel, of what is cut by channel
  RankOrder natural = {};                              ///< 0, 1, .. n - 1
  std::vector<RankOrder> rings = {};                   ///< by channel, where they are walked
  std::vector<std::vector<std::int32_t>> places = {};  ///< by channel and rank, on those rings
  std::vector<std::int32_t> node_of = {};              ///< by rank, where nodes have heads
  RankOrder heads = {};  ///< whose the blocks are: head h of node j at j x count + h
  std::shared_ptr<const SwitchGroup> chain_ends = {};  ///< the ranks at the network, of chains
};

/// What there is to plan one rank's tasks by.
struct PlanInput : PlanCommon {
  const PlanTables& tables;
  Rank rank;
  const NodeGroups* groups = nullptr;

  /// A task with what all algorithms need.
  [[nodiscard]] ChannelTask task(const ChunkMap::Shape& shape) const;
  /// With what all maps need.
  [[nodiscard]] ChunkMap::Shape shape(const RankOrder& order, const ChannelPart& part) const;
};

/// This rank's node as NVLS and CollNetDirect see it, with the groups that its ports lead to.
struct NodeGroups {
  using Group = std::shared_ptr<const SwitchGroup>;
  std::vector<Rank> local;                ///< the node's ranks
  std::vector<Rank> heads;                ///< the node's, by slice
  std::vector<Rank> rail;                 ///< heads only: the heads of the own slice, by node
  Heads place;                            ///< without `inner`
  std::vector<Group> to_head, from_head;  ///< NVLS: the switch, by slice
  std::vector<Group>
      network;  ///< heads only: one for the slice, or by node where blocks are distinguished
};

/// Empty `heads` where the algorithm takes none, or none are laid, or they do not fit: plan_nvls() and
/// plan_collnet_direct() say so.
NodeGroups node_groups(const PlanInput& input);

/// Unsupported: the algorithm is known, but `what` prevents it here.
Error nothing_laid(const PlanInput& input, const std::string& what);

/// One channel's task. part  the channel's, of what is cut by channel
using Planner = Result<ChannelTask> (*)(const PlanInput& input, int channel,
                                        const ChannelPart& part);

Result<ChannelTask> plan_ring(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_tree(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_chain(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_nvls(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_collnet_direct(const PlanInput& input, int channel,
                                        const ChannelPart& part);
Result<ChannelTask> plan_pat(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_one_shot(const PlanInput& input, int channel, const ChannelPart& part);
Result<ChannelTask> plan_two_shot(const PlanInput& input, int channel, const ChannelPart& part);

/// Of an algorithm among two or more ranks.
constexpr Planner planner_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::Tree:
      return plan_tree;
    case Algorithm::Ring:
      return plan_ring;
    case Algorithm::CollNetDirect:
      return plan_collnet_direct;
    case Algorithm::CollNetChain:
      return plan_chain;
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
      return plan_nvls;
    case Algorithm::Pat:
      return plan_pat;
    case Algorithm::OneShot:
      return plan_one_shot;
    case Algorithm::TwoShot:
      return plan_two_shot;
  }
  return nullptr;
}

/// By rounds, for channels [first, last).
Result<std::vector<ChannelTask>> plan_exchange(const PlanInput& input, int first, int last);

/// The nodes; all ranks are on one where nodes are not distinguished.
std::vector<std::vector<Rank>> nodes_of(const PlanTables& tables);

/// Whose blocks heads have, and which node each rank is on. Empty where no heads are laid, or they do not fit.
void lay_heads(PlanTables& tables);

/// The ends of the chains that are at the network.
void lay_chains(PlanTables& tables);

}  // namespace ringside
