#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <unordered_set>

#include "diag/audit/join_parts.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A communicator's part in one shard, and its continuation in later shards.
struct Piece {
  std::uint32_t shard = 0, part = 0;
};
struct Chain {
  CommPart part = {};  ///< combined from the pieces
  std::uint32_t process = 0;
  std::vector<Piece> pieces = {};
};

void fold(CommPart& to, const CommPart& from) {
  take_known(to.comm, from.comm, std::uint64_t{0});
  take_known(to.comm_id, from.comm_id, std::uint64_t{0});
  take_known(to.parent, from.parent, std::uint64_t{0});
  take_known(to.rank, from.rank, -1);
  take_known(to.nranks, from.nranks, -1);
  take_known(to.color, from.color, -1);
  take_known(to.child, from.child, -1);
  take_known(to.bus_id, from.bus_id, std::int64_t{-1});
  take_known<std::int16_t>(to.cuda_device, from.cuda_device, -1);
  take_known<std::int16_t>(to.nvml_device, from.nvml_device, -1);
  take_known(to.nnodes, from.nnodes, -1);
  take_known(to.mnnvl, from.mnnvl, -1);
  take_known(to.coll_channels, from.coll_channels, -1);
  take_known(to.nvls_channels, from.nvls_channels, -1);
  take_known(to.p2p_channels, from.p2p_channels, -1);
  take_known(to.ring_channels, from.ring_channels, -1);
  take_known(to.init_s, from.init_s, -1.0F);
  take_known(to.bootstrap_s, from.bootstrap_s, -1.0F);
  take_known<std::uint16_t>(to.network, from.network, 0xffff);
  to.is_started |= from.is_started;
  to.is_complete |= from.is_complete;
  to.is_destroyed |= from.is_destroyed;
  to.is_aborted |= from.is_aborted;
  to.is_rccl |= from.is_rccl;
  to.ncalls += from.ncalls;
}

/// Joins the parts of one communicator in one process, over shards and over lines that were printed before the
/// communicator's name.
class Chains {
 public:
  /// nets  [shard]: the numbers of its networks in the job's facts
  Chains(const std::vector<std::unique_ptr<Shard>>& shards, const ProcessTable& processes,
         const std::vector<std::vector<std::uint16_t>>& nets)
      : of_process_(0) {
    for (std::uint32_t s = 0; s < shards.size(); ++s) {
      const Shard& shard = *shards[s];
      for (std::uint32_t p = 0; p < shard.parts.size(); ++p) {
        CommPart part = shard.parts[p];
        const std::uint32_t process = processes[s][part.speaker];
        if (part.network < nets[s].size()) {
          part.network = nets[s][part.network];
        } else if (process < network_of_.size() && part.is_started) {
          part.network = network_of_[process];  // printed before the boundary between two shards
        }
        add(part, process, {s, p});
      }
      for (std::uint32_t i = 0; i < shard.spoken.size(); ++i) {
        const std::uint16_t network = shard.spoken[i].network;
        const std::uint32_t process = processes[s][i];
        if (network >= nets[s].size()) continue;
        if (process >= network_of_.size()) network_of_.resize(process + 1, 0xffff);
        network_of_[process] = nets[s][network];
      }
    }
  }

  std::vector<Chain>& all() { return all_; }

 private:
  std::vector<std::uint16_t> network_of_ = {};  ///< [process]: the last network that it printed

  void add(const CommPart& part, std::uint32_t process, Piece piece) {
    if (process >= of_process_.size()) of_process_.resize(process + 1);
    std::vector<std::uint32_t>& mine = of_process_[process];
    const std::uint32_t found = continues(part, mine);
    if (found != kNone) {
      // A name that is printed late applies to all earlier lines.
      fold(all_[found].part, part);
      all_[found].pieces.push_back(piece);
      return;
    }
    mine.push_back(static_cast<std::uint32_t>(all_.size()));
    all_.push_back({part, process, {piece}});
    all_.back().part.speaker = 0;
  }

