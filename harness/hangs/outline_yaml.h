#pragma once

#include <string>

#include "base/result.h"
#include "harness/hangs/outline.h"

namespace ringside {
class YamlMapping;
}

/// Parts of a program's reader, for documents that hold a program among other things.
namespace ringside::hangs {

/// With the family `world` alone, and no steps.
Outline outline_of(std::string name, int ranks, int ranks_per_host, int iterations);

/// Reads `groups`, if there, and `steps`.
/// errors  as parse_outline()
Status read_program(const YamlMapping& root, Outline& outline);
Result<int> read_iterations(const YamlMapping& root, int least);

}  // namespace ringside::hangs
