#pragma once

#include <functional>

#include "engine/capi/handles.h"
#include "engine/runtime/call_group.h"

/// The jobs and calls between rsGroupStart() and rsGroupEnd(), per thread. A job is work that needs the other ranks.
/// Private to this folder.

namespace ringside {

using Job = std::function<Status()>;

void begin_group();

/// Ends a group. The outermost end runs the jobs concurrently, each on a thread, then enqueues the calls.
/// errors  InvalidArgument: no group has begun.  The error of the first failed job, after which no call is enqueued.
///         As CallGroup::launch()
Status end_group();

/// Runs a job at once or, in a group, at its end, so that one thread can act for several ranks.
/// comm  the communicator of the job
/// errors  those of the job if it ran; in a group, end_group() returns them
Status do_with_group(const rsComm* comm, Job job);

/// Enqueues a call at once or, in a group, at its end.
/// errors  as CallGroup::launch(); in a group, end_group() returns them
Status call_with_group(const CommunicatorInUse& communicator, const CallStream& stream,
                       CollectiveCall call);

/// Removes the communicator's jobs and calls from this thread's group: call it before the communicator is freed.
void leave_group(const rsComm* comm);

}  // namespace ringside
