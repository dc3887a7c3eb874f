#pragma once

#include <memory>
#include <vector>

#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// Joins the shards of a run, in their order: equal processes, parts of a communicator that the end of a shard cut in
/// two, communicators over all their ranks.
///
/// returns  the same facts wherever the logs were cut into shards
JobFacts join_shards(std::vector<std::unique_ptr<Shard>> shards);

/// A job whose whole log is in files that no other job has written to.
struct JobOfFiles {
  std::int32_t nranks = -1;
  std::vector<std::uint32_t> files = {};  ///< sorted
};

/// The jobs of an input, by the communicators: files that a communicator joins are of one job. A file is a job by
/// itself where all ranks of its largest communicator are in it.
/// returns  the jobs that are known to be separate, in the order of their files; fewer than two: it is one job
std::vector<JobOfFiles> separate_jobs(const JobFacts& facts);

}  // namespace ringside::audit
