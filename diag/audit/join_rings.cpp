#include <algorithm>

#include "diag/audit/join_parts.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

using Successors = std::vector<std::int32_t>;  ///< [rank]; -1: unknown

using TreeParent = std::pair<std::int32_t, std::int32_t>;

constexpr std::int32_t kMostChannels = 64;  // of a communicator.  source  NCCL's MAXCHANNELS

/// Returns the elements of one part, in a vector that is sorted by part.
template <typename T>
std::pair<typename std::vector<T>::const_iterator, typename std::vector<T>::const_iterator> of_part(
    const std::vector<T>& all, std::uint32_t part) {
  const auto first = std::lower_bound(all.begin(), all.end(), part,
                                      [](const T& one, std::uint32_t p) { return one.part < p; });
  auto last = first;
  while (last != all.end() && last->part == part) ++last;
  return {first, last};
}

/// Follows the ring from rank 0 until it closes; empty where a successor is unknown.
std::vector<std::int32_t> walk(const Successors& next) {
  std::vector<std::int32_t> ring;
  std::vector<bool> seen(next.size());
  std::int32_t at = 0;
  while (at >= 0 && static_cast<std::size_t>(at) < next.size() &&
         !seen[static_cast<std::size_t>(at)]) {
    seen[static_cast<std::size_t>(at)] = true;
    ring.push_back(at);
    at = next[static_cast<std::size_t>(at)];
  }
  if (at != 0) return {};
  return ring;
}

/// Returns, by rank, the parent in the tree of a channel.
Successors parents_of(const CommFacts& comm, std::size_t channel) {
  constexpr std::int32_t kNoTree = -2;  // a root's parent is -1
  Successors up(static_cast<std::size_t>(comm.nranks), kNoTree);
  if (channel >= comm.trees.size()) return up;
  for (const auto& [rank, parent] : comm.trees[channel])
    up[static_cast<std::size_t>(rank)] = parent;
  return up;
}

/// Returns the peer that each rank sends to on a channel, apart from its neighbours in trees.
Successors successors_of_edges(const CommFacts& comm, std::size_t channel) {
  const auto nranks = static_cast<std::size_t>(comm.nranks);
  std::vector<std::vector<std::int32_t>> out(nranks);
  for (const Link& link : comm.links) {
    if (link.connection > 0 || link.direction == Direction::Receive || link.via == Via::CollNet) {
      continue;
    }
    if (link.rank < 0 || link.peer < 0 || ((link.channels >> channel) & 1U) == 0) continue;
    std::vector<std::int32_t>& mine = out[static_cast<std::size_t>(link.rank)];
    if (std::find(mine.begin(), mine.end(), link.peer) == mine.end()) mine.push_back(link.peer);
  }
  const Successors up = parents_of(comm, channel);
  Successors next(nranks, -1);
  for (std::size_t rank = 0; rank < nranks; ++rank) {
    std::vector<std::int32_t>& peers = out[rank];
    if (peers.size() > 1) {
      std::erase_if(peers, [&](std::int32_t peer) {
        return up[rank] == peer ||
               up[static_cast<std::size_t>(peer)] == static_cast<std::int32_t>(rank);
      });
    }
    if (peers.size() == 1) next[rank] = peers.front();
  }
  return next;
}

int crossings_of(const CommFacts& comm, const std::vector<std::int32_t>& ring) {
  int crossings = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Member* from = comm.member(ring[i]);
    const Member* to = comm.member(ring[(i + 1) % ring.size()]);
    if (from == nullptr || to == nullptr || from->host < 0 || to->host < 0) return -1;
    if (from->host != to->host) ++crossings;
  }
  return crossings;
}

}  // namespace

RingMaker::RingMaker(std::vector<std::unique_ptr<Shard>>& shards) : shards_(shards) {
  const auto by_part = [](const auto& a, const auto& b) { return a.part < b.part; };
  for (const auto& shard : shards) {
    std::stable_sort(shard->ring_hops.begin(), shard->ring_hops.end(), by_part);
    std::stable_sort(shard->ring_lists.begin(), shard->ring_lists.end(), by_part);
    std::stable_sort(shard->tree_ups.begin(), shard->tree_ups.end(), by_part);
  }
}

void RingMaker::make_trees(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces,
                           CommFacts& comm) {
  for (const auto& [s, part] : pieces) {
    const Shard& shard = *shards_[s];
    const auto [first, last] = of_part(shard.tree_ups, part);
    for (auto entry = first; entry != last; ++entry) {
      if (entry->rank < 0 || entry->rank >= comm.nranks) continue;
      const std::uint32_t count = std::min<std::uint32_t>(entry->count, kMostChannels);
      if (comm.trees.size() < count) comm.trees.resize(count);
      for (std::uint32_t channel = 0; channel < count; ++channel) {
        const std::int32_t up = shard.ups[entry->at + channel];
        if (up < comm.nranks) comm.trees[channel].emplace_back(entry->rank, up);
      }
    }
  }
  for (std::vector<TreeParent>& tree : comm.trees) {
    // The last line of a rank applies.
    std::ranges::stable_sort(tree, {}, &TreeParent::first);
    const auto newest = std::unique(tree.rbegin(), tree.rend(), [](const auto& a, const auto& b) {
      return a.first == b.first;
    });
    tree.erase(tree.begin(), newest.base());
  }
}

