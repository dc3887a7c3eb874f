#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/progress.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

/// A front that no absent rank explains, and the members that left it.
struct Stall {
  const Scene& scene;
  const Front& front;
  std::vector<int> ahead;

  [[nodiscard]] const Call& call() const {
    return *scene.job.find(front.waiting.front(), front.group, front.sequence);
  }
  [[nodiscard]] const Signature& signature() const { return scene.job.signature(call()); }
  /// Returns whether at most a quarter of the ranks that made the call wait in it.
  [[nodiscard]] bool are_few() const {
    return front.waiting.size() * 4 <= front.waiting.size() + ahead.size();
  }
  /// Returns whether the rank waits in a later collective of the same group.
  [[nodiscard]] bool waits_later(int rank) const {
    const auto& block = scene.block(rank);
    return block && block->group == front.group && !block->is_p2p;
  }
};

void add_wait(const Stall& stall, int rank, const Call& call, Explanation& out) {
  const std::string title = call_title(stall.scene.job, stall.front.group, call);
  out.evidence.push_back(evidence_of(stall.scene.job, rank, call, "waits: " + title));
}

/// Explains ranks that, by log lines, time out in different calls of one group: they have not made equally many calls.
/// Only their earlier calls would show which rank is wrong, unless few are behind.
std::optional<Explanation> explain_different_calls(const Stall& stall) {
  // Chosen: ranks whose calls are further apart than this are in different groups, whose counts differ by any amount.
  constexpr std::uint32_t kFar = 64;
  const Scene& scene = stall.scene;
  if (stall.ahead.empty() || scene.has_dumps) return std::nullopt;
  const Signature& signature = stall.signature();
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool is_same = true;
  for (const int rank : stall.ahead) {
    if (!stall.waits_later(rank)) return std::nullopt;
    const Call& theirs = scene.call_of(rank);
    const Signature& other = scene.job.signature(theirs);
    is_same = is_same && (signature.name.empty() || other.name.empty() || signature.op == other.op);
    if (theirs.sequence > stall.front.sequence + kFar) return std::nullopt;
    first = first == 0 ? theirs.sequence : std::min(first, theirs.sequence);
    last = std::max(last, theirs.sequence);
  }
  // A rank that has enqueued the call in which the others wait has reached that call.
  bool is_stated = true;
  for (const int rank : stall.front.waiting) {
    const Call& own = *scene.job.find(rank, stall.front.group, stall.front.sequence);
    for (const GroupStatus& status : scene.job.rank(rank).dump->statuses) {
      if (status.pg != own.pg) continue;
      is_stated = is_stated && status.is_stated;
      if (status.is_stated && status.enqueued >= std::int64_t{first}) return std::nullopt;
    }
  }
  // In a rooted call, one rank can finish while another has not arrived.
  if (is_stated && !signature.name.empty() && !needs_everybody(signature.op)) return std::nullopt;
  Explanation out;
  out.kind = Kind::DivergedControlFlow;
  out.features = {Feature::OutOfStep};
  const bool are_few = is_same && is_stated && stall.are_few();
  // Lines without a group may count the calls of two groups.
  if (!is_same) out.add(Feature::Doubtful);
  (are_few ? out.culprits : out.suspects) = stall.front.waiting;
  if (are_few) out.add(Feature::FewOfMany);
  out.waiting = stall.front.waiting;
  out.others = stall.ahead;
  out.call = call_title(scene.job, stall.front.group, stall.call());
  out.count = last;
  for (const int rank : {stall.front.waiting.front(), stall.ahead.front()})
    add_wait(stall, rank, scene.call_of(rank), out);
  out.missing.push_back({Need::What::Dumps});
  return out;
}

/// By log lines alone: all but a few ranks have ended a call that none can end alone, and wait in a later one for
/// these few.
std::optional<Explanation> explain_one_call_behind(const Stall& stall) {
  const Scene& scene = stall.scene;
  if (stall.ahead.empty() || !stall.are_few() || scene.has_dumps) return std::nullopt;
  const Signature& signature = stall.signature();
  if (!signature.name.empty() && !needs_everybody(signature.op)) return std::nullopt;
  const auto is_next = [&](int rank) {
    return stall.waits_later(rank) && scene.call_of(rank).sequence == stall.front.sequence + 1;
  };
  if (!std::ranges::all_of(stall.ahead, is_next)) return std::nullopt;
  Explanation out;
  out.kind = Kind::MissingRank;
  out.features = {Feature::OneCallBehind};
  out.culprits = stall.front.waiting;
  out.waiting = stall.ahead;
  out.call = call_title(scene.job, stall.front.group, stall.call());
  for (const int rank : {stall.front.waiting.front(), stall.ahead.front()})
    add_wait(stall, rank, scene.call_of(rank), out);
  out.missing.push_back({Need::What::Stacks, out.culprits});
  out.missing.push_back({Need::What::KernelLog, out.culprits});
  return out;
}

