#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/progress.h"

namespace ringside::hang {
namespace {

bool has_root(Op op) {
  return op == Op::Broadcast || op == Op::Reduce || op == Op::Gather || op == Op::Scatter;
}

/// Lines of logs alone, and none says who is a member: those that speak may be all, or not.
void doubt_members(const Front& front, Explanation& out) {
  const bool are_first = front.unseen.empty() && front.waiting.size() >= 2 &&
                         front.waiting.front() == 0 &&
                         front.waiting.back() + 1 == static_cast<int>(front.waiting.size());
  out.confidence = std::min(out.confidence, confidence::kStallUnsure);
  out.why = fmt::format(
      "{} entered {}{}, and it does not end: if nobody else is a member of its group, no rank is "
      "to blame, and the transport or a GPU stands still",
      ranks_that(front.waiting, "has", "have"), out.call,
      front.waiting.size() > 1 ? " with equal arguments" : "");
  out.missing.insert(out.missing.begin(), "how many ranks the job has, and the logs of all");
  if (!are_first) {
    // Of one rank alone not even that can be said.
    if (front.waiting.size() == 1)
      out.why = fmt::format(
          "rank {} has entered {}, and it does not end; who else is in its group, no "
          "line here says",
          front.waiting.front(), out.call);
    out.kind = Kind::Unknown;
    out.confidence = std::min(out.confidence, confidence::kSequenceParted);
  }
}

/// Ranks that time out in different calls of one group, as lines of logs tell it: they have not made as many. Only what
/// they called before would tell who is wrong, unless few are behind.
std::optional<Explanation> out_of_step(const Scene& scene, const Front& front,
                                       const std::vector<int>& ahead) {
  constexpr std::uint32_t kFar = 64;  // counts of other groups may be anywhere
  if (ahead.empty() || has_dumps(scene.job)) return std::nullopt;
  const Call& call = *scene.job.find(front.waiting.front(), front.group, front.sequence);
  const Signature& signature = scene.job.signature(call);
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  for (const int rank : ahead) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!block || block->group != front.group || block->is_p2p) return std::nullopt;
    const Call& theirs = scene.job.rank(rank).dump->calls[block->call];
    const Signature& other = scene.job.signature(theirs);
    const bool is_same = signature.name.empty() || other.name.empty() || signature.op == other.op;
    if (!is_same || theirs.sequence > front.sequence + kFar) return std::nullopt;
    first = first == 0 ? theirs.sequence : std::min(first, theirs.sequence);
    last = std::max(last, theirs.sequence);
  }
  // Who has enqueued what the others wait in has come to it.
  bool is_said = true;
  for (const int rank : front.waiting) {
    const Call& own = *scene.job.find(rank, front.group, front.sequence);
    for (const GroupStatus& status : scene.job.rank(rank).dump->statuses) {
      if (status.pg != own.pg) continue;
      is_said = is_said && status.is_said;
      if (status.is_said && status.enqueued >= std::int64_t{first}) return std::nullopt;
    }
  }
  // Through a call with a root one goes while another has not come.
  if (is_said && !signature.name.empty() && !needs_everybody(signature.op)) return std::nullopt;
  Explanation out;
  out.kind = Kind::DivergedControlFlow;
  const bool are_few = is_said && front.waiting.size() * 4 <= front.waiting.size() + ahead.size();
  if (are_few) out.culprits = front.waiting;
  out.confidence = are_few ? confidence::kFewOutOfStep : confidence::kOutOfStep;
  out.call = call_title(scene.job, front.group, call);
  out.why = fmt::format(
      "ranks are out of step, {} in {} and {} in call {}: they have made different numbers of "
      "calls, by a branch, a loop's length or a batch that differs between them",
      ranks_text(front.waiting), out.call, ranks_text(ahead), last);
  for (const int rank : {front.waiting.front(), ahead.front()}) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!block) continue;
    const Call& own = scene.job.rank(rank).dump->calls[block->call];
    out.evidence.push_back(
        evidence_of(scene.job, rank, own, "waits: " + call_title(scene.job, block->group, own)));
  }
  out.missing.push_back("Flight Recorder dumps of all ranks: the first call in which they differ");
  return out;
}

