#pragma once

#include <optional>
#include <vector>

#include "engine/channels/parameters.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The NICs that a channel may enter or leave a node by, best first: those that each GPU would pick of
/// itself, then the others by distance. Kept, since the search asks the same again and again.
///
/// source  NCCL 2.30.7 graph/search.cc: ncclTopoSelectNets
class NetCandidates {
 public:
  NetCandidates(const System& system, const TopologyParameters& topology,
                const ChannelParameters& channels);

  /// For any GPU.
  const std::vector<int>& of_node(PathType worst) { return of(-1, worst); }
  /// For one, by its index.
  const std::vector<int>& of_gpu(int gpu, PathType worst) { return of(gpu, worst); }
  /// The NICs that the GPU takes for channels 0, 1, ... when nothing says which, each once.
  [[nodiscard]] const std::vector<int>& picks_of(int gpu) const {
    return preferred_[static_cast<std::size_t>(gpu)];
  }
  /// The GPUs nearest to a NIC.
  [[nodiscard]] const std::vector<int>& gpus_of(int net) const {
    return gpus_[static_cast<std::size_t>(net)];
  }
  /// The NIC that the GPU picks first; -1 without NICs.
  [[nodiscard]] int first_of(int gpu) const;

 private:
  const std::vector<int>& of(int gpu, PathType worst);
  [[nodiscard]] std::vector<int> select(int gpu, PathType worst) const;

  const System& system_;
  int most_;                                 ///< of NCCL_NETDEVS_POLICY=MAX:k
  std::vector<std::vector<int>> preferred_;  ///< by GPU, in the order of channels 0, 1, ...
  bool is_interleaved_;  ///< the first choice of all GPUs before the second of any
  std::vector<std::optional<std::vector<int>>> known_;  ///< [(gpu + 1) x path types + worst]
  std::vector<std::vector<int>> gpus_;                  ///< by NIC
};

}  // namespace ringside
