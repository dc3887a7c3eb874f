#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// Evidence that the job moved while its dumps were written: the dumps show different moments, and a rank that is
/// blocked in its dump has since continued.
struct Progress {
  std::vector<int> moved;  ///< ranks that continued after their dump, ascending
  std::string why;         ///< a sentence: how the first of these ranks is known to have moved
};

/// Finds the ranks that moved after their dump. A rank moved if its second dump has newer calls, or if another rank has
/// completed a call that needs this rank and that this rank's dump lacks.
Progress progress_of(const Job& job);

/// Returns whether all blocked calls had waited only briefly when their dumps were written. NCCL's watchdog writes
/// dumps after a time-out; dumps of young waits were requested manually, and the job may be moving.
///
/// The wait is computed from the file's time, which is later for a copy. Therefore false means unknown.
bool are_waits_young(const Job& job, const WaitState& wait_state);

/// Returns whether the time from `since_ns` to the writing of the dump is no longer than one and a half times a pause
/// between calls that the dump shows twice. False if it shows too few calls.
bool is_usual_pause(const RankDump& dump, std::int64_t since_ns);

/// Returns the longest wait of a blocked rank when its dump was written, in seconds; nothing if that is unknown, or a
/// call has failed, after which dumps are written at once.
std::optional<double> longest_wait_s(const Job& job, const WaitState& wait_state);

/// Returns whether each rank that waits has waited no longer than its usual pause (is_usual_pause()): a job with such
/// pauses moves, though several reports in a row are equal.
bool are_waits_usual(const Job& job, const WaitState& wait_state);

/// Returns the ranks, ascending, whose GPU is stuck while their host continues: a call is pending on this rank although
/// the other members, which cannot complete it alone, have completed it.
///
/// Uses only recorders that observe completion (NCCL's). Gloo's recorder also marks failed calls as retired.
std::vector<int> stuck_devices(const Job& job, const WaitState& wait_state);

}  // namespace ringside::hang
