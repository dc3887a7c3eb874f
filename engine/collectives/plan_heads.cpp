#include <algorithm>

#include "engine/collectives/plan_parts.h"

namespace ringside {
namespace {

using Medium = SwitchGroup::Medium;

constexpr std::int64_t kNvlsGrainBytes = 16384;

bool has_blocks(const PlanInput& input) { return input.choice.collective != Collective::AllReduce; }

NodeGroups::Group make_group(Medium medium, int id, std::vector<Rank> senders,
                             std::vector<Rank> receivers) {
  return std::make_shared<const SwitchGroup>(
      SwitchGroup{medium, id, std::move(senders), std::move(receivers)});
}

std::vector<Rank> all_but(std::vector<Rank> ranks, Rank one) {
  std::erase(ranks, one);
  return ranks;
}

/// The heads' ranks: [head][node].
const std::vector<std::vector<Rank>>& rails_of(const PlanTables& tables) {
  const bool is_direct = facts_of(tables.choice.algorithm).graph == GraphId::CollNetDirect;
  return is_direct ? tables.channels.collnet.rails : tables.channels.nvls.heads;
}

/// Returns the groups for this rank's slice on the network: one group that reduces for all nodes, or one for
/// each node's block.
std::vector<NodeGroups::Group> network_groups(const PlanInput& input, const NodeGroups& groups,
                                              int first_id) {
  const Heads& place = groups.place;
  const std::vector<Rank>& rail = groups.rail;
  if (!has_blocks(input)) {
    return {make_group(Medium::Network, first_id + place.own, rail, rail)};
  }
  std::vector<NodeGroups::Group> network;
  for (int node = 0; node < place.nodes; ++node) {
    const Rank owner = rail[static_cast<std::size_t>(node)];
    const int id = first_id + place.block(node, place.own);
    network.push_back(input.choice.collective == Collective::AllGather
                          ? make_group(Medium::Network, id, {owner}, all_but(rail, owner))
                          : make_group(Medium::Network, id, rail, {owner}));
  }
  return network;
}

/// Appends the network's ports to `peers`, after the ports within the node.
void append_network(const PlanInput& input, const NodeGroups& groups, std::vector<Peer>& recv,
                    std::vector<Peer>& send) {
  const Heads& place = groups.place;
  if (place.nodes == 1) return;
  const auto own = static_cast<std::size_t>(place.node);
  if (!has_blocks(input)) {
    recv.push_back({.group = groups.network[0]});
    send.push_back({.group = groups.network[0]});
    return;
  }
  const bool gathers = input.choice.collective == Collective::AllGather;
  for (std::size_t node = 0; node < groups.network.size(); ++node) {
    const bool receives = gathers ? node != own : node == own;
    recv.push_back(receives ? Peer{.group = groups.network[node]} : Peer{});
    if (!gathers) send.push_back({.group = groups.network[node]});
  }
  if (gathers) send.push_back({.group = groups.network[own]});
}

ChunkMap::Shape shape_of(const PlanInput& input, const NodeGroups& groups,
                         const ChannelPart& part) {
  ChunkMap::Shape shape = input.shape(input.tables.heads, part);
  if (has_blocks(input)) {
    shape.turns = groups.place.nodes;
  } else {
    shape.slices = groups.place.count;
  }
  return shape;
}

Status check_heads(const PlanInput& input, const NodeGroups& groups) {
  if (groups.heads.empty()) return missing_structure(input, "the channels have no heads");
  if (facts_of(input.choice.algorithm).needs_nodes && groups.place.nodes < 2) {
    return missing_structure(input, "it joins several nodes, and there is one");
  }
  if (has_blocks(input) && input.tables.heads->size() != static_cast<std::size_t>(input.nranks)) {
    return missing_structure(input, "not every rank heads its own block");
  }
  return {};
}

}  // namespace

void add_heads(PlanTables& tables) {
  const GraphId graph = facts_of(tables.choice.algorithm).graph;
  if (graph != GraphId::CollNetDirect && graph != GraphId::Nvls) return;
  const std::vector<std::vector<Rank>>& by_slice = rails_of(tables);
  const std::vector<std::vector<Rank>> nodes = nodes_of(tables);
  if (by_slice.empty() || by_slice.front().size() != nodes.size()) return;
  std::vector<Rank> heads;
  tables.node_of.assign(static_cast<std::size_t>(tables.nranks), -1);
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    for (const std::vector<Rank>& rail : by_slice) heads.push_back(rail[j]);
    for (const Rank rank : nodes[j]) {
      tables.node_of[static_cast<std::size_t>(to_int(rank))] = static_cast<std::int32_t>(j);
    }
  }
  tables.heads = std::make_shared<const std::vector<Rank>>(std::move(heads));
}

