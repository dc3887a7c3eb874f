#pragma once

#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/result.h"

namespace ringside {

/// Whether this build can talk to a PMIx server (mpirun, srun --mpi=pmix).
bool has_pmix();

/// Distributes one text from PMIx rank 0 to all ranks of the job. Every rank calls it equally often; rank 0
/// gives the text. The server keeps it where only the job's owner can read it.
///
/// A fence would do if it were certain that every rank comes; so the fence gets a short time only, after which
/// the text is asked for until `deadline`. Ranks that are missing are then found by the root, which can
/// name them.
/// Threads  one at a time
/// errors   Unsupported: built without PMIx.  Timeout: rank 0 gave nothing in time.  System: no server.
Result<std::string> pmix_share(const std::optional<std::string>& mine, Deadline deadline);

}  // namespace ringside