/// By lines of logs alone, all but few have ended a call that none can end alone, and wait in a later one for those few.
std::optional<Explanation> behind(const Scene& scene, const Front& front,
                                  const std::vector<int>& ahead) {
  const bool are_few = front.waiting.size() * 4 <= front.waiting.size() + ahead.size();
  if (!are_few || has_dumps(scene.job)) return std::nullopt;
  const Call& call = *scene.job.find(front.waiting.front(), front.group, front.sequence);
  const Signature& signature = scene.job.signature(call);
  if (!signature.name.empty() && !needs_everybody(signature.op)) return std::nullopt;
  const Call* later = nullptr;
  for (const int rank : ahead) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!block || block->group != front.group || block->is_p2p) return std::nullopt;
    const Call& theirs = scene.job.rank(rank).dump->calls[block->call];
    if (later != nullptr && later->sequence != theirs.sequence) return std::nullopt;
    later = &theirs;
  }
  if (later == nullptr || later->sequence != front.sequence + 1) return std::nullopt;
  Explanation out;
  out.kind = Kind::MissingRank;
  out.culprits = front.waiting;
  out.confidence = confidence::kFewBehind;
  out.call = call_title(scene.job, front.group, call);
  const std::string next = call_title(scene.job, front.group, *later);
  out.why = fmt::format(
      "{} in {}, which {} ended, and these wait in {}: it is one call behind, or its GPU or stream "
      "has not ended what is over for the others",
      ranks_that(front.waiting, "stands", "stand"), out.call, ranks_that(ahead, "has", "have"),
      next);
  out.evidence.push_back(evidence_of(scene.job, front.waiting.front(), call, "waits: " + out.call));
  out.evidence.push_back(evidence_of(scene.job, ahead.front(), *later, "waits: " + next));
  out.missing.push_back("the stack and the kernel's log (Xid) of " + ranks_text(front.waiting));
  return out;
}

/// All have come, all called the same, and it does not end.
Explanation stalled(const Scene& scene, const Front& front) {
  Explanation out;
  const int rank = front.waiting.front();
  const Call* call = scene.job.find(rank, front.group, front.sequence);
  const Signature& signature = scene.job.signature(*call);
  out.call = call_title(scene.job, front.group, *call);
  out.stack = scene.job.names().stack(call->stack);
  std::vector<int> gone;
  std::set_difference(front.entered.begin(), front.entered.end(), front.waiting.begin(),
                      front.waiting.end(), std::back_inserter(gone));
  out.details.push_back(fmt::format("{} in {}: {}", ranks_that(front.waiting, "waits", "wait"),
                                    out.call, call_text(signature)));
  auto parted = out_of_step(scene, front, gone);
  if (parted && !parted->culprits.empty()) return *std::move(parted);
  if (auto few = behind(scene, front, gone)) return *std::move(few);
  if (parted) return *std::move(parted);
  if (!gone.empty()) out.details.push_back(fmt::format("{} went on", ranks_text(gone)));
  out.evidence.push_back(evidence_of(scene.job, rank, *call, "waits: " + out.call));
  if (has_root(signature.op) && !is_like_nccl(signature.backend)) {
    out.kind = Kind::RootMismatch;
    out.confidence = confidence::kRootUnseen;
    out.why = fmt::format(
        "every member made {} with equal sizes, and {} did not end it: ranks that do not agree on "
        "the "
        "root look like this, and recorders do not keep the root",
        out.call, ranks_text(front.waiting));
    out.missing.push_back("NCCL_DEBUG_SUBSYS=COLL, whose lines show the root that each rank gave");
    return out;
  }
  out.kind = Kind::NetworkStall;
  out.confidence = front.unseen.empty() ? confidence::kStall : confidence::kStallSomeUnseen;
  out.why = fmt::format(
      "{} entered {} with equal arguments, and it does not end: no rank is to blame, the "
      "transport or a GPU stands still",
      front.unseen.empty() ? "every member has"
                           : fmt::format("all {} members with a dump have", front.entered.size()),
      out.call);
  out.missing.push_back(
      "port counters, `ncclras -v` twice some seconds apart, and NCCL's WARN lines: which "
      "connection");
  if (!front.unseen.empty()) out.missing.push_back("dumps of " + ranks_text(front.unseen));
  const bool is_from_log = scene.job.rank(rank).is_from_log && !has_dumps(scene.job);
  if (is_from_log && (!scene.is_world_known || !front.unseen.empty())) doubt_members(front, out);
  return out;
}

