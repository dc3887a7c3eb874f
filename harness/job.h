#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/faults/fault.h"
#include "engine/runtime/communicator.h"
#include "ringside/units.h"

namespace ringside {

class TraceRecorder;

/// How far a rank has come.
enum class JobStage {
  Bootstrap,  ///< about to look for the others
  Connect,    ///< has found them, about to connect its channels
  Transfer,   ///< connected, about to run the job's main
};

/// How the ranks of a job are started and meet.
struct JobOptions {
  std::optional<int> local_ranks;  ///< -n: so many processes here; none: a launcher's, else 2
  Seconds join_timeout{8};         ///< counted anew with every rank that comes
  /// Empty: nothing is recorded. %h is the host, %p the process (with -n the one that started them all).
  std::string trace_path;
  std::string command;  ///< noted in the trace
  std::string dumps;    ///< the folder for flight recorder dumps; empty: as PyTorch's variables say
  bool overwrites_files = false;  ///< whether a dump may replace a file that is no dump
  /// -n: the folder for rank_R.log, NCCL's lines of communicators and calls; empty, or where NCCL_DEBUG or NCCL_DEBUG_FILE are
  /// set: as these say
  std::string logs;
  std::optional<std::uint16_t> status_port;  ///< of the status service; none: as NCCL_RAS_ADDR says
  Bytes memory{
      0};  ///< what `main` takes on each rank: more than the host has is refused before any starts
  Seconds grace{3};  ///< -n: what the others get to notice by themselves that one failed
  CommunicatorOptions communicator;
  ExecutorMaker make_executor = {};  ///< called in each rank's process; empty: calls run on hosts
  FaultPlan faults;                  ///< the planned faults; open choices are drawn
  /// Called on every rank as it enters a stage, where given: the place to watch or to disturb a job.
  std::function<void(Rank, JobStage)> on_stage;
};

/// One rank of the running job.
struct JobRank {
  runtime::Communicator& communicator;
  bool speaks = false;  ///< the one rank that prints results: rank 0
};

using JobMain = std::function<Result<int>(JobRank&)>;

/// Runs `main` on every rank: in forked processes (-n), or in this one, which mpirun, torchrun or Slurm
/// started as one of many. Processes that fail end all of them.
///
/// Threads  before any is started: it may fork
/// returns  the exit status that `main` gave (the largest, with -n)
/// errors   InvalidArgument: -n under a launcher.  System: this host's ranks need more memory than it has.  Whatever keeps the ranks from joining or ends the job:
///          with -n one Error for the whole job; under a launcher one on each rank, of which those that
///          repeat what another rank reports are marked (Error::is_reported_elsewhere)
Result<int> run_job(const JobOptions& options, const JobMain& main);

}  // namespace ringside
