#pragma once

#include <memory>
#include <vector>

#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// Joins the facts of all shards, which must be in the order of the input: merges the processes, the parts of a
/// communicator that are split between shards, and the ranks of each communicator.
///
/// returns  facts that do not depend on the division into shards
JobFacts join_shards(std::vector<std::unique_ptr<Shard>> shards);

/// A job whose files contain no lines of another job.
struct JobOfFiles {
  std::int32_t nranks = -1;               ///< of its largest complete communicator
  std::vector<std::uint32_t> files = {};  ///< indices of LogFiles::files, sorted
};

/// Finds separate jobs in the input. Files that share a communicator with an id belong to one job. A set of files is known
/// to be a whole job if it has the lines of all ranks, two or more, of the largest communicator of one of its files.
/// returns  the whole jobs, in the order of their first files; fewer than two: the input counts as one job
std::vector<JobOfFiles> separate_jobs(const JobFacts& facts);

}  // namespace ringside::audit
