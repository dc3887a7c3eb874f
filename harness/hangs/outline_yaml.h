#pragma once

#include <string>

#include "base/result.h"
#include "harness/hangs/outline.h"

namespace ringside {
class YamlMapping;
}

/// Parts of the program parser, for documents that contain a program and more.
namespace ringside::hangs {

/// Returns an outline with the family `world` and no steps.
Outline outline_of(std::string name, int ranks, int ranks_per_host, int iterations);

/// Reads `groups`, if present, and `steps`.
/// errors  as parse_outline()
Status read_program(const YamlMapping& root, Outline& outline);

/// Reads `iterations`.
/// errors  Corrupt: the key is missing, or its value is below `least` or above 100,000
Result<int> read_iterations(const YamlMapping& root, int least);

}  // namespace ringside::hangs
