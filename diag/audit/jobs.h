#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// A job whose whole log is in files that no other job has written to.
struct JobOfFiles {
  std::int32_t nranks = -1;
  std::vector<std::uint32_t> files = {};  ///< sorted
};

/// The jobs of an input, by the communicators: files that a communicator joins are of one job. A file is a job by itself
/// where all ranks of its largest communicator are in it.
/// returns  the jobs that are known to be apart, in the order of their files; fewer than two: it is one job
std::vector<JobOfFiles> separate_jobs(const JobFacts& facts);

}  // namespace ringside::audit