Explanation stuck(const Scene& scene, const std::vector<int>& ranks) {
  Explanation out;
  out.kind = Kind::DeadRank;
  out.culprits = ranks;
  out.confidence = confidence::kStuckDevice;
  const int first = ranks.front();
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(first)];
  const Call& call = scene.job.rank(first).dump->calls[block->call];
  out.call = call_title(scene.job, block->group, call);
  out.stack = scene.job.names().stack(call.stack);
  out.why = fmt::format(
      "on {} calls are still pending, {} first, that the other members ended long ago and could "
      "not "
      "have ended alone: the GPU there, or the thread that watches it, stands still",
      ranks_text(ranks), out.call);
  if (scene.job.rank(first).dump->version == "trace") {
    out.why = fmt::format(
        "{} wrote nothing more into the trace, {} last, while the others went on and then waited: "
        "the "
        "process was gone or stood still",
        ranks_text(ranks), out.call);
    // Nobody gave up: how long they waited when the job was ended is not in the trace.
    out.confidence = confidence::kStuckInTrace;
  }
  for (const int rank : ranks) {
    const auto& one = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!one || out.evidence.size() >= 8) continue;
    const Call& theirs = scene.job.rank(rank).dump->calls[one->call];
    out.evidence.push_back(evidence_of(scene.job, rank, theirs,
                                       "pending: " + call_title(scene.job, one->group, theirs)));
  }
  out.missing.push_back(fmt::format("the kernel log (Xid lines) and nvidia-smi of the hosts of {}",
                                    ranks_text(ranks)));
  return out;
}

/// Both ends stand at the halves of one transfer, and it does not end.
Explanation stalled_transfer(const Scene& scene, int rank, int peer) {
  Explanation out;
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
  const Call& call = scene.job.rank(rank).dump->calls[block->call];
  out.kind = Kind::NetworkStall;
  out.confidence = confidence::kStalledTransfer;
  out.call = call_title(scene.job, block->group, call);
  out.stack = scene.job.names().stack(call.stack);
  out.why = fmt::format(
      "{} stand at the two ends of one transfer, {}, and it does not end: the connection between "
      "them, or a GPU, stands still",
      ranks_text({std::min(rank, peer), std::max(rank, peer)}), out.call);
  out.evidence.push_back(evidence_of(scene.job, rank, call, "waits: " + out.call));
  out.missing.push_back(fmt::format(
      "port counters of the hosts of ranks {} and {}, and NCCL's WARN lines", rank, peer));
  return out;
}

/// The two ends of one transfer, and what each gives it.
struct TwoEnds {
  int rank = -1, peer = -1;
  const Call* call = nullptr;
  const Call* other = nullptr;
};

/// Both ends stand at one transfer, of two lengths or types: NCCL waits for what never comes. Of the two the one is to
/// blame that calls what it does not use to call.
std::optional<Explanation> unequal_transfer(const Scene& scene, const TwoEnds& ends) {
  const Signature& mine = scene.job.signature(*ends.call);
  const Signature& theirs = scene.job.signature(*ends.other);
  const bool is_length = mine.input_count != theirs.input_count;
  if (!is_length && mine.types == theirs.types) return std::nullopt;
  const auto usual = [&](int rank, const Call* call) {
    const auto index = static_cast<std::size_t>(call - scene.job.rank(rank).dump->calls.data());
    return scene.habits.usual(rank, index).value_or(0.5);
  };
  constexpr double kClearly = 0.25;
  const double lead = usual(ends.rank, ends.call) - usual(ends.peer, ends.other);
  const int odd = lead < -kClearly ? ends.rank : lead > kClearly ? ends.peer : -1;
  Explanation out;
  out.kind = is_length ? Kind::ShapeMismatch : Kind::DtypeMismatch;
  out.confidence = odd >= 0 ? confidence::kUnequalEnds : confidence::kUnequalEndsTie;
  if (odd >= 0) out.culprits = {odd};
  out.call = call_title(
      scene.job, scene.standing.blocks[static_cast<std::size_t>(ends.rank)]->group, *ends.call);
  out.why = fmt::format("the two ends of {} differ: rank {} calls {}, rank {} calls {}", out.call,
                        ends.rank, call_text(mine), ends.peer, call_text(theirs));
  out.why += odd >= 0 ? fmt::format("; rank {} does not use to call that there", odd)
                      : "; nothing tells which of them is wrong";
  out.evidence.push_back(evidence_of(scene.job, ends.rank, *ends.call, call_text(mine)));
  out.evidence.push_back(evidence_of(scene.job, ends.peer, *ends.other, call_text(theirs)));
  return out;
}

