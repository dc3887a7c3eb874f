#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/collectives/plan.h"

/// Private to the sources of plan_channels(): one function for each family of algorithms, which makes one task.
namespace ringside {

struct NodeGroups;

/// The checked values that all tasks of a call share.  unit  elements
struct PlanCommon {
  const Choice& choice;
  const Channels& channels;
  const CallShape& call;
  int nranks;
  std::int64_t chunk;
  std::int64_t channel_grain;
  std::int64_t chunk_grain;
  int chunks_in_flight;  ///< chunks that a connection holds
};

/// The shared values and the tables of a call.
struct PlanTables : PlanCommon {
  /// [channel]: its share, for collectives that split a buffer over channels
  std::vector<ChannelPart> parts = {};
  RankOrder natural = {};             ///< 0, 1, .. n - 1
  std::vector<RankOrder> rings = {};  ///< [channel]: its ring, for algorithms that use rings
  std::vector<std::vector<std::int32_t>> places = {};  ///< [channel][rank]: position on that ring
  std::vector<std::int32_t> node_of = {};              ///< [rank]: its node, if nodes have heads
  RankOrder heads = {};  ///< [j x count + h]: head h of node j, the owner of that block
  /// The ranks of chains that are connected to the network
  std::shared_ptr<const SwitchGroup> chain_ends = {};
};

/// The inputs for planning one rank's tasks.
struct PlanInput : PlanCommon {
  const PlanTables& tables;
  Rank rank;
  const NodeGroups* groups = nullptr;

  /// Returns a task with the fields that all algorithms need.
  [[nodiscard]] ChannelTask task(const ChunkMap::Shape& shape) const;
  /// Returns a shape with the fields that all maps need.
  [[nodiscard]] ChunkMap::Shape shape(const RankOrder& order, const ChannelPart& part) const;
};

/// This rank's node for NVLS and CollNetDirect, with the groups of its ports.
struct NodeGroups {
  using Group = std::shared_ptr<const SwitchGroup>;
  std::vector<Rank> local;                ///< the node's ranks
  std::vector<Rank> heads;                ///< [slice]: the node's head
  std::vector<Rank> rail;                 ///< heads only: [node]: head of the own slice
  Heads place;                            ///< without `inner`
  std::vector<Group> to_head, from_head;  ///< NVLS: [slice]: the group of the switch
  /// Heads only: the slice's group, or one per node for block collectives
  std::vector<Group> network;
};

/// Returns the node's groups. `heads` is empty if the algorithm has no heads, or if the channels lack valid heads,
/// which plan_nvls() and plan_collnet_direct() report.
NodeGroups node_groups(const PlanInput& input);

/// Returns an Unsupported error: `what` prevents the algorithm.
Error missing_structure(const PlanInput& input, const std::string& what);

/// Plans one channel's task.  part: the channel's share, for collectives that split a buffer over channels
/// errors  InvalidArgument, Unsupported: as plan_channels()
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

/// Returns the function that plans an algorithm's tasks for two or more ranks.
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

/// Plans a point-to-point collective in rounds, for channels [first, last).
/// errors  InvalidArgument: the call's transfers are inconsistent, as plan_channels()
Result<std::vector<ChannelTask>> plan_exchange(const PlanInput& input, int first, int last);

/// Returns the ranks of each node; one node with all ranks if Channels::nodes is empty.
std::vector<std::vector<Rank>> nodes_of(const PlanTables& tables);

/// Sets `heads` and `node_of`. Leaves them empty if the channels lack valid heads.
void add_heads(PlanTables& tables);

/// Sets `chain_ends`.
void add_chain_ends(PlanTables& tables);

}  // namespace ringside