/// Explains that a few ranks have enqueued nothing after the call in which all wait, while the others have: their
/// hosts are stuck.
std::optional<Explanation> explain_fewer_enqueued(const Stall& stall) {
  const Scene& scene = stall.scene;
  if (scene.has_dumps || !stall.ahead.empty()) return std::nullopt;
  std::vector<int> few;
  // Chosen: a host that still runs enqueues more calls than this in a step, whose calls it enqueues without waiting.
  constexpr std::int64_t kFar = 8;
  std::int64_t least = -1;
  for (const int rank : stall.front.waiting) {
    const Call& own = *scene.job.find(rank, stall.front.group, stall.front.sequence);
    std::int64_t enqueued = -1;
    for (const GroupStatus& status : scene.job.rank(rank).dump->statuses) {
      if (status.pg == own.pg && status.is_stated) enqueued = status.enqueued;
    }
    if (enqueued < 0) return std::nullopt;
    if (enqueued == std::int64_t{own.sequence}) {
      few.push_back(rank);
    } else if (enqueued < std::int64_t{own.sequence} + kFar) {
      return std::nullopt;
    } else {
      least = least < 0 ? enqueued : std::min(least, enqueued);
    }
  }
  if (few.empty() || few.size() * 4 > stall.front.waiting.size()) return std::nullopt;
  Explanation out;
  out.kind = Kind::MissingRank;
  out.features = {Feature::EnqueuedLess};
  out.culprits = few;
  std::ranges::set_difference(stall.front.waiting, few, std::back_inserter(out.waiting));
  out.call = call_title(scene.job, stall.front.group, stall.call());
  out.count = least - std::int64_t{stall.front.sequence};
  add_wait(stall, few.front(),
           *scene.job.find(few.front(), stall.front.group, stall.front.sequence), out);
  out.missing.push_back({Need::What::Stacks, few});
  return out;
}

/// With logs alone: every rank of the job waits, in calls of different groups. Ranks in one call may be missing in
/// another.
std::optional<Explanation> explain_different_groups(const Scene& scene) {
  if (scene.has_dumps || scene.wait_state.fronts.size() < 2) return std::nullopt;
  std::set<int> waiting;
  std::set<std::string> group_kinds;
  Explanation out;
  for (const Front& front : scene.wait_state.fronts) {
    const int rank = front.waiting.front();
    const Call& call = scene.call_of(rank);
    const Group& group = scene.job.group(front.group);
    if (!front.absent.empty()) return std::nullopt;
    group_kinds.insert(group.description.empty() ? group.name : group.description);
    waiting.insert(front.waiting.begin(), front.waiting.end());
    out.places.push_back({front.waiting, "", call_title(scene.job, front.group, call)});
    if (out.evidence.size() < 8)
      out.evidence.push_back(
          evidence_of(scene.job, rank, call, "waits: " + out.places.back().what));
  }
  const bool are_all = static_cast<int>(waiting.size()) == scene.job.world();
  if (group_kinds.size() < 2 || !are_all) return std::nullopt;
  out.kind = Kind::DeadlockCycle;
  out.features = {Feature::GroupsApart};
  out.waiting = {waiting.begin(), waiting.end()};
  out.call = out.places.front().what;
  out.missing.push_back({Need::What::Dumps});
  return out;
}

/// Explains that all members have entered the same call, and that it does not end.
Explanation explain_entered_call(const Stall& stall) {
  const Scene& scene = stall.scene;
  const Front& front = stall.front;
  Explanation out;
  out.features = {Feature::AllEntered};
  out.kind = Kind::NetworkStall;
  out.call = call_title(scene.job, front.group, stall.call());
  out.stack = scene.job.names().stack(stall.call().stack);
  out.waiting = front.waiting;
  out.others = stall.ahead;
  out.places.push_back({front.waiting, "", call_text(stall.signature())});
  add_wait(stall, front.waiting.front(), stall.call(), out);
  if (has_root(stall.signature().op) && !is_like_nccl(stall.signature().backend)) {
    // Ranks with different roots look the same.
    out.kind = Kind::RootMismatch;
    out.add(Feature::RootedCall);
    out.missing.push_back({Need::What::CallLines});
    return out;
  }
  if (!front.unseen.empty()) {
    out.features = {Feature::SeenEntered};
    out.missing.push_back({Need::What::Dumps, front.unseen});
  }
  out.missing.push_back({Need::What::Counters});
  if (scene.has_dumps || !scene.job.rank(front.waiting.front()).is_from_log) return out;
  out.add(Feature::ByLogsAlone);
  if (!scene.is_world_known) {
    // Only ranks that log are visible: they may or may not be all members.
    if (scene.spans_hosts()) {
      out.add(Feature::SpansHosts);
    } else {
      out.kind = Kind::Unknown;
    }
    out.missing.insert(out.missing.begin(), {Need::What::WorldSize});
  }
  return out;
}

