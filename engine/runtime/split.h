#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"

namespace ringside {

class Bootstrap;

/// A part of the ranks of a communicator, with a ring of its own.
struct SplitPart {
  std::unique_ptr<Bootstrap> bootstrap;
  std::vector<Rank> ranks;  ///< the parent's, by rank in the part
};

/// Parts the ranks by colour: those of one colour belong together, in the order of their keys, and of their
/// ranks where keys are equal. Every rank of the parent calls it at the same time.
/// color    none: this rank is in no part
/// returns  nothing: it is in none
/// errors   as Bootstrap::all_gather() of the parent, and Bootstrap::join()
Result<std::optional<SplitPart>> split(Bootstrap& parent, std::optional<int> color, int key,
                                       Deadline deadline, Nanoseconds join_timeout);

}  // namespace ringside
