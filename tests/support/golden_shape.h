#pragma once

#include "base/json.h"
#include "engine/channels/comm_shape.h"

namespace ringside::oracle {

/// The job of a golden file as the tuner of rank 0 sees it. The test fails (throws) where a field is
/// missing.
CommShape golden_shape(const Json& golden);

}  // namespace ringside::oracle
