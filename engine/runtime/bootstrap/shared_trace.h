#pragma once

#include <string>

#include "base/result.h"
#include "ringside/trace_info.h"

namespace ringside {

class Bootstrap;

/// Creates the trace file into which ranks record: all of them, unless the path has a placeholder for host or process.
/// The first rank of those with the same path creates it; the others join it later. If one of them has joined it
/// already, it stays as it is. Every rank calls it at the same time, also those that record nothing.
/// path  empty: this rank records nothing
/// has_joined  whether this rank records into the file already
/// errors  System: the path cannot be written.  As Bootstrap::all_gather()
Status create_shared_trace(Bootstrap& bootstrap, const std::string& path, const TraceInfo& info,
                           bool has_joined);

}  // namespace ringside
