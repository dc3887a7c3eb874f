#pragma once

#include <limits>
#include <vector>

#include "sim/event/wiring.h"
#include "sim/simulate.h"

namespace ringside {

/// Simulates a call like simulate(), but without SimGrid: an event loop of ours runs the recorded
/// programs. Step costs, slots and max-min fair link shares are the same. The clock of a strand
/// (one sequential part of a rank's program on a channel) runs ahead until the strand waits for a
/// message, a slot or a shared link. Without shared links the loop needs no event queue. A line is
/// one connection between two ranks on a channel, or one group of ranks behind a switch.
///
/// Threads  any thread; calls are independent
/// errors   as simulate(), without the errors of its worker process
Result<SimResult> simulate_events(const SimRequest& request);

/// The time span in which a line carries messages.  unit  s
struct LineSpan {
  double first = std::numeric_limits<double>::infinity();  ///< start of its first message
  double last = 0;                                         ///< end of its last message on the links
};

/// The result of a run in the detail of lines.
struct LinesRun {
  Seconds end;                  ///< end of the last task; includes the launch
  std::vector<LineSpan> lines;  ///< by line of the job
};

/// Simulates the first `loops` loops of a job in which each line has a rate of its own, so no line
/// waits for another's bytes.
/// errors   Timeout: a deadlock; Corrupt: chunks that do not fit
Result<LinesRun> run_lines(const SimRequest& request, EventJob job, std::int64_t loops);

/// Simulates the first `loops` loops of a job whose lines share its links.
/// returns  the end of the last task; includes the launch
/// errors   as run_lines()
Result<Seconds> run_shared(const SimRequest& request, EventJob job, std::int64_t loops);

}  // namespace ringside
