#pragma once

#include <memory>

#include "engine/flight/recorder.h"

namespace ringside {

/// Returns the flight recorder of a rank in this process, as set by PyTorch's variables. All its communicators share it
/// while any exists. A process that a launcher has started is one rank, even if its rank differs between communicators.
/// rank    this rank in the communicator
/// errors  InvalidArgument: a variable's value is invalid
Result<std::shared_ptr<FlightRecorder>> recorder_of_process(int rank);

}  // namespace ringside
