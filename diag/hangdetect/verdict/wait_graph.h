#pragma once

#include <vector>

namespace ringside::hang {

/// A set of ranks that wait for each other in a cycle: none of them can go on, whatever other ranks do.
struct WaitCycle {
  std::vector<int> ranks;     ///< all of the component, ascending
  std::vector<int> shortest;  ///< one cycle in it, in order of waiting
  std::vector<int> breakers;  ///< each of them is in every cycle of the component
};

/// The strongly connected components of the graph `waits` (by rank: the ranks that it waits for), ascending by first
/// rank. Components that only wait for another component are omitted: they go on once that one does.
/// source  R. Tarjan, Depth-first search and linear graph algorithms, 1972
std::vector<WaitCycle> wait_cycles(const std::vector<std::vector<int>>& waits);

/// The ranks at the ends of the chains that begin at `from`: they are not blocked. Ascending.
std::vector<int> heads_of(const std::vector<std::vector<int>>& waits, const std::vector<int>& from);

}  // namespace ringside::hang
