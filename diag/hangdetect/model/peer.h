#pragma once

#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// Returns the global rank of the peer of a send or receive: the recorded one, else the other member of a group of two; -1:
/// unknown.
int peer_of(const Job& job, int rank, int group, const Call& call);

}  // namespace ringside::hang
