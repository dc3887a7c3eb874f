#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/hangs/hang_case.h"

namespace ringside::hangs {

/// One log line, or several that must stay together.
struct LogLine {
  std::int64_t time = 0;  ///< true time in ns; sorts the lines of a joined log
  std::string text;       ///< with its newline
};

/// Returns the stderr lines of PyTorch's watchdog and monitor threads of a rank: its timeouts in
/// the 20 s between the first timeout and the end of the process, the dump signal, the last
/// enqueued and completed calls. Empty if the rank died or was ended, or if the job does not hang.
///
/// source  line formats of PyTorch 2.2 to 2.10
std::vector<LogLine> watchdog_lines(const HangCase& hang, int rank);

/// Returns NCCL's lines with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL: communicators, and one
/// line per call that the rank made.
std::vector<LogLine> nccl_lines(const HangCase& hang, int rank);

/// Returns the number of call lines of all ranks.
std::int64_t call_lines(const HangCase& hang);

/// Returns the line that a rank writes at the start of a communicator's creation, for a rank that hangs in that of the
/// job; rank 0 writes its version of NCCL first.
std::vector<LogLine> start_lines(const HangCase& hang, int rank);

/// Returns torchrun's lines on the culprit's host: the child that died, and the cause.
std::vector<LogLine> agent_lines(const HangCase& hang);

/// Returns the Python stack of a computing rank; empty for other ranks.
/// source  format of faulthandler.dump_traceback()
std::string stack_text(const HangCase& hang, int rank);

/// Returns the output of `ncclras -f json` during the hang: the operations that each process
/// launched on each communicator, and the processes that do not respond.
///
/// source  docs/formats 7.1; NCCL 2.28.7 and later
std::string ras_report(const HangCase& hang);

/// Returns the id of a communicator: `commId` in its lines, `hash` in ncclras.
std::uint64_t communicator_id(const HangCase& hang, int group);

}  // namespace ringside::hangs
