#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// Signs that the job moved while its dumps were written: they are of different moments, and a rank that is blocked
/// in one of them has in fact gone on.
struct Progress {
  std::vector<int> moved;  ///< ranks that went on after their dump, ascending
  std::string why;         ///< why the first of them is known to have moved, as a sentence
};

/// A rank moved when a second dump of it has newer calls, or when another rank has left a call that cannot end before
/// that rank has entered it, and that its dump does not hold.
Progress progress_of(const Job& job);

/// Whether no call in which a rank is blocked had waited long when its dump was written. NCCL's recorder writes when
/// its watchdog has timed out, so such dumps were requested, of a job that may well move.
///
/// Only a file's time can show it, and a copy's is later than its original's: false means unknown.
bool are_waits_young(const Job& job, const WaitState& wait_state);

/// Ranks whose GPU is stuck though the host goes on: calls are still pending there that the others, which could not
/// have completed them alone, have ended. Ascending.
///
/// Only for recorders that see the end of a call (NCCL's); Gloo's marks a failed call retired.
std::vector<int> stuck_devices(const Job& job, const WaitState& wait_state);

}  // namespace ringside::hang