NodeGroups node_groups(const PlanInput& input) {
  const PlanTables& tables = input.tables;
  if (tables.heads == nullptr) return {};
  const bool is_direct = facts_of(input.choice.algorithm).graph == GraphId::CollNetDirect;
  const std::vector<std::vector<Rank>>& by_slice = rails_of(tables);

  NodeGroups groups;
  Heads& place = groups.place;
  place.count = static_cast<int>(by_slice.size());
  place.nodes = static_cast<int>(by_slice.front().size());
  place.node = tables.node_of[static_cast<std::size_t>(to_int(input.rank))];
  RINGSIDE_ASSERT(place.node >= 0, "rank {} is on no node", to_int(input.rank));
  const auto node = static_cast<std::size_t>(place.node);
  groups.local = input.channels.nodes.empty() ? *tables.natural : input.channels.nodes[node];
  const auto local = std::ranges::find(groups.local, input.rank) - groups.local.begin();
  place.first = static_cast<int>(local) % place.count;
  for (int slice = 0; slice < place.count; ++slice) {
    const std::vector<Rank>& rail = by_slice[static_cast<std::size_t>(slice)];
    groups.heads.push_back(rail[node]);
    if (rail[node] == input.rank) {
      place.own = slice;
      groups.rail = rail;
    }
    if (is_direct) continue;
    const int id = 2 * place.block(place.node, slice);
    groups.to_head.push_back(make_group(Medium::NvSwitch, id, groups.local, {rail[node]}));
    groups.from_head.push_back(make_group(Medium::NvSwitch, id + 1, {rail[node]}, groups.local));
  }
  const int first_network_id = 2 * place.nodes * place.count;
  if (place.is_head() && place.nodes > 1) {
    groups.network = network_groups(input, groups, first_network_id);
  }
  return groups;
}

Result<ChannelTask> plan_nvls(const PlanInput& input, int channel, const ChannelPart& part) {
  const NodeGroups& groups = *input.groups;
  RINGSIDE_TRY(check_heads(input, groups));
  const bool is_tree = input.choice.algorithm == Algorithm::NvlsTree;
  ChunkMap::Shape shape = shape_of(input, groups, part);
  if (!has_blocks(input) && !is_tree) {
    shape.grain = kNvlsGrainBytes / static_cast<std::int64_t>(size_of(input.call.type).value);
  }
  ChannelTask task = input.task(shape);
  task.heads = groups.place;
  task.heads.inner = 1;
  for (const auto& group : groups.from_head) task.recv_peers.push_back({.group = group});
  for (const auto& group : groups.to_head) task.send_peers.push_back({.group = group});
  const int nodes = task.heads.nodes;
  if (task.heads.is_head()) {
    const auto own = static_cast<std::size_t>(task.heads.own);
    task.recv_peers.push_back({.group = groups.to_head[own]});
    task.send_peers.push_back({.group = groups.from_head[own]});
    if (!is_tree) append_network(input, groups, task.recv_peers, task.send_peers);
  }
  if (has_blocks(input)) {
    task.strands = nodes > 1 ? Strands{3, {0, 1, 2}} : Strands{3, {0, 0, 1}};
  } else {
    task.strands = nodes > 1 ? Strands{4, {0, 1, 2, 3}} : Strands{4, {0, 1, 1, 2}};
  }
  if (!is_tree) return task;

  const auto& trees = input.channels.nvls.trees;
  if (trees.size() < 2)
    return missing_structure(input, "the channels have no trees over the nodes");
  const std::vector<Channels::TreePlace>& tree = trees[static_cast<std::size_t>(channel % 2)];
  const auto place_of = [&](Rank rank) -> const Channels::TreePlace& {
    return tree[static_cast<std::size_t>(to_int(rank))];
  };
  int hops = 0;  // common to the whole node: its heads have the same depth in their trees
  for (Rank at = place_of(groups.heads[0]).parent; at != kNoRank; at = place_of(at).parent) ++hops;
  task.strands = {4, {0, 1, 1 + 2 * hops, 2 + 2 * hops}};
  if (!task.heads.is_head()) return task;
  const Channels::TreePlace& place = place_of(input.rank);
  task.tree = {.first_port = task.heads.count,
               .children = 1 + static_cast<int>(place.children.size()),
               .is_root = place.parent == kNoRank};
  for (std::vector<Peer>* peers : {&task.recv_peers, &task.send_peers}) {
    for (const Rank child : place.children) peers->push_back({.rank = child});
    if (!task.tree.is_root) peers->push_back({.rank = place.parent});
  }
  return task;
}

Result<ChannelTask> plan_collnet_direct(const PlanInput& input, int channel,
                                        const ChannelPart& part) {
  const NodeGroups& groups = *input.groups;
  RINGSIDE_TRY(check_heads(input, groups));
  const std::vector<Rank> others = all_but(groups.local, input.rank);
  if (others.size() > static_cast<std::size_t>(kMaxPortsInSet)) {
    return missing_structure(input, "more ranks on a node than a head can reach");
  }
  ChunkMap::Shape shape = shape_of(input, groups, part);
  if (!has_blocks(input)) {
    shape.part = {0, input.call.count};
    shape.shrinks = false;
    shape.lane = channel;
    shape.lanes = input.choice.nchannels;
  }
  ChannelTask task = input.task(shape);
  task.heads = groups.place;
  // Two heads have two connections in each direction; the one towards the head has index 1.
  for (const Rank head : groups.heads) {
    const bool is_self = head == input.rank;
    task.recv_peers.push_back(is_self ? Peer{} : Peer{.rank = head, .index = 0});
    task.send_peers.push_back(is_self ? Peer{} : Peer{.rank = head, .index = 1});
  }
  if (task.heads.is_head()) {
    task.heads.inner = static_cast<int>(others.size());
    for (const Rank other : others) {
      task.recv_peers.push_back({.rank = other, .index = 1});
      task.send_peers.push_back({.rank = other, .index = 0});
    }
    append_network(input, groups, task.recv_peers, task.send_peers);
  }
  task.strands = has_blocks(input) ? Strands{3, {0, 1, 2}} : Strands{4, {0, 1, 2, 3}};
  return task;
}

}  // namespace ringside