  /// Returns the chain that the part continues; kNone: it begins a new one.
  [[nodiscard]] std::uint32_t continues(const CommPart& part,
                                        const std::vector<std::uint32_t>& mine) const {
    if (mine.empty() || part.is_started) return kNone;
    const Chain& last = all_[mine.back()];
    if (part.comm == 0) {
      // A part without a name continues the process's last one, if its version names communicators first.
      const bool is_late = last.part.is_complete && !last.part.is_started && !part.is_complete;
      return is_late || part.is_headless ? kNone : mine.back();
    }
    for (auto at = mine.rbegin(); at != mine.rend(); ++at) {
      const CommPart& known = all_[*at].part;
      if (known.comm == part.comm) {
        const bool is_again = known.is_complete && part.is_complete;
        return is_again ? kNone : *at;
      }
    }
    return last.part.comm == 0 ? mine.back() : kNone;
  }

  std::vector<Chain> all_ = {};
  std::vector<std::vector<std::uint32_t>> of_process_;
};

/// The fields that are equal on all ranks of a communicator.
struct CommKey {
  std::uint64_t comm_id = 0;
  std::int64_t parent = -1;  ///< index of the parent in the result; -1: none
  std::int32_t color = -1, child = -1, nranks = -1;
  /// If there is no other identity: index among the communicators of this size in the process
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const CommKey&, const CommKey&) = default;
};

class Grouping {
 public:
  explicit Grouping(std::vector<Chain>& chains) : chains_(chains) {
    for (std::uint32_t i = 0; i < chains.size(); ++i) place(i);
  }
  std::vector<std::vector<std::uint32_t>>& groups() { return groups_; }
  [[nodiscard]] bool is_guessed(std::size_t group) const { return guessed_[group]; }

 private:
  void place(std::uint32_t index) {
    const CommPart& part = chains_[index].part;
    if (part.nranks < 1 || part.rank < 0) return;
    const std::uint32_t process = chains_[index].process;
    CommKey key{.comm_id = part.comm_id, .nranks = part.nranks};
    if (part.comm_id == 0 && part.parent != 0) {
      const auto parent = live_.find({process, part.parent});
      if (parent != live_.end()) key.parent = parent->second;
      key.color = part.color;
      key.child = part.child;
    }
    const bool is_bare = key.comm_id == 0 && key.parent < 0;
    if (is_bare || (key.parent >= 0 && key.child < 0)) {
      key.ordinal = ++ordinals_[std::make_tuple(process, part.nranks, key.color, part.rank)];
    }
    std::int64_t group = -1;
    // If several communicators of one size and time are possible, takes the first that lacks this rank.
    for (std::uint32_t twin = 0; group < 0; ++twin) {
      const auto [at, is_new] = known_.emplace(std::make_pair(key, twin), groups_.size());
      if (is_new) {
        groups_.emplace_back();
        taken_.emplace_back();
        guessed_.push_back(is_bare);
      }
      // A set rather than a bit per rank: a line may contain any rank number, which must not determine the memory use.
      std::unordered_set<std::int32_t>& taken = taken_[at->second];
      const bool is_free = !taken.contains(part.rank) || !is_bare;
      if (!is_free && !is_same_process(at->second, part.rank, process)) continue;
      taken.insert(part.rank);
      group = static_cast<std::int64_t>(at->second);
    }
    groups_[static_cast<std::size_t>(group)].push_back(index);
    live_[{process, part.comm}] = group;
  }

  [[nodiscard]] bool is_same_process(std::size_t group, std::int32_t rank,
                                     std::uint32_t process) const {
    return std::any_of(groups_[group].begin(), groups_[group].end(), [&](std::uint32_t index) {
      return chains_[index].part.rank == rank && chains_[index].process == process;
    });
  }

  std::vector<Chain>& chains_;
  std::vector<std::vector<std::uint32_t>> groups_ = {};
  std::vector<std::unordered_set<std::int32_t>> taken_ = {};
  std::vector<bool> guessed_ = {};
  std::map<std::pair<CommKey, std::uint32_t>, std::size_t> known_ = {};
  std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t, std::int32_t>, std::uint32_t>
      ordinals_ = {};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> live_ = {};
};

