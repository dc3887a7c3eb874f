#pragma once

#include <vector>

#include "engine/debuglog/line.h"
#include "harness/logs/log_job.h"

namespace ringside {

/// A phase of a job. No process begins a phase before all processes have ended the previous one.
struct LogPhase {
  enum class Kind {
    Begin,     ///< NCCL is loaded: versions, plugins, network devices
    Start,     ///< a communicator starts
    Graphs,    ///< topology, searched graphs, rings and trees
    Connect,   ///< rings, trees, NVLS trees; from 2.22 on when the first collective needs them
    Complete,  ///< the communicator is ready
    Calls,     ///< collectives
    Run,       ///< incidents during the run
    End,       ///< communicators are destroyed
  };
  Kind kind = Kind::Begin;
  int generation = 0;                ///< index of LogJob::generations()
  int first_call = 0, end_call = 0;  ///< only for Calls: the calls [first_call, end_call)
};

/// Returns the phases of a job in time order.
std::vector<LogPhase> phases_of(const LogJob& job);

/// Appends one process's lines of one phase. The lines depend only on the arguments, so any phase
/// of any process can be written alone.
void write_phase(const LogJob& job, int process, const LogPhase& phase, DebugLog& log);

/// Returns an empty log of the process, for write_phase().
DebugLog log_of(const LogJob& job, int process);

}  // namespace ringside