/// Explains that the GPUs of `ranks` are stuck: calls are pending on them that ended on the others long ago.
/// shape  ranks: not empty, each blocked
Explanation explain_stuck_device(const Scene& scene, const std::vector<int>& ranks) {
  Explanation out;
  out.kind = Kind::DeadRank;
  out.culprits = ranks;
  out.features = {Feature::DeviceStuck};
  const int first = ranks.front();
  out.call = call_title(scene.job, scene.block(first)->group, scene.call_of(first));
  out.stack = scene.job.names().stack(scene.call_of(first).stack);
  // No rank timed out: a trace does not show how long ranks had waited when the job was ended.
  if (scene.job.rank(first).dump->version == "trace") out.add(Feature::Doubtful);
  for (const int rank : ranks) {
    if (!scene.block(rank) || out.evidence.size() >= 8) continue;
    const Call& call = scene.call_of(rank);
    out.evidence.push_back(
        evidence_of(scene.job, rank, call,
                    "pending: " + call_title(scene.job, scene.block(rank)->group, call)));
  }
  out.missing.push_back({Need::What::KernelLog, ranks});
  return out;
}

/// Explains that both ends are in the two halves of one transfer, and that it does not end.
Explanation explain_stalled_transfer(const Scene& scene, int rank, int peer) {
  Explanation out;
  const Call& call = scene.call_of(rank);
  out.kind = Kind::NetworkStall;
  out.features = {Feature::TransferStalls};
  out.call = call_title(scene.job, scene.block(rank)->group, call);
  out.stack = scene.job.names().stack(call.stack);
  out.waiting = {std::min(rank, peer), std::max(rank, peer)};
  out.evidence.push_back(evidence_of(scene.job, rank, call, "waits: " + out.call));
  out.missing.push_back({Need::What::Counters, out.waiting});
  return out;
}

/// The two ends of one transfer, and the arguments of each.
struct TwoEnds {
  int rank = -1, peer = -1;
  const Call* call = nullptr;
  const Call* other = nullptr;
};

/// Explains that both ends are in one transfer with two lengths or types: NCCL waits for data that never arrives. The
/// culprit is the rank whose call is unusual.
std::optional<Explanation> explain_unequal_transfer(const Scene& scene, const TwoEnds& ends) {
  const Signature& mine = scene.job.signature(*ends.call);
  const Signature& theirs = scene.job.signature(*ends.other);
  const bool is_length = mine.input_count != theirs.input_count;
  if (!is_length && mine.types == theirs.types) return std::nullopt;
  const auto usual = [&](int rank, const Call* call) {
    const auto index = static_cast<std::size_t>(call - scene.job.rank(rank).dump->calls.data());
    return scene.habits.usual(rank, index).value_or(0.5);
  };
  // Chosen: half of the distance between a call of unknown habit (0.5) and one that was never (0) or always (1) made.
  constexpr double kClearly = 0.25;
  const double lead = usual(ends.rank, ends.call) - usual(ends.peer, ends.other);
  const int odd = lead < -kClearly ? ends.rank : lead > kClearly ? ends.peer : -1;
  Explanation out;
  out.kind = is_length ? Kind::ShapeMismatch : Kind::DtypeMismatch;
  out.features = {Feature::EndsDiffer};
  if (odd >= 0) {
    out.culprits = {odd};
    out.add(Feature::ByHabit);
  } else {
    out.suspects = {std::min(ends.rank, ends.peer), std::max(ends.rank, ends.peer)};
  }
  out.call = call_title(scene.job, scene.block(ends.rank)->group, *ends.call);
  out.places = {{{ends.rank}, "", call_text(mine)}, {{ends.peer}, "", call_text(theirs)}};
  if (odd == ends.peer) std::swap(out.places[0], out.places[1]);
  out.evidence.push_back(evidence_of(scene.job, ends.rank, *ends.call, call_text(mine)));
  out.evidence.push_back(evidence_of(scene.job, ends.peer, *ends.other, call_text(theirs)));
  return out;
}

