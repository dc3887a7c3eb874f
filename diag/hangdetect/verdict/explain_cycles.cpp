#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

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

/// Those of `ranks` whose call is the least usual after what was called before, where they stand out.
std::vector<int> unusual(const Scene& scene, const std::vector<int>& ranks) {
  std::vector<std::pair<double, int>> usual;
  for (const int rank : ranks) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    if (!block) continue;
    if (const auto share = scene.habits.usual(rank, block->call)) usual.emplace_back(*share, rank);
  }
  std::vector<int> odd;
  std::vector<double> rest;
  for (const auto& [share, rank] : usual) {
    if (share < 0.15) {
      odd.push_back(rank);
    } else {
      rest.push_back(share);
    }
  }
  const bool stand_out =
      !odd.empty() && !rest.empty() && *std::min_element(rest.begin(), rest.end()) >= 0.3;
  std::sort(odd.begin(), odd.end());
  return stand_out ? odd : std::vector<int>{};
}

bool is_transfer(const Scene& scene, const std::vector<int>& ranks) {
  return !ranks.empty() && std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
    const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
    return block && block->is_p2p;
  });
}

Explanation explain_cycle(const Scene& scene, const WaitCycle& cycle) {
  Explanation out;
  const std::vector<int> odd = unusual(scene, cycle.ranks);
  const bool has_transfer = is_transfer(scene, cycle.shortest);
  out.kind = has_transfer ? Kind::P2pUnmatched : Kind::DeadlockCycle;
  if (cycle.breakers.size() == 1) {
    out.culprits = cycle.breakers;
    out.confidence = 0.8;
    out.why = fmt::format("{} is in every circle of waiting: the others only wait for it",
                          ranks_text(out.culprits));
    if (!odd.empty() && odd != out.culprits) out.confidence = 0.7;
    if (odd == out.culprits) out.confidence = 0.88;
  } else if (!odd.empty()) {
    out.culprits = odd;
    out.confidence = 0.7;
    out.why = fmt::format(
        "{} wait for each other in a circle; only {} made another call than after the same calls "
        "before",
        ranks_text(cycle.ranks), ranks_text(odd));
  } else {
    out.culprits = cycle.ranks;
    out.confidence = 0.55;
    out.why =
        fmt::format("{} wait for each other in a circle, and nothing tells who left the order",
                    ranks_text(cycle.ranks));
    out.missing.push_back("the source around the stacks below: which order of calls was meant");
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

/// A send or receive whose other half its peer never made, and the peer is not held up by us.
std::optional<Explanation> explain_transfer(const Scene& scene, int rank) {
  const auto& block = scene.standing.blocks[static_cast<std::size_t>(rank)];
  if (!block || !block->is_p2p || block->peer < 0) return std::nullopt;
  const std::vector<int>& waits = scene.standing.waits[static_cast<std::size_t>(rank)];
  if (waits.empty() || scene.job.rank(block->peer).dump == nullptr) return std::nullopt;
  if (!scene.standing.waits[static_cast<std::size_t>(block->peer)].empty()) return std::nullopt;
  const auto& theirs = scene.standing.blocks[static_cast<std::size_t>(block->peer)];
  if (theirs) return std::nullopt;
  Explanation out;
  const Call& call = scene.job.rank(rank).dump->calls[block->call];
  out.kind = Kind::P2pUnmatched;
  out.culprits = {rank, block->peer};
  std::sort(out.culprits.begin(), out.culprits.end());
  out.call = call_title(scene.job, block->group, call);
  out.confidence = 0.5;
  out.why = fmt::format("rank {} stands at {}, and rank {} never made the other half", rank,
                        out.call, block->peer);
  out.details.push_back(standing_text(scene, rank));
  out.evidence.push_back(evidence_of(scene.job, rank, call, out.call));
  out.stack = scene.job.names().stack(call.stack);
  out.missing.push_back(fmt::format("the stack of rank {} (py-spy dump)", block->peer));
  return out;
}

}  // namespace

std::vector<Explanation> explain_cycles(const Scene& scene) {
  std::vector<Explanation> found;
  for (const WaitCycle& cycle : wait_cycles(scene.standing.waits)) {
    found.push_back(explain_cycle(scene, cycle));
  }
  if (!found.empty()) return found;
  for (int rank = 0; rank < scene.job.world(); ++rank) {
    if (auto one = explain_transfer(scene, rank)) found.push_back(*std::move(one));
  }
  return found;
}

}  // namespace ringside::hang
