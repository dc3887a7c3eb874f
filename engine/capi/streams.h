#pragma once

#include "engine/capi/handles.h"
#include "engine/runtime/call_group.h"

namespace ringside {

/// Where a call of the communicator is queued: a stream of CUDA's if `stream` wraps one, or if none is given on a
/// GPU; else a queue of hosts.
CallStream turn_of(const rsComm& comm, rsStream_t stream);

}  // namespace ringside
