#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "harness/hangs/hang_case.h"

namespace ringside::hangs {

/// The right answers for a case, given the files that are left.
struct Truth {
  std::set<std::string> classes;           ///< the fault's own, and those that it resembles
  std::vector<std::vector<int>> culprits;  ///< right answers; an empty one: no culprit can be named
  std::string doubt;                       ///< why there are several; empty when there is one
};

/// Derived from what was injected, from the play, and from what was lost, never from the dumps.
///
/// Two sides of equal weight in a call leave both in doubt. A culprit without a file is in doubt with
/// all other lost members of the groups that ranks wait for; so is a call whose lost members may not
/// have come. With doubt, naming no culprit is always right.
Truth find_truth(const HangCase& hang);

/// truth.json: the keys of the labels of the public corpus of such dumps, so that one program scores
/// both.
Json truth_json(const HangCase& hang, const Truth& truth, const std::string& id);

/// Where the fault shows in the files that a complete set would have: the first call of a group in which
/// members differ, or that some have not made while others wait in it.
struct Surface {
  int group = -1;
  int seq = 0;
  std::vector<int> here;           ///< members that made the call, ascending
  std::vector<int> absent;         ///< members that did not
  std::vector<const Step*> calls;  ///< of `here`
};

/// returns  group -1: no member differs and no rank waits in the group's collectives
Surface find_surface(const HangCase& hang, int group);

/// The rank, and those members of the call that it is in which are in another call and wait for it there.
/// returns  ascending; the rank alone where no two wait for each other
std::vector<int> find_cycle(const HangCase& hang, int rank);

}  // namespace ringside::hangs
