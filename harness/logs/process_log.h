#pragma once

#include <vector>

#include "engine/debuglog/line.h"
#include "harness/logs/log_job.h"

namespace ringside {

/// A stretch of a job's run. No process begins one before all have ended the one before it.
struct LogPhase {
  enum class Kind {
    Begin,     ///< NCCL is loaded: versions, plugins, network devices
    Start,     ///< a communicator begins
    Graphs,    ///< topology, searched graphs, rings and trees
    Connect,   ///< rings, trees, NVLS trees; from 2.22 on when the first collective needs them
    Complete,  ///< the communicator is there
    Calls,     ///< collectives
    Run,       ///< what strikes later
    End,       ///< communicators are destroyed
  };
  Kind kind = Kind::Begin;
  int generation = 0;
  int first_call = 0, end_call = 0;  ///< of Calls
};

/// In the order of time.
std::vector<LogPhase> phases_of(const LogJob& job);

/// Appends one process's lines of one phase.
///
/// Any process and phase can be written without the others; the lines depend on nothing else.
void write_phase(const LogJob& job, int process, const LogPhase& phase, DebugLog& log);

/// An empty log of the process, for write_phase().
DebugLog log_of(const LogJob& job, int process);

}  // namespace ringside
