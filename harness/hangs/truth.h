#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "harness/hangs/hang_case.h"

namespace ringside::hangs {

/// The correct verdicts for a case, given the files that are not lost.
struct Truth {
  std::set<std::string> classes;  ///< the injected class, and classes that look like it
  /// Correct sets of culprits; an empty set: no culprit can be named.
  std::vector<std::vector<int>> culprits;
  std::string doubt;  ///< reason for several sets; empty if there is one
};

/// Computes the truth from the injected fault, the play and the lost files, but not from the dumps.
///
/// Two equally large sides of a disagreement leave both in doubt. A culprit without a file cannot
/// be distinguished from other members with lost files in the groups that ranks wait for; nor can a
/// call whose members without files may not have entered. If there is doubt, a verdict without
/// culprit is correct, too.
Truth find_truth(const HangCase& hang);

/// Returns the content of truth.json, with the keys of the public corpus of labelled dumps, so that
/// one program scores both.
Json truth_json(const HangCase& hang, const Truth& truth, const std::string& id);

/// The call at which a fault shows in a complete set of files: the first call of a group in which
/// members differ, or that some members have not made while others wait in it.
struct Surface {
  int group = -1;
  int seq = 0;
  std::vector<int> here;           ///< members that made the call, ascending
  std::vector<int> absent;         ///< members that did not
  std::vector<const Step*> calls;  ///< calls of the ranks in `here`
};

/// Finds that call in a group.  returns  group -1: no member differs and no rank waits in the
/// group's collectives
Surface find_surface(const HangCase& hang, int group);

/// Finds the cycle that a rank is part of: the members of its call that wait for the rank in
/// another call, and the rank.
/// returns  ascending; only the rank itself if there is no cycle
std::vector<int> find_cycle(const HangCase& hang, int rank);

}  // namespace ringside::hangs
