#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/bootstrap/launch.h"
#include "harness/attach/process.h"

namespace ringside::attach {

/// A process of this host that is given by --pid, or that its launcher runs as a rank.
struct JobProcess {
  std::int64_t pid = -1;
  std::optional<LaunchInfo> launch;  ///< none: no launcher's variables name its rank
  ProcessFacts facts;
};

/// Returns the ranks that `pid` runs: the nearest processes below it whose variables name another rank than its own
/// (torchrun, mpirun, srun, or a script that sets RANK and WORLD_SIZE). The children of a rank are not ranks: they are
/// its data loaders, which inherit its variables.
/// proc     /proc, or a test's folder
/// returns  the process itself if it runs no ranks; nothing if it does not exist
std::vector<JobProcess> job_processes(std::int64_t pid, const std::string& proc = "/proc");

/// Returns the ranks of this host that a launcher started and that have no process: theirs have ended.
/// found    ranks of one job; those of another job than the first are ignored
/// proc     /proc, or a test's folder: a rank of the job that is not in `found` is looked for among all processes
/// A child that outlives its rank, such as a data loader, has its variables and counts as its process.
/// returns  ascending; nothing if the launcher's variables do not show which ranks run on this host. They show it if all
///          ranks are on this host (their number, or a MASTER_ADDR of the loopback), or if the ranks of a host are
///          numbered one after another: always with torchrun, otherwise if at least two ranks in `found` show it
std::vector<int> ranks_without_process(const std::vector<JobProcess>& found,
                                       const std::string& proc = "/proc");

}  // namespace ringside::attach
