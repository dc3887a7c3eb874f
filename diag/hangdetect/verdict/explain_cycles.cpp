#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/wait_graph.h"

namespace ringside::hang {
namespace {

std::string standing_text(const Scene& scene, int rank) {
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
  if (!block) return fmt::format("rank {}", rank);
  const Call& call = scene.job.rank(rank).dump->calls[block->call];
  return fmt::format("rank {} in {} waits for {}", rank, call_title(scene.job, block->group, call),
                     ranks_text(scene.standing.waits[static_cast<std::size_t>(rank)]));
}

/// How unusual the least usual of the rank's newest calls is: those from a little before the one that it
/// stands at.
std::optional<double> least_usual(const Scene& scene, int rank, std::size_t block) {
  constexpr std::size_t kBefore = 32;
  constexpr std::size_t kBehind = 4;
  const RankView& view = scene.job.rank(rank);
  // At the beginning of a history there is too little before a call to tell what is due.
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

/// Those of `ranks` that made a call which nobody makes after the same calls before, where they stand
/// out.
std::vector<int> unusual(const Scene& scene, const std::vector<int>& ranks) {
  std::vector<int> odd;
  std::size_t usual = 0;
  for (const int rank : ranks) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!block) continue;
    const auto share = least_usual(scene, rank, block->call);
    if (!share) continue;
    if (*share < 0.1) {
      odd.push_back(rank);
    } else if (*share >= 0.2) {
      ++usual;
    }
  }
  std::sort(odd.begin(), odd.end());
  return usual > 0 ? odd : std::vector<int>{};
}

bool is_transfer(const Scene& scene, const std::vector<int>& ranks) {
  return !ranks.empty() && std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    return block && block->is_p2p;
  });
}

Explanation explain_cycle(const Scene& scene, const WaitCycle& cycle) {
  Explanation out;
  const std::vector<int>& suspects = cycle.breakers.empty() ? cycle.shortest : cycle.breakers;
  const std::vector<int> odd = unusual(scene, suspects.size() == 1 ? cycle.ranks : suspects);
  out.kind = is_transfer(scene, cycle.shortest) ? Kind::P2pUnmatched : Kind::DeadlockCycle;
  if (suspects.size() == 1) {
    out.culprits = suspects;
    out.confidence = odd == suspects ? 0.88 : 0.8;
    out.why = fmt::format("{} is in every circle of waiting: the others only wait for it",
                          ranks_text(out.culprits));
  } else if (!odd.empty()) {
    out.culprits = odd;
    out.confidence = 0.7;
    out.why = fmt::format(
        "{} wait for each other in a circle; only {} made another call than after the same calls "
        "before",
        ranks_text(suspects), ranks_text(odd));
  } else {
    out.culprits = suspects;
    std::sort(out.culprits.begin(), out.culprits.end());
    out.confidence = 0.55;
    out.why =
        fmt::format("{} wait for each other in a circle, and nothing tells who left the order",
                    ranks_text(out.culprits));
    out.missing.push_back("the source around the stacks below: which order of calls was meant");
  }
  const bool has_log_only =
      std::any_of(cycle.shortest.begin(), cycle.shortest.end(), [&](int rank) {
        return scene.job.rank(rank).dump == nullptr || scene.job.rank(rank).is_from_log;
      });
  if (has_log_only) {
    out.confidence = std::min(out.confidence, 0.5);
    out.missing.push_back("dumps of the ranks of the circle that have left a log only");
  }
  for (const int rank : cycle.shortest) {
    if (out.details.size() < 16) out.details.push_back(standing_text(scene, rank));
  }
  const int first = out.culprits.front();
  for (const int rank : cycle.shortest) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!block || out.evidence.size() >= 16) continue;
    const Call& call = scene.job.rank(rank).dump->calls[block->call];
    out.evidence.push_back(
        evidence_of(scene.job, rank, call, call_title(scene.job, block->group, call)));
  }
  if (const auto& block = scene.standing.blocks[static_cast<std::size_t>(first)]) {
    const Call& call = scene.job.rank(first).dump->calls[block->call];
    out.call = call_title(scene.job, block->group, call);
    out.stack = scene.job.names().stack(call.stack);
  }
  return out;
}

/// Everybody waits, in the end, for ranks that stand in transfers whose other end nothing tells: a log's line
/// of a send or receive has no peer.
std::optional<Explanation> explain_lone_transfers(const Scene& scene) {
  std::vector<int> blocked;
  for (std::size_t r = 0; r < scene.standing.blocks.size(); ++r) {
    if (scene.standing.blocks[r]) blocked.push_back(static_cast<int>(r));
  }
  std::vector<int> ends;
  for (const int head : heads_of(scene.standing.waits, blocked)) {
    if (head >= scene.job.world()) return std::nullopt;
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(head)];
    if (!block || !block->is_p2p || block->peer >= 0) return std::nullopt;
    ends.push_back(head);
  }
  constexpr std::size_t kMost = 4;  // more ends than two transfers have are no pair that disagrees
  if (ends.empty() || ends.size() > kMost) return std::nullopt;
  Explanation out;
  out.kind = Kind::P2pUnmatched;
  // One that waits alone is whom somebody left waiting.
  const bool is_alone = blocked.size() == 1;
  if (!is_alone) out.culprits = ends;
  out.confidence = is_alone ? confidence::kLoneTransfer : confidence::kTransferEnds;
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(ends.front())];
  const Call& call = scene.job.rank(ends.front()).dump->calls[block->call];
  out.call = call_title(scene.job, block->group, call);
  out.stack = scene.job.names().stack(call.stack);
  out.why = fmt::format("{} in a transfer{}; a log's line leaves out the peer",
                        ranks_that(ends, "stands", "stand"),
                        is_alone ? ", and whoever should make its other half did not"
                                 : ", and all others wait for that");
  out.evidence.push_back(evidence_of(scene.job, ends.front(), call, "waits: " + out.call));
  out.missing.push_back("Flight Recorder dumps of " + ranks_text(ends));
  return out;
}

}  // namespace

std::vector<Explanation> explain_cycles(const Scene& scene) {
  std::vector<Explanation> found;
  if (auto lone = explain_lone_transfers(scene)) found.push_back(*std::move(lone));
  for (const WaitCycle& cycle : wait_cycles(scene.standing.waits)) {
    found.push_back(explain_cycle(scene, cycle));
  }
  return found;
}

}  // namespace ringside::hang
