#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// The distance between two devices; lower is closer. A path has the type of its worst hop.
/// source  NCCL 2.30.7 graph/topo.h; the values are NCCL's
enum class PathType : std::uint8_t {
  Loc = 0,   ///< itself
  Nvl = 1,   ///< NVLink
  Nvb = 2,   ///< NVLink through another GPU
  C2c = 3,   ///< chip to chip, between a GPU and its own CPU
  Pix = 4,   ///< one PCI switch
  Pxb = 5,   ///< several PCI switches, no CPU
  P2c = 6,   ///< to a NIC by C2C and PCI
  Pxn = 7,   ///< to a NIC by NVLink to a GPU next to it
  Phb = 8,   ///< through a CPU
  Sys = 9,   ///< from one NUMA node to another
  Net = 10,  ///< through the network
  Dis = 11,  ///< not at all
};

/// Returns LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS NET DIS
const char* to_string(PathType type);

/// errors  InvalidArgument: an unknown word; the error suggests the closest one
Result<PathType> parse_path_type(std::string_view text);

}  // namespace ringside
