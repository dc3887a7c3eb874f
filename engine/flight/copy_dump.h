#pragma once

#include "engine/flight/dump.h"

namespace ringside {

/// A copy whose entries point at its own calls.
FlightDump copy_of(const FlightDump& dump);

}  // namespace ringside
