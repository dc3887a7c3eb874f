#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace ringside {

/// A flow that loads many links at once, each in a fixed proportion. It represents a channel of a
/// collective, whose ranks wait for each other.
struct CoupledFlow {
  /// Link and bytes of the whole flow on it; each link once.
  std::vector<std::pair<int, double>> loads;
};

/// Returns for each flow the share of itself that it completes per second. All shares grow equally
/// until a link is full; flows on a full link keep their share, and the others continue to grow.
///
/// rate     returns the bytes/s of a link, > 0
/// returns  one number per flow; infinity for a flow that loads no link
/// source   max-min fairness as in FairShare, a flow's weight on a link being its load: Bertsekas
///          and Gallager, Data Networks, 6.5.2
std::vector<double> share_coupled(std::span<const CoupledFlow> flows,
                                  const std::function<double(int)>& rate);

}  // namespace ringside
