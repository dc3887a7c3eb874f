#pragma once

#include <vector>

#include "cli/verb.h"

namespace ringside::cli {

/// Returns every verb, in the order of `ringside --help`.
std::vector<Verb> all_verbs();

}  // namespace ringside::cli
