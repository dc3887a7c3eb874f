#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/program.h"

namespace ringside::study {

/// A program as Chakra execution traces, one a rank: the nodes of all its iterations, each with those that it waits for.
/// What a kernel takes stands in it as its duration; who replays it needs no model of the GPU.
///
/// write   takes each file: its name and bytes
/// returns what the format has no word for, and was left out
/// errors  InvalidArgument: too many nodes. As write
Result<std::vector<std::string>> export_chakra(
    const hangs::Program& program,
    const std::function<Status(const std::string& name, const std::string& bytes)>& write);

}  // namespace ringside::study
