#pragma once

#include "diag/facts/facts.h"

namespace ringside::facts {

/// Fills in the global rank of each subject from its other identities: a host and a process id that another line gives
/// to a rank, a GPU's bus id, the launcher's name for a process, a place in the group of the whole job.
///
/// A rank that two sources give to one identity stays unknown: an innocent rank is worse than none.
void resolve_ranks(Facts& facts);

}  // namespace ringside::facts
