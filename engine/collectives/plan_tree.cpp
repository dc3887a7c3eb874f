#include <algorithm>
#include <bit>
#include <iterator>

#include "engine/channels/pat_peers.h"
#include "engine/collectives/plan_parts.h"

namespace ringside {
namespace {

using TreePlace = Channels::TreePlace;

int hops_to_root(const std::vector<TreePlace>& tree, Rank rank) {
  int hops = 0;
  const auto parent = [&](Rank of) { return tree[static_cast<std::size_t>(to_int(of))].parent; };
  for (Rank at = parent(rank); at != kNoRank; at = parent(at)) ++hops;
  return hops;
}

}  // namespace

Result<ChannelTask> plan_tree(const PlanInput& input, int channel, const ChannelPart& part) {
  const auto index = static_cast<std::size_t>(channel);
  if (input.channels.trees.size() <= index)
    return missing_structure(input, "the channel has no tree");
  const std::vector<TreePlace>& tree = input.channels.trees[index];
  const TreePlace& place = tree[static_cast<std::size_t>(to_int(input.rank))];

  ChunkMap::Shape shape = input.shape(input.tables.natural, part);
  shape.slices = 1;
  ChannelTask task = input.task(shape);
  task.tree = {.children = static_cast<int>(place.children.size()),
               .is_root = place.parent == kNoRank};
  for (const Rank child : place.children) task.recv_peers.push_back({.rank = child});
  if (!task.tree.is_root) task.recv_peers.push_back({.rank = place.parent});
  task.send_peers = task.recv_peers;
  // Each rank brings a chunk one hop closer to the root, and then one hop back down.
  task.strands = {2, {0, 2 * hops_to_root(tree, input.rank)}};
  return task;
}

void add_chain_ends(PlanTables& tables) {
  if (tables.choice.algorithm != Algorithm::CollNetChain) return;
  const std::vector<std::array<Rank, 2>>& chain = tables.channels.collnet.chain;
  const Rank network{tables.nranks};
  auto group = std::make_shared<SwitchGroup>();
  group->medium = SwitchGroup::Medium::Network;
  for (std::size_t rank = 0; rank < chain.size(); ++rank) {
    if (chain[rank][0] == network) group->senders.push_back(Rank{static_cast<std::int32_t>(rank)});
  }
  if (group->senders.size() < 2) return;
  group->receivers = group->senders;
  tables.chain_ends = std::move(group);
}

Result<ChannelTask> plan_chain(const PlanInput& input, int channel, const ChannelPart& /*part*/) {
  const std::vector<std::array<Rank, 2>>& chain = input.channels.collnet.chain;
  const Rank network{input.nranks};
  const auto up = [&](Rank of) { return chain[static_cast<std::size_t>(to_int(of))][0]; };
  const std::shared_ptr<const SwitchGroup>& group = input.tables.chain_ends;
  if (group == nullptr) return missing_structure(input, "no chains of two or more nodes");

  ChunkMap::Shape shape = input.shape(input.tables.natural, {0, input.call.count});
  shape.slices = 1;
  shape.shrinks = false;
  shape.lane = channel;
  shape.lanes = input.choice.nchannels;
  ChannelTask task = input.task(shape);
  const Rank down = chain[static_cast<std::size_t>(to_int(input.rank))][1];
  task.tree = {.children = down == kNoRank ? 0 : 1, .is_root = false};
  if (down != kNoRank) task.recv_peers.push_back({.rank = down});
  if (up(input.rank) == network) {
    task.recv_peers.push_back({.group = group});
  } else {
    task.recv_peers.push_back({.rank = up(input.rank)});
  }
  task.send_peers = task.recv_peers;
  int hops = 0;
  for (Rank at = up(input.rank); at != network; at = up(at)) ++hops;
  task.strands = {2, {0, 2 * hops + 1}};  // up the chain, once through the network, down again
  return task;
}

Result<ChannelTask> plan_pat(const PlanInput& input, int /*channel*/, const ChannelPart& part) {
  ChannelTask task = input.task(input.shape(input.tables.natural, part));
  const unsigned half = std::bit_ceil(static_cast<unsigned>(input.nranks)) / 2;
  task.pat = {.index = to_int(input.rank),
              .size = input.nranks,
              .together = static_cast<int>(
                  std::min(half, std::bit_floor(static_cast<unsigned>(input.chunks_in_flight))))};
  for (const PatPeers& peers : pat_peers(input.choice.collective, input.rank, input.nranks)) {
    task.recv_peers.push_back({.rank = peers.recv});
    task.send_peers.push_back({.rank = peers.send});
  }
  return task;
}

}  // namespace ringside
