#include <algorithm>
#include <optional>
#include <utility>

#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/scene.h"
#include "diag/hangdetect/verdict/wait_graph.h"

namespace ringside::hang {
namespace {

/// Returns the probability of the least usual of the rank's newest calls, starting shortly before the call in which it
/// is blocked.
std::optional<double> least_usual(const Scene& scene, int rank, std::size_t block) {
  // Chosen: a wrong call blocks its rank within a layer's calls or a few transfers of a pipeline.
  constexpr std::size_t kBefore = 32;  // calls before the blocked one
  constexpr std::size_t kBehind = 4;   // calls from the blocked one on
  const RankView& view = scene.job.rank(rank);
  // At the beginning of a history there are too few earlier calls to predict the next one.
  constexpr std::size_t kBegins = 8;
  const std::size_t begins = block > 2 * kBegins ? kBegins : 0;
  const std::size_t first = std::max(begins, block > kBefore ? block - kBefore : 0);
  const std::size_t end = std::min(view.dump->calls.size(), block + kBehind);
  std::optional<double> least;
  for (std::size_t i = first; i < end; ++i) {
    if (view.group_of_call[i] < 0) continue;
    if (const auto share = scene.habits.usual(rank, i)) least = std::min(least.value_or(1), *share);
  }
  return least;
}

/// Returns the ranks whose newest calls seldom follow the calls before them; none, unless the calls of another rank are
/// usual.
std::vector<int> unusual(const Scene& scene, const std::vector<int>& ranks) {
  // Chosen: a call that follows in one step of ten is rare, one that follows in every fifth step is not. A rank whose share
  // is between the limits counts as neither.
  constexpr double kUnusual = 0.1, kUsual = 0.2;
  std::vector<int> odd;
  std::size_t usual = 0;
  for (const int rank : ranks) {
    const auto& block = scene.block(rank);
    if (!block) continue;
    const auto share = least_usual(scene, rank, block->call);
    if (!share) continue;
    if (*share < kUnusual) {
      odd.push_back(rank);
    } else if (*share >= kUsual) {
      ++usual;
    }
  }
  std::sort(odd.begin(), odd.end());
  return usual > 0 ? odd : std::vector<int>{};
}

/// Of two ranks that wait for each other, returns the one that sends a transfer with a later tag than the other waits
/// for, after sending earlier ones and never that one.  returns  -1: neither
int passed_over(const Scene& scene, const std::vector<int>& two) {
  if (two.size() != 2) return -1;
  for (const bool is_first : {true, false}) {
    const int sender = two[is_first ? 0 : 1], receiver = two[is_first ? 1 : 0];
    const auto& sends = scene.block(sender);
    const auto& waits = scene.block(receiver);
    const bool are_transfers = sends && waits && sends->is_p2p && waits->is_p2p &&
                               sends->peer == receiver && waits->peer == sender;
    if (!are_transfers) continue;
    const Signature& sent = scene.job.signature(scene.call_of(sender));
    const Signature& due = scene.job.signature(scene.call_of(receiver));
    if (sent.op != Op::Send || due.op != Op::Recv || due.tag < 0 || sent.tag <= due.tag) continue;
    bool has_earlier = false;
    bool has_due = false;
    for (const Call& call : scene.job.rank(sender).dump->calls) {
      const Signature& one = scene.job.signature(call);
      if (one.op != Op::Send || one.target != sent.target) continue;
      has_earlier = has_earlier || (one.tag >= 0 && one.tag < due.tag);
      has_due = has_due || one.tag == due.tag || one.tag < 0;
    }
    if (has_earlier && !has_due) return sender;
  }
  return -1;
}

/// Returns whether all ranks of a ring send, or all receive: no half is matched, and every half would be if one rank
/// began with the other half.
bool is_ring_of_one_half(const Scene& scene, const std::vector<int>& ranks) {
  const auto are_all = [&](Op op) {
    return std::ranges::all_of(ranks, [&](int rank) {
      return scene.block(rank) && scene.job.signature(scene.call_of(rank)).op == op;
    });
  };
  return ranks.size() > 2 && (are_all(Op::Send) || are_all(Op::Recv));
}

/// Returns the rank that makes a transfer too many: it is in a transfer, and the others wait for it together in a
/// collective.  returns  -1: there is no such rank
int in_transfer_too_many(const Scene& scene, const std::vector<int>& ranks) {
  constexpr std::size_t kTogether = 2;  // ranks in the collective
  std::vector<int> in_transfer;
  std::size_t together = 0;
  for (const int rank : ranks) {
    const Front* front = scene.wait_state.front_of(rank);
    if (front == nullptr) in_transfer.push_back(rank);
    if (front != nullptr) together = std::max(together, front->waiting.size());
  }
  return in_transfer.size() == 1 && together >= kTogether ? in_transfer.front() : -1;
}

/// Adds where each rank of the cycle waits, and the call of the first culprit.
void add_calls(const Scene& scene, const std::vector<int>& ranks, Explanation& out) {
  constexpr std::size_t kShown = 16;
  for (const int rank : ranks) {
    if (!scene.block(rank) || out.places.size() >= kShown) continue;
    const Call& call = scene.call_of(rank);
    const std::string title = call_title(scene.job, scene.block(rank)->group, call);
    out.places.push_back({{rank}, "", title, scene.waits(rank)});
    out.evidence.push_back(evidence_of(scene.job, rank, call, title));
  }
  if (const int first = out.culprits.front(); scene.block(first)) {
    const Call& call = scene.call_of(first);
    out.call = call_title(scene.job, scene.block(first)->group, call);
    out.stack = scene.job.names().stack(call.stack);
  }
}

Explanation explain_cycle(const Scene& scene, const WaitCycle& cycle) {
  const std::vector<int>& suspects = cycle.breakers.empty() ? cycle.shortest : cycle.breakers;
  const bool is_one = suspects.size() == 1;
  const std::vector<int> odd = unusual(scene, is_one ? cycle.ranks : suspects);
  const bool has_transfer = std::ranges::any_of(
      cycle.shortest, [&](int rank) { return scene.block(rank) && scene.block(rank)->is_p2p; });
  const bool has_log_only = std::ranges::any_of(cycle.shortest, [&](int rank) {
    return scene.is_unseen(rank) || scene.job.rank(rank).is_from_log;
  });
  Explanation out;
  out.kind = has_transfer && !is_ring_of_one_half(scene, cycle.shortest) ? Kind::P2pUnmatched
                                                                         : Kind::DeadlockCycle;
  out.features = {Feature::Cycle};
  // The culprits: a rank that skipped a transfer, then one in a transfer too many, then ranks with unusual calls. Dumps
  // also contain earlier calls, which identify a rank that breaks every cycle or makes an unusual call.
  out.culprits = !is_one && !odd.empty() ? odd : suspects;
  const bool is_distinguished = is_one || !odd.empty();
  const int too_many =
      !is_distinguished || has_log_only ? in_transfer_too_many(scene, cycle.shortest) : -1;
  if (too_many >= 0) {
    out.culprits = {too_many};
    out.add(Feature::FewOfMany);
  }
  const int skipper = passed_over(scene, cycle.shortest);
  if (skipper >= 0) out.culprits = {skipper};
  std::sort(out.culprits.begin(), out.culprits.end());
  if (is_one) out.add(Feature::OneBreaks);
  if (skipper >= 0 || (is_one ? odd == suspects : !odd.empty())) out.add(Feature::ByHabit);
  if (!out.has(Feature::OneBreaks) && !out.has(Feature::ByHabit))
    out.missing.push_back({Need::What::Sources});
  out.others = cycle.shortest;
  if (has_log_only) {
    out.add(Feature::ByLogsAlone);
    out.missing.push_back({Need::What::Dumps, cycle.shortest});
  }
  add_calls(scene, cycle.shortest, out);
  return out;
}

/// All chains of waits end at ranks in transfers whose other end is unknown, because a log's line of a send or receive
/// contains no peer.
std::optional<Explanation> explain_transfers_without_peer(const Scene& scene) {
  std::vector<int> blocked;
  for (int r = 0; r < scene.job.world(); ++r) {
    if (scene.block(r)) blocked.push_back(r);
  }
  std::vector<int> ends;
  for (const int head : heads_of(scene.wait_state.waits, blocked)) {
    if (head >= scene.job.world()) return std::nullopt;
    const auto& block = scene.block(head);
    if (!block || !block->is_p2p || block->peer >= 0) return std::nullopt;
    ends.push_back(head);
  }
  // More than the ends of two transfers cannot be a pair that disagrees.
  constexpr std::size_t kMost = 4;
  if (ends.empty() || ends.size() > kMost) return std::nullopt;
  Explanation out;
  out.kind = Kind::P2pUnmatched;
  out.features = {Feature::LoneTransfer};
  // If one rank waits alone, it is the one that the other rank left waiting.
  if (blocked.size() > 1) out.culprits = ends;
  if (blocked.size() > 1) out.add(Feature::FewOfMany);
  out.waiting = ends;
  const Call& call = scene.call_of(ends.front());
  out.call = call_title(scene.job, scene.block(ends.front())->group, call);
  out.stack = scene.job.names().stack(call.stack);
  out.evidence.push_back(evidence_of(scene.job, ends.front(), call, "waits: " + out.call));
  out.missing.push_back({Need::What::Dumps, ends});
  return out;
}

}  // namespace

void add_cycles(const Scene& scene, Explanations& out) {
  if (auto lone = explain_transfers_without_peer(scene)) out.push_back(*std::move(lone));
  for (const WaitCycle& cycle : wait_cycles(scene.wait_state.waits))
    out.push_back(explain_cycle(scene, cycle));
}

}  // namespace ringside::hang
