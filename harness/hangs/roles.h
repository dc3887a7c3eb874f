#pragma once

#include <cstdint>
#include <vector>

#include "harness/hangs/outline.h"

namespace ringside::hangs {

/// The roles of an outline. Two ranks have the same role if they execute the same steps, each in
/// its own groups of the same families. One rank of each role can then represent the others.
struct Roles {
  std::vector<int> like;        ///< by rank: first rank with the same role
  std::vector<int> first_of;    ///< by role: its first rank
  std::int64_t role_steps = 0;  ///< upper bound of the steps per iteration of one rank per role
  std::int64_t rank_steps = 0;  ///< upper bound of the steps per iteration of all ranks
};

/// Computes the role of each rank.
Roles roles_of(const Outline& outline);

}  // namespace ringside::hangs
