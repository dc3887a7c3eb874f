#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/hangs/hang_case.h"

namespace ringside::hangs {

/// One line of a log, or several that stay together.
struct LogLine {
  std::int64_t time = 0;  ///< true time, by which the lines of a joined log are sorted
  std::string text;       ///< with its newline
};

/// The stderr lines of PyTorch's watchdog and monitor threads of the rank: its own time-outs in the
/// 20 s between the first one and the end of the process, the signal to dump, last enqueued and
/// completed. Nothing of a rank that died or was ended, nor of a job that does not stand.
///
/// source  the shapes of each release of PyTorch 2.2 to 2.10
std::vector<LogLine> watchdog_lines(const HangCase& hang, int rank);

/// What NCCL wrote with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL: its communicators, and a line a
/// call, as far as the rank came.
std::vector<LogLine> nccl_lines(const HangCase& hang, int rank);

/// How many lines of calls that makes, of all ranks.
std::int64_t call_lines(const HangCase& hang);

/// The line of a rank that hangs in the creation of the job's communicator.
std::vector<LogLine> start_lines(const HangCase& hang, int rank);

/// torchrun on the culprit's host: which child died, and of what.
std::vector<LogLine> agent_lines(const HangCase& hang);

/// The Python stack of a rank that computes; else empty.
/// source  the shape of faulthandler.dump_traceback()
std::string stack_text(const HangCase& hang, int rank);

/// The answer of `ncclras -f json` during the hang: what each process had launched on each
/// communicator, and which processes did not answer any more.
///
/// source  docs/formats 7.1; NCCL 2.28.7 and later
std::string ras_report(const HangCase& hang);

/// The id that all members of a communicator know it by: `commId` of its lines, `hash` of ncclras.
std::uint64_t communicator_id(const HangCase& hang, int group);

}  // namespace ringside::hangs
