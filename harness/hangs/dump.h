#pragma once

#include "engine/flight/dump.h"
#include "harness/hangs/recorder.h"

namespace ringside::hangs {

/// The snapshot as the dump that PyTorch of the recorder's release would write of it.
FlightDump flight_dump(const Program& program, const Snapshot& snapshot, const Recorder& recorder);

}  // namespace ringside::hangs
