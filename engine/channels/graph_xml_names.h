#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/topology/paths/system.h"

/// The names that NCCL's graph XML uses, for its reader and its writer.
namespace ringside {

/// Returns the word for a path type, or nothing for C2C, NET and DIS, which the format lacks.
inline std::optional<std::string_view> graph_type_name(PathType type) {
  if (type == PathType::C2c || type > PathType::Sys) return std::nullopt;
  return to_string(type);
}

/// Returns the number of a network device, made of its host's number within the NVLink domain and its device number.
/// source  NCCL 2.30.7 graph/topo.h: NCCL_TOPO_ID
inline std::int64_t net_number(const System& system, int net) {
  constexpr int kHostShift = 56;
  const std::int64_t host = system.node({NodeKind::Net, net}).host;
  return host << kHostShift | system.nets[static_cast<std::size_t>(net)].dev;
}

}  // namespace ringside
