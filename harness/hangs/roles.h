#pragma once

#include <cstdint>
#include <vector>

#include "harness/hangs/outline.h"

namespace ringside::hangs {

/// The ranks of an outline that take the same lines of it, each in its own groups: those that are in groups of the same families,
/// at the same of those places that a line names.
struct Roles {
  std::vector<int> like;        ///< by rank: the first rank that has its role
  std::vector<int> first_of;    ///< by role
  std::int64_t role_steps = 0;  ///< that one rank of each role takes in an iteration, at most
  std::int64_t rank_steps = 0;  ///< that all ranks take
};

Roles roles_of(const Outline& outline);

}  // namespace ringside::hangs
