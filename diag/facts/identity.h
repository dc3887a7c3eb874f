#pragma once

#include "diag/facts/facts.h"
#include "diag/job/process_ranks.h"

namespace ringside::facts {

/// Fills in the global rank of each subject from its other identities: a host and a process id that another line gives
/// to a rank, a GPU's bus id, the launcher's name for a process, a place in the group of the whole job.
///
/// A rank that two sources give to one identity stays unknown: a wrong rank is worse than an unknown one.
///
/// known    processes and GPUs whose ranks other sources state
/// returns  `known`, extended by what the facts state of processes
job::ProcessRanks resolve_ranks(Facts& facts, job::ProcessRanks known = {});

}  // namespace ringside::facts
