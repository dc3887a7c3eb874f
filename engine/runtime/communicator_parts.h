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

/// CommunicatorOptions::job_ranks, where each rank knows its own.
/// errors  as Bootstrap::all_gather()
Result<std::vector<int>> gather_job_ranks(Bootstrap& bootstrap, int mine, Deadline deadline);

/// Of a part of a communicator, before it has a name of its own.
/// ranks  of the whole, in the part's order
CommunicatorOptions options_of_part(const CommunicatorOptions& whole,
                                    const std::vector<Rank>& ranks);

/// In traces, of parts of parts: by a hash of the name, and beyond the numbers of parts of a job.
std::uint32_t trace_number_of_name(const std::string& name);

/// Of a part of the latest split, alike on its ranks and no other's: a part of a job is known by its first rank.
/// splits  so far;  nranks  of the whole
std::uint32_t trace_number_of_part(const CommunicatorOptions& part,
                                   const CommunicatorOptions& whole, int splits, int nranks,
                                   Rank first);

}  // namespace ringside
