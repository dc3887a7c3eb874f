#pragma once

#include <array>
#include <vector>

#include "engine/flight/dump.h"

namespace ringside {

/// Return addresses of a call, innermost first; unused entries are null.
using StackAddresses = std::array<void*, 16>;

/// Returns the stack of the calling thread. Takes some microseconds.
StackAddresses take_stack();

/// Converts addresses to frames: names of exported functions, else the object file and the offset in it.
std::vector<FlightDump::Frame> frames_of(const StackAddresses& addresses);

}  // namespace ringside