/// Explains a transfer that one of two ranks is in by their arguments for it, if these differ. If the dumps do not
/// show which calls belong together, both ranks' current calls are compared.
std::optional<Explanation> explain_unequal_ends(const Scene& scene, int rank, int peer) {
  const int group = scene.block(rank)->group;
  const TwoEnds both{rank, peer, &scene.call_of(rank), &scene.call_of(peer)};
  const Call* const other = other_half_of(scene.job, rank, group, *both.call, peer);
  const Call* const call = other_half_of(scene.job, peer, group, *both.other, rank);
  if (other == nullptr && call == nullptr) return explain_unequal_transfer(scene, both);
  if (other != nullptr) {
    if (auto unequal = explain_unequal_transfer(scene, {rank, peer, both.call, other}))
      return unequal;
  }
  if (call == nullptr) return std::nullopt;
  return explain_unequal_transfer(scene, {rank, peer, call, both.other});
}

/// Returns the ends of every transfer that both ranks are in, the lower rank first.
std::vector<std::pair<int, int>> met_transfers(const Scene& scene) {
  std::vector<std::pair<int, int>> met;
  for (int rank = 0; rank < scene.job.world(); ++rank) {
    const auto& block = scene.block(rank);
    if (!block || !block->is_p2p || block->peer <= rank || !scene.waits(rank).empty()) continue;
    const auto& theirs = scene.block(block->peer);
    const bool is_transfer = theirs && theirs->is_p2p && theirs->group == block->group;
    if (is_transfer && scene.waits(block->peer).empty()) met.emplace_back(rank, block->peer);
  }
  return met;
}

}  // namespace

void add_stalls(const Scene& scene, Explanations& out) {
  if (const std::vector<int> devices = stuck_devices(scene.job, scene.wait_state);
      !devices.empty()) {
    out.push_back(explain_stuck_device(scene, devices));
    return;
  }
  for (const Front& front : scene.wait_state.fronts) {
    const bool is_unexplained = std::ranges::all_of(front.waiting, [&](int rank) {
      return scene.waits(rank).empty() || scene.waits(rank) == front.unseen;
    });
    // If only a status shows a call, its name is unknown and nothing can be compared.
    const bool is_stall = front.absent.empty() && is_unexplained && !front.waiting.empty() &&
                          sides_of(scene.job, front).size() <= 1;
    if (!is_stall) continue;
    Stall stall{scene, front, {}};
    std::ranges::set_difference(front.entered, front.waiting, std::back_inserter(stall.ahead));
    auto apart = explain_different_calls(stall);
    auto behind = apart && !apart->culprits.empty() ? std::nullopt : explain_one_call_behind(stall);
    if (behind) apart = std::move(behind);
    if (apart) {
      out.push_back(*std::move(apart));
    } else if (front.unseen.empty() || (scene.has_dumps && !scene.has_few_dumps())) {
      // If most members left no dump, or with logs alone, their state is unknown: add_absences() handles it.
      out.push_back(explain_entered_call(stall));
      if (auto less = explain_fewer_enqueued(stall)) out.push_back(*std::move(less));
    }
  }
  if (auto groups = explain_different_groups(scene)) out.push_back(*std::move(groups));
  // Transfers of one stalled pipeline look alike: a report of more of them would not be read.
  constexpr std::size_t kMostTransfers = 8;
  const std::size_t before = out.size();
  for (const auto& [rank, peer] : met_transfers(scene)) {
    if (out.size() - before >= kMostTransfers) break;
    auto unequal = explain_unequal_ends(scene, rank, peer);
    out.push_back(unequal ? *std::move(unequal) : explain_stalled_transfer(scene, rank, peer));
  }
}

void add_unexplained(const Scene& scene, Explanations& out) {
  Explanation one;
  one.features = {Feature::UnclearWait};
  bool is_transfer = true;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (!scene.block(r)) continue;
    one.waiting.push_back(r);
    is_transfer = is_transfer && scene.block(r)->is_p2p;
    const Call& call = scene.call_of(r);
    const std::string title = call_title(scene.job, scene.block(r)->group, call);
    if (one.call.empty()) one.call = title;
    if (one.evidence.size() < 8)
      one.evidence.push_back(evidence_of(scene.job, r, call, "waits: " + title));
  }
  if (one.waiting.empty()) return;
  if (is_transfer) one.kind = Kind::P2pUnmatched;
  one.missing.push_back({Need::What::Dumps});
  out.push_back(std::move(one));
}

}  // namespace ringside::hang
