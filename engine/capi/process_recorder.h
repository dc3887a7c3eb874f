#pragma once

#include <memory>

#include "engine/flight/recorder.h"

namespace ringside {

/// The flight recorder of a rank in this process, as PyTorch's variables say: one for all its communicators, for as long as
/// there are any. A process that a launcher has started is one rank, whatever its numbers in communicators are.
/// rank    this one's in the communicator
/// errors  InvalidArgument: a variable's value
Result<std::shared_ptr<FlightRecorder>> recorder_of_process(int rank);

}  // namespace ringside