/// What two ranks give to the transfer that one of them stands at, where that differs. Where the dumps do not show which
/// calls belong together, it is those at which both stand.
std::optional<Explanation> unequal_ends(const Scene& scene, int rank, int peer) {
  const auto call_of = [&](int one) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(one)];
    return &scene.job.rank(one).dump->calls[block->call];
  };
  const int group = scene.standing.blocks[static_cast<std::size_t>(rank)]->group;
  const TwoEnds both{rank, peer, call_of(rank), call_of(peer)};
  const Call* const other = other_half_of(scene.job, rank, group, *both.call, peer);
  const Call* const call = other_half_of(scene.job, peer, group, *both.other, rank);
  if (other == nullptr && call == nullptr) return unequal_transfer(scene, both);
  if (other != nullptr) {
    if (auto unequal = unequal_transfer(scene, {rank, peer, both.call, other})) return unequal;
  }
  if (call == nullptr) return std::nullopt;
  return unequal_transfer(scene, {rank, peer, call, both.other});
}

/// The ends of every such transfer, the lower rank first.
std::vector<std::pair<int, int>> met_transfers(const Standing& standing) {
  std::vector<std::pair<int, int>> met;
  for (std::size_t r = 0; r < standing.blocks.size(); ++r) {
    const auto& block = standing.blocks[r];
    if (!block || !block->is_p2p || block->peer < 0 || !standing.waits[r].empty()) continue;
    const int rank = static_cast<int>(r);
    const auto& theirs = standing.blocks[static_cast<std::size_t>(block->peer)];
    const bool waits_for_nobody = standing.waits[static_cast<std::size_t>(block->peer)].empty();
    const bool is_transfer = theirs && theirs->is_p2p && theirs->group == block->group;
    if (is_transfer && waits_for_nobody && rank < block->peer) {
      met.emplace_back(rank, block->peer);
    }
  }
  return met;
}

}  // namespace

std::vector<Explanation> explain_stalls(const Scene& scene) {
  std::vector<Explanation> found;
  const std::vector<int> devices = stuck_devices(scene.job, scene.standing);
  if (!devices.empty()) {
    found.push_back(stuck(scene, devices));
    return found;
  }
  for (const Front& front : scene.standing.fronts) {
    // Few dumps of a large group state nothing of the others: explain_absence() says so.
    const bool is_mostly_unseen = has_dumps(scene.job) && front.unseen.size() > 1 &&
                                  front.unseen.size() >= front.entered.size();
    const bool nobody_away = front.absent.empty() && !is_mostly_unseen;
    const bool holds_itself =
        std::all_of(front.waiting.begin(), front.waiting.end(), [&](int rank) {
          const auto& waits = scene.standing.waits[static_cast<std::size_t>(rank)];
          return waits.empty() || waits == front.unseen;
        });
    // Where only a status tells of a call, its name is not known, and nothing differs.
    if (nobody_away && holds_itself && !front.waiting.empty() &&
        sides_of(scene.job, front).size() <= 1) {
      found.push_back(stalled(scene, front));
    }
  }
  for (const auto& [rank, peer] : met_transfers(scene.standing)) {
    if (found.size() >= 8) break;
    auto unequal = unequal_ends(scene, rank, peer);
    found.push_back(unequal ? *std::move(unequal) : stalled_transfer(scene, rank, peer));
  }
  return found;
}

}  // namespace ringside::hang