std::vector<std::int64_t> RingMaker::count_hops(
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces) const {
  std::vector<std::int64_t> counts(kMostChannels, 0);
  for (const auto& [s, part] : pieces) {
    const auto [hop, hop_end] = of_part(shards_[s]->ring_hops, part);
    for (auto at = hop; at != hop_end; ++at) {
      if (at->channel >= 0 && at->channel < kMostChannels)
        ++counts[static_cast<std::size_t>(at->channel)];
    }
  }
  return counts;
}

void RingMaker::make(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces,
                     CommFacts& comm) {
  constexpr std::int32_t kMostRanks = 1 << 20;  // larger numbers are not numbers of ranks
  if (comm.nranks < 2 || comm.nranks > kMostRanks) return;
  make_trees(pieces, comm);

  std::vector<Successors> hops;
  std::vector<std::vector<std::int32_t>> lists;
  std::int32_t nchannels = 0;
  const auto open = [&](auto& by_channel, std::int32_t channel) -> auto& {
    if (by_channel.size() <= static_cast<std::size_t>(channel)) {
      by_channel.resize(static_cast<std::size_t>(channel) + 1);
    }
    nchannels = std::max(nchannels, channel + 1);
    return by_channel[static_cast<std::size_t>(channel)];
  };
  const std::vector<std::int64_t> said_hops = count_hops(pieces);
  for (const auto& [s, part] : pieces) {
    const Shard& shard = *shards_[s];
    const auto [hop, hop_end] = of_part(shard.ring_hops, part);
    for (auto at = hop; at != hop_end; ++at) {
      if (at->channel < 0 || at->channel >= kMostChannels) continue;
      if (at->rank < 0 || at->rank >= comm.nranks || at->next >= comm.nranks) continue;
      Successors& next = open(hops, at->channel);
      // A ring needs lines of all ranks. A line may contain any number of ranks, which must not determine the memory
      // use.
      if (said_hops[static_cast<std::size_t>(at->channel)] < comm.nranks) continue;
      next.resize(static_cast<std::size_t>(comm.nranks), -1);
      next[static_cast<std::size_t>(at->rank)] = at->next;
    }
    const auto [list, list_end] = of_part(shard.ring_lists, part);
    for (auto at = list; at != list_end; ++at) {
      if (at->channel < 0 || at->channel >= kMostChannels) continue;
      std::vector<std::int32_t>& ring = open(lists, at->channel);
      if (!at->is_whole || at->count != static_cast<std::uint32_t>(comm.nranks)) continue;
      ring.assign(shard.ring_ranks.begin() + at->at, shard.ring_ranks.begin() + at->at + at->count);
      const bool is_sane = std::all_of(ring.begin(), ring.end(), [&](std::int32_t rank) {
        return rank >= 0 && rank < comm.nranks;
      });
      if (!is_sane) ring.clear();
    }
  }
  // The last bit of Link::channels means several channels: its connections show no ring.
  const std::int32_t said = std::min(comm.ring_channels, kMostChannels - 1);
  nchannels = std::max(nchannels, said);

  const bool is_known = comm.members.size() == static_cast<std::size_t>(comm.nranks);
  for (std::int32_t channel = 0; channel < nchannels; ++channel) {
    const auto index = static_cast<std::size_t>(channel);
    Ring ring;
    const bool all_say = index < hops.size() && !hops[index].empty() &&
                         std::count(hops[index].begin(), hops[index].end(), -1) == 0;
    if (all_say) {
      ring.source = RingSource::Neighbours;
      ring.ranks = walk(hops[index]);
    } else if (index < lists.size() && !lists[index].empty()) {
      ring.source = RingSource::Order;
      ring.ranks = lists[index];
    } else if (is_known) {
      ring.ranks = walk(successors_of_edges(comm, index));
      if (ring.ranks.size() == static_cast<std::size_t>(comm.nranks)) {
        ring.source = RingSource::Edges;
      } else {
        ring.ranks.clear();
      }
    }
    if (ring.ranks.size() == static_cast<std::size_t>(comm.nranks)) {
      ring.crossings = crossings_of(comm, ring.ranks);
    }
    comm.rings.push_back(std::move(ring));
  }
}

}  // namespace ringside::audit
