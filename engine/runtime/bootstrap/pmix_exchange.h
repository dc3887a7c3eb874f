#pragma once

#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/result.h"

namespace ringside {

/// Returns whether this build supports a PMIx server (mpirun, srun --mpi=pmix).
bool has_pmix();

/// Distributes one text from PMIx rank 0 to all ranks of the job. Every rank calls it equally often; only rank 0 passes
/// a text. The server stores it so that only the job's owner can read it.
///
/// A PMIx fence never completes if a rank is missing. The fence therefore gets a short time only; after that the text
/// is polled until `deadline`. The root later names missing ranks.
/// Threads  one at a time
/// errors   Unsupported: built without PMIx.  Timeout: rank 0 published no text in time.  System: no server.
Result<std::string> pmix_share(const std::optional<std::string>& mine, Deadline deadline);

}  // namespace ringside
