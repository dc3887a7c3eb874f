#pragma once

#include "diag/facts/facts.h"
#include "diag/job/process_ranks.h"

namespace ringside::facts {

/// Fills in the global rank of each subject from its other identities, in this order: the number before the line, if no
/// line contradicts it; host and process id; a GPU's bus id; the launcher's name for the process; the rank in a group; the
/// local rank on a host; without any of these, the rank in the only group. Also fills in the group of calls, by another
/// call of the same rank and number.
///
/// Where two sources give different ranks for one identity, the rank stays unknown, because a wrong rank misleads more.
///
/// known    ranks of processes and GPUs that other sources state
/// returns  `known`, extended by the processes that the facts name
job::ProcessRanks resolve_ranks(Facts& facts, job::ProcessRanks known = {});

}  // namespace ringside::facts
