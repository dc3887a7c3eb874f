#pragma once

#include <string_view>

#include "base/result.h"
#include "engine/topology/host.h"

namespace ringside {

/// "0000:1b:00.0" -> 0x1b000; the domain may be omitted.
/// errors  InvalidArgument: not domain:bus:device.function in hexadecimal digits
Result<BusId> parse_bus_id(std::string_view text);

/// The number of a bus id whose form has been checked already.
/// returns  -1: not a bus id (a made-up target such as NCCL writes for a switch that a VM hides)
BusId bus_id_or_none(std::string_view text);

}  // namespace ringside
