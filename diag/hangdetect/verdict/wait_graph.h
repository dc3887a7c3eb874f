#pragma once

#include <vector>

namespace ringside::hang {

/// A set of ranks that wait for each other in a cycle. None of them can continue, whatever other ranks do.
struct WaitCycle {
  std::vector<int> ranks;  ///< ranks of the strongly connected component, ascending
  /// The shortest cycle through one of its first 16 ranks; each rank waits for the next one, the last for the first
  std::vector<int> shortest;
  std::vector<int> breakers;  ///< ranks that are in every cycle of the component
};

/// Returns the strongly connected components of a wait graph, ascending by first rank. Components that wait for another
/// component are omitted, because they continue once that one does.
/// waits   by rank: the ranks that it waits for
/// source  R. Tarjan, Depth-first search and linear graph algorithms, 1972
std::vector<WaitCycle> wait_cycles(const std::vector<std::vector<int>>& waits);

/// Returns the ranks, ascending, at the ends of the wait chains that begin at `from`. These ranks are not blocked.
std::vector<int> heads_of(const std::vector<std::vector<int>>& waits, const std::vector<int>& from);

}  // namespace ringside::hang
