#pragma once

#include <array>
#include <vector>

#include "engine/flight/dump.h"

namespace ringside {

/// Return addresses of a call, innermost first; the rest is null.
using StackAddresses = std::array<void*, 16>;

/// The stack of the calling thread. Some microseconds.
StackAddresses take_stack();

/// By the names of exported functions; else the object file and the place in it.
std::vector<FlightDump::Frame> frames_of(const StackAddresses& addresses);

}  // namespace ringside
