#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/program.h"

namespace ringside::study {

/// A program as Chakra execution traces, one for each rank: the nodes of all its iterations, each with the nodes that
/// it waits for. A kernel's time is its duration; replaying needs no model of the GPU.
///
/// write   takes each file: its name and bytes
/// returns features that the format cannot express, and that were omitted
/// errors  InvalidArgument: too many nodes. As write
Result<std::vector<std::string>> export_chakra(
    const hangs::Program& program,
    const std::function<Status(const std::string& name, const std::string& bytes)>& write);

}  // namespace ringside::study
