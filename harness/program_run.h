#pragma once

#include <cstdint>

#include "base/result.h"
#include "harness/hangs/program.h"
#include "harness/job.h"
#include "ringside/units.h"

namespace ringside {

/// Runs a program (harness/hangs) on real ranks, instead of simulating it in virtual time.
///
/// Each group is a communicator split from the job's. Calls run one after the other in the
/// program's order, without overlap, but for asynchronous sends: these end when they can, before
/// the next other call of their group or the next join. Data are zeros and are not verified. A rank with a planned
/// exception catches it, and waits outside of groups until the other ranks have failed, as in
/// virtual time.
///
/// most_elements  maximum elements of a call, >= 2; larger counts are reduced so that different
///                counts stay different
/// returns        0, so that it can be the result of a rank's main function
/// errors         InvalidArgument: the program has another number of ranks.  As Communicator::run()
Result<int> run_program(JobRank& rank, const hangs::Program& program,
                        std::int64_t most_elements = 4096);

/// Returns the elements of a call of run_program(): `count`, or if it is above `most` a number from most / 2 that follows
/// from it, so that different counts stay different.
std::int64_t fitted_elements(std::int64_t count, std::int64_t most);

/// Returns the memory that run_program() needs on the rank that needs most.
Bytes program_memory(const hangs::Program& program, std::int64_t most_elements);

}  // namespace ringside
