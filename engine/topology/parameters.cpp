#include "engine/topology/parameters.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/text.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 16> kVariables{
    "NCCL_IB_MERGE_NICS",     "NCCL_NET_MERGE_LEVEL",
    "NCCL_MNNVL_ENABLE",      "NCCL_NETDEVS_POLICY",
    "NCCL_NET_DISABLE_INTRA", "NCCL_NET_GDR_C2C",
    "NCCL_NET_GDR_LEVEL",     "NCCL_NET_GDR_MLOPART",
    "NCCL_NET_GDR_READ",      "NCCL_NVB_DISABLE",
    "NCCL_P2P_DISABLE",       "NCCL_P2P_LEVEL",
    "NCCL_PXN_C2C",           "NCCL_PXN_DISABLE",
    "NCCL_SHM_DISABLE",       "NCCL_TOPO_SCATTER_START_NET"};

Result<bool> read_flag(const Environment& environment, const char* name, bool fallback) {
  RINGSIDE_TRY(const auto value, env_int(environment, name, 0, 1));
  return value ? *value != 0 : fallback;
}

/// Reads a path type as a name, or as the number that old releases used.
/// source  NCCL 2.30.7 graph/paths.cc: ncclGetLevel
Result<std::optional<PathType>> read_level(const Environment& environment, const char* name) {
  const auto text = environment(name);
  if (!text) return std::optional<PathType>{};
  constexpr std::array kByNumber{PathType::Loc, PathType::Pix, PathType::Pxb,
                                 PathType::Phb, PathType::Sys, PathType::Sys};
  if (const auto number = parse_int(*text)) {
    if (*number >= 0 && *number < static_cast<std::int64_t>(kByNumber.size())) {
      return std::optional{kByNumber.at(static_cast<std::size_t>(*number))};
    }
  } else if (const auto type = parse_path_type(*text)) {
    return std::optional{*type};
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("environment variable {}='{}' is not a path type", name, *text),
               "give LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS, NET or DIS, or 0 to 5 for "
               "LOC, PIX, PXB, PHB, SYS, SYS"};
}

/// Reads how close NICs must be to be merged. PORT, two ports of one card, has the value of NVL.
/// source  NCCL 2.30.7 graph/topo.cc: ncclTopoGetVNicParent
Result<std::optional<PathType>> read_merge_level(const Environment& environment) {
  RINGSIDE_TRY(const bool merges, read_flag(environment, "NCCL_IB_MERGE_NICS", true));
  if (!merges) return std::optional{PathType::Loc};
  const char* const name = "NCCL_NET_MERGE_LEVEL";
  const auto text = environment(name);
  if (!text) return std::optional<PathType>{};
  if (*text == "PORT") return std::optional{PathType::Nvl};
  const auto type = parse_path_type(*text);
  for (const PathType known : {PathType::Loc, PathType::Pix, PathType::Pxb, PathType::P2c,
                               PathType::Pxn, PathType::Phb, PathType::Sys}) {
    if (type && *type == known) return std::optional{known};
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("environment variable {}='{}' is no distance between NICs", name, *text),
               "give LOC (none join), PORT, PIX, PXB, P2C, PXN, PHB or SYS"};
}

/// returns  0 for AUTO, -1 for ALL, k for MAX:k
Result<int> read_netdevs_policy(const Environment& environment) {
  const char* const name = "NCCL_NETDEVS_POLICY";
  const std::string text = environment(name).value_or("AUTO");
  if (text == "AUTO") return 0;
  if (text == "ALL") return -1;
  if (text.starts_with("MAX:")) {
    const auto most = parse_int(std::string_view{text}.substr(4));
    if (most && *most >= 1 && *most <= std::numeric_limits<int>::max()) {
      return static_cast<int>(*most);
    }
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("environment variable {}='{}' is not a policy", name, text),
               "give AUTO, ALL or MAX:k with k at least 1"};
}

}  // namespace

Result<TopologyParameters> parse_topology_parameters(const Environment& environment,
                                                     std::string_view version) {
  TopologyParameters read;
  RINGSIDE_TRY(read.rules, load_topology_rules(version));
  read.pxn_c2c = read.rules.pxn_c2c;
  read.gdr_c2c = read.rules.gdr_c2c;
  RINGSIDE_TRY(read.p2p_level, read_level(environment, "NCCL_P2P_LEVEL"));
  RINGSIDE_TRY(const bool is_p2p_off, read_flag(environment, "NCCL_P2P_DISABLE", false));
  if (is_p2p_off) read.p2p_level = PathType::Loc;
  RINGSIDE_TRY(read.shm_disable, read_flag(environment, "NCCL_SHM_DISABLE", read.shm_disable));
  RINGSIDE_TRY(read.nvb_disable, read_flag(environment, "NCCL_NVB_DISABLE", read.nvb_disable));
  RINGSIDE_TRY(read.pxn_disable, read_flag(environment, "NCCL_PXN_DISABLE", read.pxn_disable));
  RINGSIDE_TRY(read.pxn_c2c, read_flag(environment, "NCCL_PXN_C2C", read.pxn_c2c));
  RINGSIDE_TRY(read.gdr_level, read_level(environment, "NCCL_NET_GDR_LEVEL"));
  // -2 is what NCCL writes for "as the GPU allows".
  RINGSIDE_TRY(const auto gdr_read, env_int(environment, "NCCL_NET_GDR_READ", -2, 1));
  if (gdr_read && *gdr_read >= 0) read.gdr_read = *gdr_read != 0;
  RINGSIDE_TRY(read.gdr_c2c, read_flag(environment, "NCCL_NET_GDR_C2C", read.gdr_c2c));
  RINGSIDE_TRY(read.gdr_mlopart, read_flag(environment, "NCCL_NET_GDR_MLOPART", read.gdr_mlopart));
  RINGSIDE_TRY(read.net_disable_intra,
               read_flag(environment, "NCCL_NET_DISABLE_INTRA", read.net_disable_intra));
  RINGSIDE_TRY(read.scatter_start_net,
               read_flag(environment, "NCCL_TOPO_SCATTER_START_NET", read.scatter_start_net));
  RINGSIDE_TRY(const auto mnnvl, env_int(environment, "NCCL_MNNVL_ENABLE", 0, 2));
  read.mnnvl_enable = static_cast<int>(mnnvl.value_or(read.mnnvl_enable));
  RINGSIDE_TRY(read.netdevs_policy, read_netdevs_policy(environment));
  RINGSIDE_TRY(read.merge_level, read_merge_level(environment));
  return read;
}

std::span<const std::string_view> topology_variables() { return kVariables; }

}  // namespace ringside
