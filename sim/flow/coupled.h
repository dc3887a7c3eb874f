#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace ringside {

/// A flow that loads many links at once, each in a fixed proportion: a channel of a collective, whose ranks wait for
/// each other.
struct CoupledFlow {
  std::vector<std::pair<int, double>> loads;  ///< each link once; bytes for the whole of the flow
};

/// How much of itself each flow gets done in a second, where all grow alike until a link is full: the flows on it stay
/// as they are then, and the others go on.
///
/// rate     bytes/s of a link, > 0
/// returns  by flow; infinity where it loads nothing
/// source   max-min fairness as in FairShare, a flow's weight on a link being its load: Bertsekas and Gallager, Data
///          Networks, 6.5.2
std::vector<double> share_coupled(std::span<const CoupledFlow> flows,
                                  const std::function<double(int)>& rate);

}  // namespace ringside
