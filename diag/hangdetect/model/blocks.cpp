#include "diag/hangdetect/model/blocks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "diag/hangdetect/model/peer.h"
#include "ringside/unreceived_messages.h"

namespace ringside::hang {

int peer_of(const Job& job, int rank, int group, const Call& call) {
  const Group& members = job.group(group);
  const Signature& signature = job.signature(call);
  const int index = signature.op == Op::Send ? signature.target : signature.source;
  if (index >= 0 && static_cast<std::size_t>(index) < members.members.size()) {
    return members.members[static_cast<std::size_t>(index)];
  }
  if (members.members.size() != 2) return -1;
  return members.members[members.members[0] == rank ? 1 : 0];
}

namespace {

bool is_send(const Job& job, const Call& call) { return job.signature(call).op == Op::Send; }

/// Returns whether all transfers between the two ranks are recorded.
bool are_whole(const Job& job, int rank, int peer) {
  const auto is_from_first = [&](int one) {
    const std::vector<Call>& calls = job.rank(one).dump->calls;
    return !calls.empty() && calls.front().record == 0;
  };
  return is_from_first(rank) && is_from_first(peer);
}

/// Returns whether a send or receive that its recorder already marks retired still lacks its other half. Hooks retire a
/// call when it is made, so only a rank's last call is checked.
bool lacks_partner(const Job& job, int rank, int group, const Call& call, int peer) {
  if (peer < 0 || job.rank(peer).dump == nullptr) return false;
  const GroupCalls* theirs = job.calls(peer, group);
  if (theirs == nullptr || theirs->transfers.empty()) return true;
  const std::vector<Call>& calls = job.rank(peer).dump->calls;
  const auto is_other_half = [&](const Call& other) {
    return is_send(job, other) != is_send(job, call) && peer_of(job, peer, group, other) == rank;
  };
  if (job.group(group).members.size() == 2) {
    // In a group of two, both sides count the same transfers.
    for (const std::uint32_t index : theirs->transfers) {
      if (calls[index].sequence == call.sequence) return !is_other_half(calls[index]);
    }
    return calls[theirs->transfers.back()].sequence < call.sequence;
  }
  const std::vector<Call>& own = job.rank(rank).dump->calls;
  if (!are_whole(job, rank, peer)) return false;
  std::ptrdiff_t balance = 0;
  for (const std::uint32_t index : job.calls(rank, group)->transfers) {
    const Call& other = own[index];
    if (is_send(job, other) == is_send(job, call) && peer_of(job, rank, group, other) == peer)
      ++balance;
  }
  for (const std::uint32_t index : theirs->transfers)
    balance -= is_other_half(calls[index]) ? 1 : 0;
  return balance > 0;
}

std::optional<Block> block_at(const Job& job, int rank, std::size_t i) {
  const RankView& view = job.rank(rank);
  const Call& call = view.dump->calls[i];
  Block block{
      view.group_of_call[i], call.sequence, call.is_p2p, false, static_cast<std::uint32_t>(i), -1};
  if (call.is_p2p) block.peer = peer_of(job, rank, block.group, call);
  return block;
}

/// Returns whether the rank's retired call cannot have ended well, because a member that it needs has not entered it.
/// (That member's dump may also be older: progress_of() checks this.)
bool cannot_have_ended(const Job& job, int group, const Call& call) {
  if (call.state != CallState::Retired || call.is_p2p) return false;
  if (!needs_everybody(job.signature(call).op)) return false;
  const std::vector<int>& members = job.group(group).members;
  return std::any_of(members.begin(), members.end(), [&](int member) {
    return job.rank(member).dump != nullptr && !job.rank(member).is_from_log &&
           job.entered(member, group) >= 0 &&
           job.entered(member, group) < static_cast<std::int64_t>(call.sequence);
  });
}

std::optional<std::size_t> newest_call(const RankView& view) {
  std::size_t last = view.group_of_call.size();
  while (last > 0 && view.group_of_call[last - 1] < 0) --last;
  if (last == 0) return std::nullopt;
  return last - 1;
}

/// Returns the first call that a member has not entered, among calls that are recorded when they are issued.
std::optional<std::size_t> first_unmet(const Job& job, int rank) {
  const RankView& view = job.rank(rank);
  const std::vector<Call>& calls = view.dump->calls;
  std::optional<std::size_t> first;
  for (const GroupCalls& mine : view.groups) {
    std::int64_t least = -1;
    for (const int member : job.group(mine.group).members) {
      if (member >= job.world() || job.rank(member).dump == nullptr) continue;
      const std::int64_t entered = job.entered(member, mine.group);
      if (entered >= 0 && (least < 0 || entered < least)) least = entered;
    }
    for (const std::uint32_t index : mine.collectives) {
      const Call& call = calls[index];
      if (call.state != CallState::Issued || static_cast<std::int64_t>(call.sequence) <= least ||
          !needs_everybody(job.signature(call).op))
        continue;
      if (!first || index < *first) first = index;
      break;
    }
  }
  return first;
}

/// After an error, everything is retired. If other ranks failed, a rank whose last call includes a rank without a dump
/// has most likely failed in that call too.
std::optional<Block> block_with_unseen(const Job& job, int rank) {
  const RankView& view = job.rank(rank);
  if (view.dump == nullptr || view.is_from_log) return std::nullopt;
  const auto last = newest_call(view);
  if (!last || view.dump->calls[*last].state != CallState::Retired) return std::nullopt;
  const std::vector<int>& members = job.group(view.group_of_call[*last]).members;
  const bool has_unseen = std::any_of(members.begin(), members.end(),
                                      [&](int member) { return job.rank(member).dump == nullptr; });
  if (!has_unseen || view.dump->calls[*last].is_p2p) return std::nullopt;
  auto block = block_at(job, rank, *last);
  block->is_guess = true;
  return block;
}

std::optional<Block> block_of(const Job& job, int rank) {
  const RankView& view = job.rank(rank);
  if (view.dump == nullptr) return std::nullopt;
  const std::vector<Call>& calls = view.dump->calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (view.group_of_call[i] >= 0 && calls[i].is_pending()) return block_at(job, rank, i);
  }
  if (const auto unmet = first_unmet(job, rank)) return block_at(job, rank, *unmet);
  // Nothing is pending. A hook retires a send or receive when the call is made, so the last one may still wait for its
  // other half.
  const auto last = newest_call(view);
  if (!last) return std::nullopt;
  const Call& newest = calls[*last];
  auto block = block_at(job, rank, *last);
  if (newest.is_p2p && newest.state == CallState::Retired) {
    if (lacks_partner(job, rank, block->group, newest, block->peer)) return block;
  }
  const bool has_failed = view.notes.has_failed && newest.state == CallState::Retired;
  if (has_failed || cannot_have_ended(job, block->group, newest)) {
    block->is_guess = true;
    return block;
  }
  return std::nullopt;
}

Front front_at(const Job& job, int group, std::uint32_t sequence) {
  Front front{group, sequence, {}, {}, {}, {}};
  for (const int member : job.group(group).members) {
    if (member >= job.world() || job.rank(member).dump == nullptr) {
      front.unseen.push_back(member);
    } else if (job.entered(member, group) >= static_cast<std::int64_t>(sequence)) {
      front.entered.push_back(member);
    } else {
      front.absent.push_back(member);
    }
  }
  return front;
}

/// Adds members that have made the call but are blocked in an older call of another group.
void add_held(const Job& job, const WaitState& wait_state, const Front& front,
              std::vector<int>& held) {
  for (const int member : front.entered) {
    const auto& block = wait_state.blocks[static_cast<std::size_t>(member)];
    if (!block || (block->group == front.group && !block->is_p2p)) continue;
    const Call* call = job.find(member, front.group, front.sequence);
    const Call& older = job.rank(member).dump->calls[block->call];
    if (call != nullptr && call->is_pending() && older.record < call->record)
      held.push_back(member);
  }
}

/// One half of a transfer: a send or a receive.
struct Half {
  std::uint32_t call = 0;  ///< index among the rank's calls
  int group = -1;
  int peer = -1;
  bool is_send = false;
};

/// Returns the transfers in which the rank is blocked: one, or all of a coalesced set (batch_isend_irecv), whose
/// members have one number and run together.
std::vector<Half> halves_at(const Job& job, int rank, const Block& block) {
  const std::vector<Call>& calls = job.rank(rank).dump->calls;
  std::vector<Half> halves;
  const GroupCalls* mine = job.calls(rank, block.group);
  if (mine == nullptr) return halves;
  for (const std::uint32_t index : mine->transfers) {
    const Call& call = calls[index];
    const Op op = job.signature(call).op;
    const bool is_transfer = op == Op::Send || op == Op::Recv;
    const bool is_one =
        index == block.call || (call.sequence == block.sequence && call.is_pending());
    if (!is_transfer || !is_one) continue;
    halves.push_back({index, block.group, peer_of(job, rank, block.group, call), op == Op::Send});
  }
  return halves;
}

/// Returns the peer's half of a transfer if both sides number their transfers alike, as in a ring of sends. Recorders
/// that have lost the beginning show no more than that. Both sides count as alike if no ended transfer contradicts it
/// and kAlike of them agree: one or two may agree by chance.
/// returns  null if the numbers differ, or the half was not made
const Call* other_half_by_number(const Job& job, int rank, const Half& half) {
  constexpr int kAlike = 3;
  const GroupCalls* theirs = job.calls(half.peer, half.group);
  if (theirs == nullptr) return nullptr;
  std::map<std::uint32_t, const Call*> others;
  for (const std::uint32_t index : theirs->transfers) {
    const Call& other = job.rank(half.peer).dump->calls[index];
    if (is_send(job, other) != half.is_send && peer_of(job, half.peer, half.group, other) == rank) {
      others.emplace(other.sequence, &other);
    }
  }
  if (others.empty()) return nullptr;
  const std::vector<Call>& calls = job.rank(rank).dump->calls;
  int alike = 0;
  for (const std::uint32_t index : job.calls(rank, half.group)->transfers) {
    const Call& own = calls[index];
    if (own.is_pending() || own.sequence < others.begin()->first ||
        is_send(job, own) != half.is_send || peer_of(job, rank, half.group, own) != half.peer)
      continue;
    if (!others.contains(own.sequence)) return nullptr;
    ++alike;
  }
  const auto found = others.find(calls[half.call].sequence);
  return alike >= kAlike && found != others.end() ? found->second : nullptr;
}

/// Returns whether a half of a coalesced set has ended with its peer: the set stays pending until all of them have.
bool has_ended(const Job& job, int rank, const Half& half) {
  const Call& call = job.rank(rank).dump->calls[half.call];
  const Call* const other = are_whole(job, rank, half.peer)
                                ? other_half_of(job, rank, half.group, call, half.peer)
                                : other_half_by_number(job, rank, half);
  return other != nullptr && !other->is_pending();
}

/// Returns whether two halves have the same tag, as a receive needs. An unknown tag fits every other one.
bool do_tags_fit(const Job& job, int rank, const Half& half, const Half& other) {
  const auto tag_of = [&](int whose, const Half& one) {
    return job.signature(job.rank(whose).dump->calls[one.call]).tag;
  };
  const int mine = tag_of(rank, half);
  const int theirs = tag_of(half.peer, other);
  return mine < 0 || theirs < 0 || mine == theirs;
}

/// Returns whether the peer is blocked in the other half of a transfer. Otherwise that half does not arrive, because
/// transfers of a rank run in order: one that is enqueued after another call does not run before that call.
bool is_met(const Job& job, const WaitState& wait_state, int rank, const Half& half) {
  const auto& theirs = wait_state.blocks[static_cast<std::size_t>(half.peer)];
  if (!theirs || !theirs->is_p2p || theirs->group != half.group) return false;
  const std::vector<Half> others = halves_at(job, half.peer, *theirs);
  return std::any_of(others.begin(), others.end(), [&](const Half& other) {
    return other.peer == rank && other.is_send != half.is_send &&
           do_tags_fit(job, rank, half, other);
  });
}

/// Finds the call in which each rank is blocked. After an error in some rank, also the calls in which ranks have most
/// likely failed.
void find_blocks(const Job& job, WaitState& wait_state) {
  bool is_after_error = false;
  for (int r = 0; r < job.world(); ++r) {
    wait_state.blocks.push_back(block_of(job, r));
    const auto& block = wait_state.blocks.back();
    is_after_error = is_after_error || (block && block->is_guess);
  }
  if (!is_after_error) return;
  for (int r = 0; r < job.world(); ++r) {
    auto& block = wait_state.blocks[static_cast<std::size_t>(r)];
    if (!block) block = block_with_unseen(job, r);
  }
}

/// Adds the waits in collectives: a blocked rank waits for the members that are absent, or held in another call. Members
/// without a dump may have made the call; they count only if nothing else explains the wait.
void add_waits_in_collectives(const Job& job, WaitState& wait_state) {
  std::map<std::pair<int, std::uint32_t>, std::vector<int>> at;  // ranks by group and sequence
  for (int r = 0; r < job.world(); ++r) {
    const auto& block = wait_state.blocks[static_cast<std::size_t>(r)];
    if (block && !block->is_p2p) at[{block->group, block->sequence}].push_back(r);
  }
  std::size_t first = 0;  // of the group's fronts
  for (auto& [key, waiting] : at) {
    const bool is_new_group =
        wait_state.fronts.empty() || wait_state.fronts.back().group != key.first;
    if (is_new_group) first = wait_state.fronts.size();
    if (wait_state.fronts.size() - first >= kMostFronts) {
      for (const int r : waiting) {
        wait_state.waits[static_cast<std::size_t>(r)] = wait_state.fronts[first].waiting;
      }
      continue;
    }
    Front front = front_at(job, key.first, key.second);
    front.waiting = std::move(waiting);
    std::vector<int> held;
    add_held(job, wait_state, front, held);
    for (const int r : front.waiting) {
      std::vector<int>& targets = wait_state.waits[static_cast<std::size_t>(r)];
      targets = front.absent;
      targets.insert(targets.end(), held.begin(), held.end());
      std::sort(targets.begin(), targets.end());
      if (targets.empty()) {
        targets = front.unseen;
      } else {
        wait_state.may_wait[static_cast<std::size_t>(r)] = front.unseen;
      }
    }
    wait_state.fronts.push_back(std::move(front));
  }
}

/// Adds the waits in transfers: a blocked rank waits for the peers that are not blocked in the other half.
void add_waits_in_transfers(const Job& job, WaitState& wait_state) {
  for (int r = 0; r < job.world(); ++r) {
    auto& block = wait_state.blocks[static_cast<std::size_t>(r)];
    if (!block || !block->is_p2p) continue;
    std::vector<int>& targets = wait_state.waits[static_cast<std::size_t>(r)];
    const std::vector<Half> halves = halves_at(job, r, *block);
    for (const Half& half : halves) {
      if (half.peer < 0 || is_met(job, wait_state, r, half)) continue;
      if (halves.size() > 1 && job.rank(half.peer).dump != nullptr && has_ended(job, r, half))
        continue;
      targets.push_back(half.peer);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    if (!targets.empty()) block->peer = targets.front();
  }
}

}  // namespace

bool has_gone_on(const Job& job, int rank, const Block& block) {
  if (!block.is_p2p) return false;
  const RankDump& dump = *job.rank(rank).dump;
  return dump.reason.find(kLeftWithoutReceiving) != std::string::npos ||
         std::any_of(dump.calls.begin() + block.call + 1, dump.calls.end(), [](const Call& call) {
           return !call.is_p2p && call.state == CallState::Completed;
         });
}

const Front* WaitState::front_of(int rank) const {
  const auto& block = blocks[static_cast<std::size_t>(rank)];
  if (!block || block->is_p2p) return nullptr;
  for (const Front& front : fronts) {
    if (front.group == block->group && front.sequence == block->sequence) return &front;
  }
  return nullptr;
}

WaitState wait_state_of(const Job& job) {
  WaitState wait_state;
  const auto world = static_cast<std::size_t>(job.world());
  wait_state.waits.resize(world);
  wait_state.may_wait.resize(world);
  find_blocks(job, wait_state);
  add_waits_in_collectives(job, wait_state);
  add_waits_in_transfers(job, wait_state);
  return wait_state;
}

const Call* other_half_of(const Job& job, int rank, int group, const Call& call, int peer) {
  const GroupCalls* own = job.calls(rank, group);
  const GroupCalls* theirs = job.calls(peer, group);
  if (own == nullptr || theirs == nullptr || !are_whole(job, rank, peer)) return nullptr;
  const bool sends = is_send(job, call);
  std::ptrdiff_t before = 0;
  for (const std::uint32_t index : own->transfers) {
    const Call& other = job.rank(rank).dump->calls[index];
    if (&other == &call) break;
    if (is_send(job, other) == sends && peer_of(job, rank, group, other) == peer) ++before;
  }
  for (const std::uint32_t index : theirs->transfers) {
    const Call& other = job.rank(peer).dump->calls[index];
    if (is_send(job, other) == sends || peer_of(job, peer, group, other) != rank) continue;
    if (before-- == 0) return &other;
  }
  return nullptr;
}

}  // namespace ringside::hang
