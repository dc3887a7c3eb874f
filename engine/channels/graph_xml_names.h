#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/topology/paths/system.h"

/// How NCCL's graph XML names what a graph consists of; for its reader and its writer.
namespace ringside {

/// The word for a path type; nothing for C2C, NET and DIS, which the format lacks.
inline std::optional<std::string_view> graph_type_name(PathType type) {
  if (type == PathType::C2c || type > PathType::Sys) return std::nullopt;
  return to_string(type);
}

/// The number of a network device: of its host within an NVLink domain, and of the device there.
/// source  NCCL 2.30.7 graph/topo.h: NCCL_TOPO_ID
inline std::int64_t net_number(const System& system, int net) {
  constexpr int kHostShift = 56;
  const std::int64_t host = system.node({NodeKind::Net, net}).host;
  return host << kHostShift | system.nets[static_cast<std::size_t>(net)].dev;
}

}  // namespace ringside
