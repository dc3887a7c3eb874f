#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"

namespace ringside {

class Bootstrap;
struct CommunicatorOptions;

/// Gathers every rank's number in the job, as CommunicatorOptions::job_ranks. Every rank calls it at the same time.
/// mine  this rank's number in the job
/// errors  as Bootstrap::all_gather()
Result<std::vector<int>> gather_job_ranks(Bootstrap& bootstrap, int mine, Deadline deadline);

/// Returns the options of a child communicator made by a split or shrink; the caller sets its name.
/// ranks  the child's ranks, as ranks of `whole`, in the child's order
CommunicatorOptions options_of_part(const CommunicatorOptions& whole,
                                    const std::vector<Rank>& ranks);

/// Returns the trace number of a communicator that was split from a child: a hash of its name with bit 31 set, above
/// the numbers of direct children. Two names may collide.
std::uint32_t trace_number_of_name(const std::string& name);

/// Returns the trace number of a child of the latest split. All its ranks get the same number, which its first rank
/// determines. If `whole` is itself a child, this is trace_number_of_name(part.name).
/// splits  number of splits of `whole` so far, this one included, >= 1
/// nranks  number of ranks of `whole`
/// first   the child's rank 0, as a rank of `whole`
/// returns 1 + (splits - 1) * nranks + first for a child of a job's communicator (trace number 0)
std::uint32_t trace_number_of_part(const CommunicatorOptions& part,
                                   const CommunicatorOptions& whole, int splits, int nranks,
                                   Rank first);

}  // namespace ringside
