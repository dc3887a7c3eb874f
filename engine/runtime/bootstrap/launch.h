#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/result.h"

namespace ringside {

/// The launcher that started this process as one of many.
enum class Launcher : std::uint8_t { Torchrun, OpenMpi, Hydra, Slurm };
const char* to_string(Launcher launcher);

/// A process's rank and the job's size, as set by its launcher.
struct LaunchInfo {
  Launcher launcher = Launcher::Torchrun;
  int rank = 0;
  int nranks = 1;
  std::optional<int> local_rank = {};   ///< rank among the ranks of this host; empty: unknown
  std::optional<int> local_ranks = {};  ///< number of ranks of this host; empty: unknown
};

/// Returns whether, by the launcher's variables, all ranks are on this host.
bool is_single_host(const LaunchInfo& info);

/// Reads the launchers' variables. The first launcher of this list whose variables are set counts: a torchrun inside
/// mpirun or srun sees both, and the inner one counts.
///
///     torchrun   RANK WORLD_SIZE [LOCAL_RANK LOCAL_WORLD_SIZE]; also for processes that are started manually
///     Open MPI   OMPI_COMM_WORLD_RANK _SIZE [_LOCAL_RANK _LOCAL_SIZE]
///     Hydra      PMI_RANK PMI_SIZE [MPI_LOCALRANKID MPI_LOCALNRANKS] (MPICH, Intel MPI)
///     Slurm      SLURM_STEP_ID SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS [SLURM_LOCALID
///                SLURM_STEP_TASKS_PER_NODE SLURM_NODEID]; not a batch script (no step) and not a step
///                of one task, which is how interactive shells are started
///
/// returns  nothing when no launcher started this process
/// errors   InvalidArgument: one of a pair is missing, a value is not a number, or two contradict each other
Result<std::optional<LaunchInfo>> launch_from_environment(
    const Environment& environment = env_text);

/// Returns the first host of a Slurm host list: `node[03-05,9],gpu1` -> `node03`.
/// errors  InvalidArgument: empty, or brackets that do not match
Result<std::string> first_host_of(std::string_view hostlist);

/// Returns the number of tasks of a node from Slurm's short form: `2(x3),1` means two tasks on nodes 0 to 2 and one on
/// node 3.
/// errors  InvalidArgument: not of that form, or `node` is not in it
Result<int> tasks_on_node(std::string_view tasks_per_node, int node);

}  // namespace ringside
