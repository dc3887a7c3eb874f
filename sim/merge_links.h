#pragma once

#include <span>
#include <vector>

#include "sim/network.h"

namespace ringside {

/// Routes over fewer links: those that lie on the same routes are one, with the narrowest one's rate. Fair
/// shares of the bandwidth come out the same.
struct MergedLinks {
  std::vector<BytesPerSecond> rates;     ///< by number of a merged link
  std::vector<int> ids;                  ///< of each: the lowest id that is part of it
  std::vector<std::vector<int>> routes;  ///< merged links, each once; as the routes given
};

/// shape  ids of links of the network
MergedLinks merge_links(std::span<const std::vector<int>> routes, const SimNetwork& network);

}  // namespace ringside
