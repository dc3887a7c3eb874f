#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/collectives/exchange_schedule.h"
#include "engine/collectives/plan_parts.h"

namespace ringside {
namespace {

/// The data that one rank sends and receives, by peer; 0 elements if there is no transfer.
struct Transfers {
  std::vector<ChannelPart> sends;
  std::vector<ChannelPart> recvs;
};

Status fill(std::vector<ChannelPart>& by_peer, const std::vector<Transfer>& list) {
  std::vector<bool> is_listed(by_peer.size(), false);
  for (const Transfer& transfer : list) {
    const auto peer = static_cast<std::size_t>(to_int(transfer.peer));
    if (to_int(transfer.peer) < 0 || peer >= by_peer.size() || transfer.count < 0 ||
        transfer.offset < 0) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a transfer of {} elements at {} with rank {} of {}", transfer.count,
                               transfer.offset, to_int(transfer.peer), by_peer.size()),
                   fmt::format("give ranks 0 to {}, and counts and offsets of 0 or more",
                               by_peer.size() - 1)};
    }
    if (is_listed[peer]) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("two transfers in one direction with rank {}", peer),
                   "put them into two calls"};
    }
    is_listed[peer] = true;
    by_peer[peer] = {transfer.offset, transfer.count};
  }
  return {};
}

/// Expands the collective into the transfers of this rank.
Result<Transfers> transfers_of(const PlanInput& input) {
  const auto n = static_cast<std::size_t>(input.nranks);
  const auto me = static_cast<std::size_t>(to_int(input.rank));
  const auto root = static_cast<std::size_t>(to_int(input.call.root));
  const std::int64_t count = input.call.count;
  Transfers all{std::vector<ChannelPart>(n), std::vector<ChannelPart>(n)};
  const auto block = [&](std::size_t peer) {
    return ChannelPart{static_cast<std::int64_t>(peer) * count, count};
  };
  switch (input.choice.collective) {
    case Collective::AllToAll:
      for (std::size_t peer = 0; peer < n; ++peer) all.sends[peer] = all.recvs[peer] = block(peer);
      return all;
    case Collective::Gather:
      all.sends[root] = {0, count};
      for (std::size_t peer = 0; peer < n && me == root; ++peer) all.recvs[peer] = block(peer);
      return all;
    case Collective::Scatter:
      all.recvs[root] = {0, count};
      for (std::size_t peer = 0; peer < n && me == root; ++peer) all.sends[peer] = block(peer);
      return all;
    case Collective::SendRecv:
      if (!input.call.sends.empty() || !input.call.recvs.empty()) break;
      all.sends[(me + 1) % n] = {0, count};
      all.recvs[(me + n - 1) % n] = {0, count};
      return all;
    default:
      break;
  }
  RINGSIDE_TRY(fill(all.sends, input.call.sends));
  RINGSIDE_TRY(fill(all.recvs, input.call.recvs));
  if (all.sends[me].count != all.recvs[me].count) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("rank {} sends itself {} elements and receives {}", me,
                             all.sends[me].count, all.recvs[me].count),
                 "give both the same count"};
  }
  return all;
}

/// Splits the transfers of a round among the channels, in the same way at both ends.
class Cutter {
 public:
  Cutter(const PlanInput& input, const ExchangeSchedule& schedule)
      : input_(input),
        schedule_(schedule),
        nchannels_(static_cast<int>(std::bit_floor(static_cast<unsigned>(input.choice.nchannels)))),
        per_peer_(input.choice.channels_per_peer > 0
                      ? std::min(input.choice.channels_per_peer, nchannels_)
                      : nchannels_) {}

  /// Returns this channel's part of a transfer in the round; no elements if the channel has none.
  [[nodiscard]] ChannelPart part(const ChannelPart& whole, int round, int channel) const {
    if (channel >= nchannels_) return {};
    const int first = first_channel_of(schedule_, round, nchannels_);
    const int index = (channel - first + nchannels_) % nchannels_;
    const auto element = static_cast<std::int64_t>(size_of(input_.call.type).value);
    const TransferCut cut = cut_transfer(whole.count * element, {.chunk = input_.chunk * element,
                                                                 .nranks = input_.nranks,
                                                                 .nodes = schedule_.nodes,
                                                                 .nchannels = nchannels_,
                                                                 .per_peer = per_peer_});
    const std::int64_t begin = std::min(index * (cut.each / element), whole.count);
    if (index >= cut.parts) return {};
    return {whole.offset + begin, std::min(cut.each / element, whole.count - begin)};
  }

 private:
  const PlanInput& input_;
  const ExchangeSchedule& schedule_;
  int nchannels_;
  int per_peer_;
};

