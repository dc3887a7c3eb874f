#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// Signs that the job moved while it was written down: its dumps are of different moments, and a rank
/// that stands somewhere in one of them is past it in truth.
struct Progress {
  std::vector<int> moved;  ///< ranks that went on after their dump, ascending
  std::string why;         ///< of the first of them, in a sentence
};

/// A rank moved when a second dump of it has newer calls, or when another rank has gone past a call that
/// nobody ends before that rank has entered it, and its dump does not hold.
Progress progress_of(const Job& job);

/// Whether no call that a rank stands at had waited long when its dump was written: NCCL's recorder writes
/// when its watchdog has timed out, so such dumps were asked for, of a job that may well move.
///
/// Only a file's time can tell, and a copy's is later than its original's: false means nothing.
bool are_waits_young(const Job& job, const Standing& standing);

/// Ranks whose GPU stands still though the host goes on: calls are still pending that the others, which
/// could not have done it alone, have ended and left behind. Ascending.
///
/// Only for recorders that know of a call's end (NCCL's); Gloo's call a failed one retired.
std::vector<int> stuck_devices(const Job& job, const Standing& standing);

}  // namespace ringside::hang
