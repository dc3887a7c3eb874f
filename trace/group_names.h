#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringside/trace_info.h"

namespace ringside {

/// Returns the names of a trace's communicators: the groups, then one more per group for its transfers, which are numbered
/// separately.
std::vector<std::string> communicator_names(std::vector<std::string> groups);

/// Returns the names that a trace states (kTraceGroups), by communicator; empty: it states none.
std::vector<std::string> communicator_names(const TraceInfo& info);

/// Returns the kind of a group: "tensor" of `tensor [2]`, `tensor (2)` and `tensor [2], transfers`.
std::string_view kind_of_group(std::string_view name);

}  // namespace ringside