/// A range of consecutive ranks, so that a few peers among very many ranks need little memory.
struct RankSpan {
  int first = 0;
  int count = 0;

  [[nodiscard]] bool holds(int rank) const { return rank >= first && rank < first + count; }
};

/// Returns the range from the first to the last peer that has a transfer.
RankSpan peers_of(const std::vector<ChannelPart>& by_peer) {
  const auto is_there = [](const ChannelPart& part) { return part.count > 0; };
  const auto first = std::ranges::find_if(by_peer, is_there);
  if (first == by_peer.end()) return {};
  const auto last = std::find_if(by_peer.rbegin(), by_peer.rend(), is_there).base();
  return {static_cast<int>(first - by_peer.begin()), static_cast<int>(last - first)};
}

/// Returns the rounds in which this rank transfers data on any channel; a rank with few peers has few.
std::vector<int> rounds_of(const ExchangeSchedule& schedule, const Transfers& whole) {
  std::vector<int> rounds;
  for (std::size_t i = 0; i < schedule.rounds.size(); ++i) {
    const PeersOfRound peers = schedule.rounds[i];
    const bool is_used = whole.sends[static_cast<std::size_t>(to_int(peers.send))].count > 0 ||
                         whole.recvs[static_cast<std::size_t>(to_int(peers.recv))].count > 0;
    if (is_used) rounds.push_back(static_cast<int>(i));
  }
  return rounds;
}

/// A rank's transfers and their rounds.
struct RankExchange {
  Transfers whole;
  ExchangeSchedule schedule;
  std::vector<int> rounds;
  RankSpan sends, recvs;
};

ChannelTask plan_one(const PlanInput& input, const RankExchange& mine, int channel) {
  const int n = input.nranks;
  const int me = to_int(input.rank);
  const Cutter cutter(input, mine.schedule);
  const auto& [whole, schedule, used, sent, received] = mine;
  Transfers here{std::vector<ChannelPart>(static_cast<std::size_t>(sent.count)),
                 std::vector<ChannelPart>(static_cast<std::size_t>(received.count))};
  const auto part_in = [&](const std::vector<ChannelPart>& all, const RankSpan& span, Rank peer,
                           int round, std::vector<ChannelPart>& parts) {
    const int at = to_int(peer);
    if (!span.holds(at)) return false;
    ChannelPart& part = parts[static_cast<std::size_t>(at - span.first)];
    part = cutter.part(all[static_cast<std::size_t>(at)], round, channel);
    return part.count > 0;
  };
  std::vector<Round> rounds;
  std::vector<Peer> send_peers;
  std::vector<Peer> recv_peers;
  for (const int i : used) {
    const PeersOfRound peers = schedule.rounds[static_cast<std::size_t>(i)];
    const bool sends = part_in(whole.sends, sent, peers.send, i, here.sends);
    const bool receives = part_in(whole.recvs, received, peers.recv, i, here.recvs);
    if (!sends && !receives) continue;
    Round& round = rounds.emplace_back();
    if (sends) round.send_chunk = me * n + to_int(peers.send);
    if (receives) round.recv_chunk = to_int(peers.recv) * n + me;
    if (to_int(peers.send) == me) continue;
    if (sends) {
      round.send_port = static_cast<int>(send_peers.size());
      send_peers.push_back({.rank = peers.send});
    }
    if (receives) {
      round.recv_port = static_cast<int>(recv_peers.size());
      recv_peers.push_back({.rank = peers.recv});
    }
  }
  ChunkMap::Shape shape = input.shape(input.tables.natural, {});
  shape.sends = here.sends;
  shape.recvs = here.recvs;
  shape.first_send = sent.first;
  shape.first_recv = received.first;
  shape.self = input.rank;
  ChannelTask task = input.task(shape);
  task.rounds = std::move(rounds);
  if (n > 1) task.strands = {2, {0, 0}};  // sending and receiving do not wait for each other
  task.send_peers = std::move(send_peers);
  task.recv_peers = std::move(recv_peers);
  return task;
}

}  // namespace

Result<std::vector<ChannelTask>> plan_exchange(const PlanInput& input, int first, int last) {
  RankExchange mine;
  RINGSIDE_TRY(mine.whole, transfers_of(input));
  mine.schedule = exchange_schedule(nodes_of(input.tables), input.rank);
  mine.rounds = rounds_of(mine.schedule, mine.whole);
  mine.sends = peers_of(mine.whole.sends);
  mine.recvs = peers_of(mine.whole.recvs);
  std::vector<ChannelTask> tasks;
  for (int channel = first; channel < last; ++channel) {
    tasks.push_back(plan_one(input, mine, channel));
  }
  return tasks;
}

}  // namespace ringside
