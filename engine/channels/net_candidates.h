#pragma once

#include <optional>
#include <vector>

#include "engine/channels/parameters.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The NICs by which a channel may enter or leave a node, best first: the preferred NICs of each GPU, then the others
/// by distance. It caches results, since the search repeats its queries.
///
/// source  NCCL 2.30.7 graph/search.cc: ncclTopoSelectNets
class NetCandidates {
 public:
  NetCandidates(const System& system, const TopologyParameters& topology,
                const ChannelParameters& channels);

  /// Returns the candidates for any GPU of the node.
  const std::vector<int>& of_node(PathType worst) { return of(-1, worst); }
  /// Returns the candidates for one GPU, by its index.
  const std::vector<int>& of_gpu(int gpu, PathType worst) { return of(gpu, worst); }
  /// Returns the NICs that the GPU uses by default for channels 0, 1, ..., up to the channel that uses the first again.
  [[nodiscard]] const std::vector<int>& picks_of(int gpu) const {
    return preferred_[static_cast<std::size_t>(gpu)];
  }
  /// Returns the GPUs nearest to a NIC.
  [[nodiscard]] const std::vector<int>& gpus_of(int net) const {
    return gpus_[static_cast<std::size_t>(net)];
  }
  /// Returns the GPU's first preferred NIC, or -1 without NICs.
  [[nodiscard]] int first_of(int gpu) const;

 private:
  // gpu < 0: any GPU of the node.
  const std::vector<int>& of(int gpu, PathType worst);
  [[nodiscard]] std::vector<int> select(int gpu, PathType worst) const;

  const System& system_;
  int most_;                                 ///< k of NCCL_NETDEVS_POLICY=MAX:k
  std::vector<std::vector<int>> preferred_;  ///< by GPU, in the order of channels 0, 1, ...
  bool is_interleaved_;  ///< the first choice of all GPUs before the second of any
  std::vector<std::optional<std::vector<int>>> known_;  ///< [(gpu + 1) x path types + worst]
  std::vector<std::vector<int>> gpus_;                  ///< by NIC
};

}  // namespace ringside
