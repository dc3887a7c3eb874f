#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/program.h"

namespace ringside::study {

/// Writes a program as Chakra execution traces, one per rank. A trace has the nodes of all
/// iterations, each with the nodes that it depends on. The duration of a kernel is fixed, so
/// replaying needs no model of the GPU.
///
/// write    callback that stores a file: first `comm_groups.json`, then `ringside.RANK.et` of each rank
/// returns  texts about features that the format cannot express and that were omitted
/// errors   InvalidArgument: too many nodes. Those of `write`
Result<std::vector<std::string>> export_chakra(
    const hangs::Program& program,
    const std::function<Status(const std::string& name, const std::string& bytes)>& write);

}  // namespace ringside::study
