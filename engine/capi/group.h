#pragma once

#include <functional>

#include "engine/capi/handles.h"
#include "engine/runtime/call_group.h"

/// The jobs and calls between rsGroupStart() and rsGroupEnd(), per thread. For the sources of this folder alone.

namespace ringside {

using Job = std::function<Status()>;

void begin_group();

/// Does the jobs concurrently, each on a thread, then enqueues the calls. Only the outermost end does.
/// errors  InvalidArgument: none has begun.  The first job's that failed, and then no call is made; as
///         CallGroup::launch()
Status end_group();

/// Does a job that has to meet the other ranks: at once, or with the group, so that one thread can act for several ranks.
/// comm  the communicator of the job
Status do_with_group(const rsComm* comm, Job job);

/// Makes the call, at once or with the group.
Status call_with_group(const CommunicatorInUse& communicator, const CallStream& stream,
                       CollectiveCall call);

/// Removes the communicator's jobs and calls from this thread's group: it is about to be freed.
void leave_group(const rsComm* comm);

}  // namespace ringside
