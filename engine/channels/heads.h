#pragma once

#include <algorithm>
#include <vector>

#include "engine/channels/graph.h"

namespace ringside {

/// Returns the GPUs that begin one of the first `nchannels` channels, each once, in channel order. They are the heads
/// of slices in NVLS and CollNetDirect.
inline std::vector<int> head_gpus(const Graph& graph, int nchannels) {
  std::vector<int> heads;
  for (int channel = 0; channel < nchannels; ++channel) {
    const int gpu = graph.intra[static_cast<std::size_t>(channel)].front();
    if (std::ranges::find(heads, gpu) == heads.end()) heads.push_back(gpu);
  }
  return heads;
}

/// Returns the number of heads of all the graph's channels.
inline int head_count(const Graph& graph) {
  return static_cast<int>(head_gpus(graph, graph.nchannels).size());
}

}  // namespace ringside
