#pragma once

#include <vector>

#include "engine/channels/graph.h"

namespace ringside {

/// A graph under construction: its channels so far, and the limits of the search.
struct Attempt : GraphSummary {
  int min_channels = 1, max_channels = 1;
  int ngpus = 0;
  std::vector<int> gpus = {};  ///< [channel x ngpus + position] = GPU index
  std::vector<int> nets = {};  ///< [channel x 2 + (0: in, 1: out)] = net index

  static constexpr int kMaxChannels = 64;  ///< source  NCCL: MAXCHANNELS

  int& gpu(int channel, int position) {
    return gpus[static_cast<std::size_t>(channel * ngpus + position)];
  }
  [[nodiscard]] int gpu(int channel, int position) const {
    return gpus[static_cast<std::size_t>(channel * ngpus + position)];
  }
  int& net_in(int channel) { return nets[static_cast<std::size_t>(channel * 2)]; }
  int& net_out(int channel) { return nets[static_cast<std::size_t>(channel * 2 + 1)]; }
  [[nodiscard]] int net_in(int channel) const {
    return nets[static_cast<std::size_t>(channel * 2)];
  }
  [[nodiscard]] int net_out(int channel) const {
    return nets[static_cast<std::size_t>(channel * 2 + 1)];
  }
};

}  // namespace ringside
