#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/env.h"
#include "base/result.h"
#include "engine/topology/path_type.h"
#include "engine/topology/rules.h"

namespace ringside {

/// The environment variables that affect paths, and which devices may access each other directly.
/// source  NCCL 2.30.7: graph/paths.cc, graph/topo.cc, transport/p2p.cc, init.cc, mnnvl.cc
struct TopologyParameters {
  std::optional<PathType> p2p_level = {};  ///< NCCL_P2P_LEVEL, NCCL_P2P_DISABLE=1 (Loc)
  bool shm_disable = false;                ///< NCCL_SHM_DISABLE
  bool nvb_disable = false;                ///< NCCL_NVB_DISABLE
  bool pxn_disable = false;                ///< NCCL_PXN_DISABLE
  bool pxn_c2c = true;                     ///< NCCL_PXN_C2C
  std::optional<PathType> gdr_level = {};  ///< NCCL_NET_GDR_LEVEL
  std::optional<bool> gdr_read = {};       ///< NCCL_NET_GDR_READ
  bool gdr_c2c = true;                     ///< NCCL_NET_GDR_C2C
  bool gdr_mlopart = false;                ///< NCCL_NET_GDR_MLOPART
  bool net_disable_intra = false;          ///< NCCL_NET_DISABLE_INTRA
  bool scatter_start_net = false;          ///< NCCL_TOPO_SCATTER_START_NET
  int mnnvl_enable = 2;                    ///< NCCL_MNNVL_ENABLE: 0 never, 1 always, 2 if available
  /// NCCL_NETDEVS_POLICY: how many NICs a GPU may use. 0 AUTO, -1 ALL, k > 0 MAX:k.
  int netdevs_policy = 0;
  std::optional<PathType> merge_level = {};  ///< NCCL_NET_MERGE_LEVEL; Loc: NCCL_IB_MERGE_NICS=0
  TopologyRules rules = {};                  ///< rules of the release; not set by a variable
};

/// version  the simulated release, as load_release()
/// errors   as load_release(). InvalidArgument: a value outside the variable's grammar, which the error shows. NCCL
///          would ignore or clamp some of them
Result<TopologyParameters> parse_topology_parameters(const Environment& environment,
                                                     std::string_view version = kBaseRelease);

/// Returns the variables that parse_topology_parameters() reads.
std::span<const std::string_view> topology_variables();

}  // namespace ringside
