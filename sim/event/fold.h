#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/event/wiring.h"

namespace ringside {

/// Returns true if on every line the senders and receivers name the same chunks in the same order,
/// in every loop. Then no simulation of the job can find a chunk that its receiver does not expect.
bool do_chunks_fit(const EventJob& job);

/// Folds a job: returns the job with one task for each class of equivalent tasks and one line for
/// each class of equivalent lines, each with the number of members of its class. Two tasks are
/// equivalent if their steps and counts are equal, their lines are equivalent port by port, and the
/// links of these lines have equal rates and carry equivalent lines. Events on equivalent lines
/// happen at the same times, so the simulated times do not change. Chunks of a loop that are
/// together shorter by less than a thousandth of the call count as whole chunks.
///
/// A folded job does not show which tasks form a deadlock, nor the steps of the represented tasks
/// for a trace.
/// source   the coarsest equitable partition, by colour refinement: Paige and Tarjan, Three
///          Partition Refinement Algorithms, SIAM J. Comput. 16 (1987); a colour is a 64-bit hash
///          that distinguishes classes
/// returns  nullopt if chunks of a loop have too many different sizes, or if the job has too few
///          equivalent tasks
std::optional<EventJob> fold(const EventJob& job);

/// A job folded as if each line had a rate of its own: lines of equal `rate` are equivalent,
/// whatever else their links carry. Jobs of equal `colour` number their lines equally.
struct FoldedShape {
  /// Each chunk counts as the first one of its loop, unless blocks have lengths of their own.
  EventJob job;
  std::vector<std::int32_t> kind_of = {};  ///< by line: the line that represents it
  std::uint64_t colour = 0;                ///< hash; jobs of equal colour are equivalent
};

/// Folds the job as FoldedShape describes.  returns  nullopt if chunks have too many different
/// sizes
std::optional<FoldedShape> fold_shape(const EventJob& job);

}  // namespace ringside
