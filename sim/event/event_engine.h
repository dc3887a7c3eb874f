#pragma once

#include <limits>
#include <vector>

#include "sim/event/wiring.h"
#include "sim/simulate.h"

namespace ringside {

/// As simulate(), without SimGrid: the recorded programs on a loop of our own. What a step costs, the slots, and
/// max-min fair shares of the links are the same. A strand's clock runs ahead of the others' until it waits for a
/// message, a slot, or a link that others use too; where no link is shared nothing is ever looked up by time.
///
/// Threads  any, each call for itself
/// errors   as simulate(), except those of the simulating process
Result<SimResult> simulate_events(const SimRequest& request);

/// When a line had something to carry.  unit  s
struct LineSpan {
  double first = std::numeric_limits<double>::infinity();  ///< its first message sets out
  double last = 0;                                         ///< its last one has crossed
};

struct LinesRun {
  Seconds end;                  ///< the last task is through; the launch included
  std::vector<LineSpan> lines;  ///< of the job
};

/// The first loops of a job whose lines have rates of their own, so that none waits for another's bytes.
/// errors   Timeout: a deadlock; Corrupt: chunks that do not fit
Result<LinesRun> run_lines(const SimRequest& request, EventJob job, std::int64_t loops);

/// The first loops of a job whose lines share its links.
/// returns  when the last task is through; the launch included
/// errors   as run_lines()
Result<Seconds> run_shared(const SimRequest& request, EventJob job, std::int64_t loops);

}  // namespace ringside
