#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/event/wiring.h"

namespace ringside {

/// Whether on every line senders and receivers name the same chunks in the same order, loop after loop: then no
/// simulation can find a chunk that its receiver does not expect.
bool do_chunks_fit(const EventJob& job);

/// Chunks of a loop that lack a thousandth of the call in all count as whole ones.
/// The job with one task for each kind of task, and one line for each kind of line, each with the number of those that
/// it represents: tasks whose steps and counts are alike, whose lines are alike port by port, whose links have like
/// rates and carry like lines. What starts at one time on such lines then ends at one time, so times come out the same.
///
/// The only losses: which tasks a deadlock consists of, and the steps of the represented tasks for a trace.
/// source   the coarsest equitable partition, by refining colours: Paige and Tarjan, Three Partition Refinement
///          Algorithms, SIAM J. Comput. 16 (1987); classes are distinguished by 64-bit hashes
/// returns  nothing where chunks of a loop differ in size in too many ways, or too little is alike
std::optional<EventJob> fold(const EventJob& job);

/// The same for lines that have rates of their own: lines of equal `rate` are alike whatever else their links carry.
/// Lines of jobs that are alike in all this have the same numbers.
struct FoldedShape {
  EventJob
      job;  ///< each chunk counts as the first one of its loop, where blocks have no lengths of their own
  std::vector<std::int32_t> kind_of = {};  ///< by line: the line that represents it
  std::uint64_t colour = 0;                ///< jobs of one colour are alike
};

/// returns  nothing where chunks differ in size in too many ways
std::optional<FoldedShape> fold_shape(const EventJob& job);

}  // namespace ringside