/// From 2.22 on, a communicator connects at its first use, after its `Init COMPLETE`. If the excerpt lacks its `Init
/// START`, its connections look like the beginning of another communicator. They are assigned to the first one if it
/// has no connections of its own and nothing contradicts.
void adopt_late_connections(std::vector<Chain>& chains,
                            const std::vector<std::unique_ptr<Shard>>& shards) {
  const auto all_links = [&](const Chain& chain, const auto& holds) {
    return std::all_of(chain.pieces.begin(), chain.pieces.end(), [&](const Piece piece) {
      const std::vector<Link>& links = shards[piece.shard]->links[piece.part];
      return std::all_of(links.begin(), links.end(), holds);
    });
  };
  std::map<std::uint32_t, std::size_t> last;  // [process]
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const auto [at, is_first] = last.try_emplace(chains[i].process, i);
    if (is_first) continue;
    Chain& before = chains[at->second];
    Chain& late = chains[i];
    at->second = i;
    const bool is_nameless = late.part.comm == 0 && late.part.nranks < 1 && !late.part.is_started;
    const bool may_be_lazy =
        before.part.is_complete && !before.part.is_started && before.part.nranks > 0;
    if (!is_nameless || !may_be_lazy) continue;
    if (!all_links(before, [](const Link&) { return false; })) continue;
    const bool fits = all_links(late, [&](const Link& link) {
      return link.rank == before.part.rank && link.peer < before.part.nranks;
    });
    if (!fits) continue;
    fold(before.part, late.part);
    before.pieces.insert(before.pieces.end(), late.pieces.begin(), late.pieces.end());
    late.pieces.clear();
    at->second = static_cast<std::size_t>(&before - chains.data());
  }
}

/// Assigns connections in excerpts without any line that names their communicator; before 2.18, a rank that fails
/// while connecting prints no such line. The ranks are those of the connections. The communicator is the only one that
/// exists, with its name if other ranks print it.
void name_excerpt(std::vector<Chain>& chains, const std::vector<std::unique_ptr<Shard>>& shards) {
  std::int32_t nranks = -1, highest = -1;
  std::uint64_t comm_id = 0;
  std::set<std::int32_t> ranks;
  for (const Chain& chain : chains) {
    if (chain.part.is_started) return;  // every rank of this release prints its name first
    if (chain.part.nranks < 1 || chain.part.rank < 0) continue;
    if (nranks >= 0 && nranks != chain.part.nranks) return;
    if (!ranks.insert(chain.part.rank).second) return;
    nranks = chain.part.nranks;
    comm_id = chain.part.comm_id;
  }
  std::vector<std::pair<Chain*, std::int32_t>> nameless;
  for (Chain& chain : chains) {
    if (chain.part.rank >= 0 && chain.part.nranks >= 1) continue;
    std::int32_t rank = -1;
    for (const Piece piece : chain.pieces) {
      for (const Link& link : shards[piece.shard]->links[piece.part]) {
        if (link.rank < 0 || link.peer < 0) continue;
        if (rank < 0) rank = link.rank;
        highest = std::max({highest, link.rank, link.peer});
      }
    }
    if (rank >= 0) nameless.emplace_back(&chain, rank);
  }
  if (nranks >= 0 && highest >= nranks) return;
  for (const auto& [chain, rank] : nameless) {
    if (nranks >= 0 && !ranks.insert(rank).second) continue;
    chain->part.rank = rank;
    chain->part.nranks = nranks >= 0 ? nranks : highest + 1;
    chain->part.comm_id = comm_id;
  }
}

Member member_of(const Chain& chain, const JobFacts& facts) {
  const CommPart& part = chain.part;
  return {.rank = part.rank,
          .process = chain.process,
          .host = facts.processes[chain.process].host,
          .bus_id = part.bus_id,
          .cuda_device = part.cuda_device,
          .nvml_device = part.nvml_device,
          .coll_channels = part.coll_channels,
          .network = part.network,
          .is_started = part.is_started,
          .is_complete = part.is_complete,
          .is_destroyed = part.is_destroyed,
          .is_aborted = part.is_aborted,
          .init_s = part.init_s,
          .bootstrap_s = part.bootstrap_s,
          .ncalls = part.ncalls,
          .first = part.first};
}

/// Moves the links out of the shards.
void add_links(const Chain& chain, const std::vector<std::unique_ptr<Shard>>& shards,
               const std::vector<std::vector<std::uint16_t>>& nets, CommFacts& comm) {
  for (const Piece piece : chain.pieces) {
    std::vector<Link> links;  // frees the memory, because a large job has millions of links
    links.swap(shards[piece.shard]->links[piece.part]);
    for (Link& link : links) {
      if (link.rank >= comm.nranks || link.peer >= comm.nranks) continue;
      link.net = nets[piece.shard][link.net];
      comm.links.push_back(link);
    }
  }
}

