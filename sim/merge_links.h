#pragma once

#include <span>
#include <vector>

#include "sim/network.h"

namespace ringside {

/// Routes over fewer links: links that lie on the same routes are merged to one link with the
/// lowest of their rates. The fair shares of the bandwidth stay the same.
struct MergedLinks {
  std::vector<BytesPerSecond> rates;  ///< by number of a merged link
  std::vector<int> ids;               ///< by merged link: the lowest id among its links
  /// In the order of the routes given: merged links, each once.
  std::vector<std::vector<int>> routes;
};

/// Merges the links of the routes.  shape  `routes` holds link ids of `network`
MergedLinks merge_links(std::span<const std::vector<int>> routes, const SimNetwork& network);

}  // namespace ringside
