#include <fmt/format.h>

#include <cstddef>

#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {

std::vector<Explanation> explain_stacks(const Scene& scene) {
  std::vector<int> busy;
  std::size_t waiting = 0;
  for (int rank = 0; rank < scene.job.world(); ++rank) {
    if (scene.job.rank(rank).dump != nullptr) return {};
    const RankNotes& notes = scene.job.rank(rank).notes;
    if (!notes.has_stack) continue;
    if (notes.is_busy) {
      busy.push_back(rank);
    } else {
      ++waiting;
    }
  }
  if (busy.empty() || waiting < 2 || busy.size() >= waiting) return {};
  Explanation out;
  out.kind = Kind::Straggler;
  out.culprits = busy;
  out.confidence = busy.size() == 1 ? 0.6 : 0.45;
  out.why = fmt::format(
      "the stack of {} shows work that is no communication, and those of {} others wait in "
      "communication",
      ranks_text(busy), waiting);
  for (const int rank : busy) {
    constexpr std::size_t kShown = 8;
    if (out.details.size() < kShown) {
      out.details.push_back(
          fmt::format("rank {} is in {}", rank, scene.job.rank(rank).notes.busy_with));
    }
  }
  out.missing.push_back("the stacks again some seconds later, and Flight Recorder dumps");
  return {out};
}

}  // namespace ringside::hang
