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

/// The progress of a rank at startup.
enum class JobStage {
  Bootstrap,  ///< about to look for the other ranks
  Connect,    ///< has found the other ranks, about to connect its channels
  Transfer,   ///< connected, about to run `main`
};

/// Settings for starting a job and its ranks.
struct JobOptions {
  /// -n: number of processes to start here; none: as the launcher states, else 2.
  std::optional<int> local_ranks;
  Seconds join_timeout{8};  ///< restarts whenever a rank joins
  /// Path of the trace; empty: no trace. %h is the host, %p the pid (with -n: of the starting
  /// process).
  std::string trace_path;
  std::string command;  ///< command line for the trace
  std::string dumps;    ///< folder for flight recorder dumps; empty: as PyTorch's variables specify
  bool overwrites_files = false;  ///< a dump may replace a file that is not a dump
  /// -n: folder for rank_R.log with NCCL's lines of communicators and calls. Empty, or if
  /// NCCL_DEBUG or NCCL_DEBUG_FILE is set: as these variables specify.
  std::string logs;
  /// Port of the status service; none: as NCCL_RAS_ADDR specifies.
  std::optional<std::uint16_t> status_port;
  /// Memory that `main` needs on each rank; run_job() fails at once if the host has less.
  Bytes memory{0};
  Seconds grace{3};  ///< -n: time for the other ranks to notice a failure by themselves
  CommunicatorOptions communicator;
  ExecutorMaker make_executor = {};  ///< called in each rank's process; empty: calls run on hosts
  FaultPlan faults;                  ///< planned faults; random choices are drawn by run_job()
  /// Called on every rank when it enters a stage; may be empty.
  std::function<void(Rank, JobStage)> on_stage;
};

/// One rank of the running job.
struct JobRank {
  runtime::Communicator& communicator;
  bool prints_results = false;  ///< only rank 0 prints results
};

using JobMain = std::function<Result<int>(JobRank&)>;

/// Runs `main` on every rank: in forked processes (-n), or in this process if mpirun, torchrun or
/// Slurm started it as one of many. A failing process ends all of them.
///
/// Threads  call it before any thread is started: it may fork
/// returns  the exit status of `main` (with -n, the largest)
/// errors   InvalidArgument: -n under a launcher.  System: this host's ranks need more memory than
///          it has.  Any failure to join, or failure of the job: with -n one Error for the whole
///          job; under a launcher one per rank, where those that repeat another rank's report are
///          marked (Error::is_reported_elsewhere)
Result<int> run_job(const JobOptions& options, const JobMain& main);

}  // namespace ringside
