#pragma once

#include "base/json.h"
#include "engine/channels/comm_shape.h"

namespace ringside::oracle {

/// Returns the job of a golden file as the tuner of rank 0 sees it. Throws, so that the test fails, if a field is
/// missing.
CommShape golden_shape(const Json& golden);

}  // namespace ringside::oracle
