#pragma once

#include "engine/flight/dump.h"
#include "harness/hangs/recorder.h"

namespace ringside::hangs {

/// Converts a snapshot to the dump that the recorder's PyTorch release would write.
FlightDump flight_dump(const Program& program, const Snapshot& snapshot, const Recorder& recorder);

}  // namespace ringside::hangs