CommFacts comm_of(const std::vector<std::uint32_t>& group, std::vector<Chain>& chains,
                  const std::vector<std::unique_ptr<Shard>>& shards,
                  const std::vector<std::vector<std::uint16_t>>& nets, const JobFacts& facts) {
  CommFacts comm;
  std::size_t nlinks = 0;
  for (const std::uint32_t index : group) {
    for (const Piece piece : chains[index].pieces) {
      nlinks += shards[piece.shard]->links[piece.part].size();
    }
  }
  comm.links.reserve(nlinks);
  comm.members.reserve(group.size());
  for (const std::uint32_t index : group) {
    const CommPart& part = chains[index].part;
    comm.comm_id = part.comm_id;
    comm.nranks = part.nranks;
    comm.nnodes = std::max(comm.nnodes, part.nnodes);
    comm.mnnvl = std::max(comm.mnnvl, part.mnnvl);
    comm.ring_channels = std::max({comm.ring_channels, part.ring_channels, part.coll_channels});
    comm.nvls_channels = std::max(comm.nvls_channels, part.nvls_channels);
    comm.p2p_channels = std::max(comm.p2p_channels, part.p2p_channels);
    comm.is_rccl = comm.is_rccl || part.is_rccl;
    comm.members.push_back(member_of(chains[index], facts));
    if (comm.members.back().host >= 0) comm.hosts.insert(comm.members.back().host);
    add_links(chains[index], shards, nets, comm);
  }
  std::stable_sort(comm.members.begin(), comm.members.end(),
                   [](const Member& a, const Member& b) { return a.rank < b.rank; });
  // For releases that do not count nodes, and the log of one host: a rank that uses a network has peers on other
  // hosts.
  const bool goes_out = comm.nnodes <= 0 && comm.hosts.size() < 2 &&
                        std::any_of(comm.links.begin(), comm.links.end(), [&](const Link& link) {
                          return link.via == Via::Net && comm.member(link.peer) == nullptr;
                        });
  if (goes_out) {
    comm.nnodes = 2;
    comm.has_guessed_nodes = true;
  }
  return comm;
}

/// The facts of one communicator.
struct JoinedComm {
  CommFacts comm = {};
  std::vector<JobFacts::Desync> desyncs = {};
  std::map<std::int32_t, LocalEdges> local_edges = {};
};

/// Calls work(i) for each i below `count`, in any order.
template <typename Work>
void for_each_on_threads(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto take_all = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(take_all);
  take_all();
}

}  // namespace

void join_comms(std::vector<std::unique_ptr<Shard>>& shards, const ProcessTable& processes,
                const std::vector<std::vector<std::uint16_t>>& nets, JobFacts& facts) {
  Chains chains(shards, processes, nets);
  adopt_late_connections(chains.all(), shards);
  name_excerpt(chains.all(), shards);
  Grouping grouping(chains.all());

  std::vector<std::size_t> order(grouping.groups().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto nranks = [&](std::size_t group) {
    return chains.all()[grouping.groups()[group].front()].part.nranks;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return nranks(a) > nranks(b); });

  RingMaker rings(shards);
  CallOrder call_order;
  std::vector<JoinedComm> joined(order.size());
  // Each communicator is made from separate parts.
  for_each_on_threads(order.size(), shards.size(), [&](std::size_t i) {
    const std::vector<std::uint32_t>& members = grouping.groups()[order[i]];
    CommFacts& comm = joined[i].comm;
    comm = comm_of(members, chains.all(), shards, nets, facts);
    comm.is_guessed = grouping.is_guessed(order[i]);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
    std::vector<CallsOfRank> calls;
    for (const std::uint32_t index : members) {
      CallsOfRank mine{chains.all()[index].part.rank, chains.all()[index].process, {}};
      for (const Piece piece : chains.all()[index].pieces) {
        mine.pieces.emplace_back(piece.shard, piece.part);
      }
      pieces.insert(pieces.end(), mine.pieces.begin(), mine.pieces.end());
      calls.push_back(std::move(mine));
    }
    rings.make(pieces, comm);
    joined[i].desyncs = compare_calls(calls, shards, call_order);
    add_local_edges(comm, joined[i].local_edges);
  });
  for (JoinedComm& one : joined) {
    facts.desyncs.insert(facts.desyncs.end(), std::make_move_iterator(one.desyncs.begin()),
                         std::make_move_iterator(one.desyncs.end()));
    for (const auto& [host, edges] : one.local_edges) facts.local_edges[host] += edges;
    facts.comms.push_back(std::move(one.comm));
  }
}

}  // namespace ringside::audit
