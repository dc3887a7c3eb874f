#pragma once

#include "engine/flight/dump.h"

namespace ringside {

/// Returns a copy whose entries refer to the copy's own calls.
FlightDump copy_of(const FlightDump& dump);

}  // namespace ringside
