#pragma once

#include <string_view>

#include "base/result.h"
#include "engine/topology/host.h"

namespace ringside {

/// Converts "0000:1b:00.0" to 0x1b000; the domain may be omitted.
/// errors  InvalidArgument: not domain:bus:device.function in hexadecimal digits
Result<BusId> parse_bus_id(std::string_view text);

/// Returns the number of a bus id whose form was checked before.
/// returns  -1: not a bus id (NCCL writes an artificial target for a switch that a VM hides)
BusId bus_id_or_none(std::string_view text);

}  // namespace ringside
