#pragma once

#include <vector>

namespace ringside::hang {

/// A set of ranks that wait for each other in a circle: none of them can go on, whoever else comes.
struct WaitCycle {
  std::vector<int> ranks;     ///< all of the knot, ascending
  std::vector<int> shortest;  ///< one circle in it, in order of waiting
  std::vector<int> breakers;  ///< each of them alone is in every circle of the knot
};

/// The knots of the graph `waits` (by rank: whom it waits for), ascending by first rank. Knots that
/// only wait for another knot are left out: they go on once that one does.
/// source  R. Tarjan, Depth-first search and linear graph algorithms, 1972
std::vector<WaitCycle> wait_cycles(const std::vector<std::vector<int>>& waits);

/// Those at the ends of the chains that begin at `from`: they wait for nobody. Ascending.
std::vector<int> heads_of(const std::vector<std::vector<int>>& waits, const std::vector<int>& from);

}  // namespace ringside::hang
