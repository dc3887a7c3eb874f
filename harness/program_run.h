#pragma once

#include "base/result.h"
#include "harness/hangs/program.h"
#include "harness/job.h"
#include "ringside/units.h"

namespace ringside {

/// Runs a program of groups and calls (harness/hangs) on real ranks: the same program that is otherwise played in virtual
/// time.
///
/// Each group is a communicator of its own, split off the job's. Calls come one after the other, in the
/// program's order: they do not overlap. Data are zeros, nothing is verified. A rank that meets a planned
/// exception catches it, and waits elsewhere until the others have given up, as it does in virtual time.
///
/// most_elements  of a call; the program's larger counts are cut to less, different ones to different ones
/// shape          most_elements: at least 2
/// returns        0
/// errors         InvalidArgument: the program is of another number of ranks.  As Communicator::run()
Result<int> run_program(JobRank& rank, const hangs::Program& program,
                        std::int64_t most_elements = 4096);

/// What run_program() takes on the rank that takes most.
Bytes program_memory(const hangs::Program& program, std::int64_t most_elements);

}  // namespace ringside
