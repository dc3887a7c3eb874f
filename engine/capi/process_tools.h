#pragma once

#include <memory>

#include "base/result.h"

namespace ringside {

class Bootstrap;
class CallFaults;
class TraceRecorder;

/// Returns the faults that RINGSIDE_FAULTS plans for a rank in this process: a file, or faults as `bench --fault` takes
/// them, separated by semicolons. All communicators of the rank share it.
/// returns  null: the variable is not set
/// errors   as read_description(), parse_fault_plan(), parse_fault() and FaultPlan::drawn_for()
Result<std::shared_ptr<CallFaults>> faults_of_process(int job_rank, int job_ranks);

/// Returns the recorder of this process into the file that RINGSIDE_TRACE names. The ranks of the first communicator that
/// share the path make the file. Every rank of a new communicator calls it at the same time.
/// returns  null: the variable is not set
/// errors   as create_shared_trace() and join_file()
Result<std::shared_ptr<TraceRecorder>> trace_of_process(Bootstrap& bootstrap);

}  // namespace ringside
