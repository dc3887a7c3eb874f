#pragma once

#include "engine/capi/handles.h"
#include "engine/runtime/call_group.h"

namespace ringside {

/// Returns the stream on which a call of the communicator is enqueued: a CUDA stream if `stream` wraps one, or if it is
/// null on a GPU; else a host stream.
CallStream call_stream_of(const rsComm& comm, rsStream_t stream);

}  // namespace ringside
