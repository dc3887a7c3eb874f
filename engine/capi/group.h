#pragma once

#include <functional>

#include "engine/capi/handles.h"
#include "engine/runtime/call_group.h"

/// What rsGroupStart() .. rsGroupEnd() hold together, for each thread. For the sources of this folder alone.

namespace ringside {

using Job = std::function<Status()>;

void begin_group();

/// Does the jobs concurrently, each on a thread, then enqueues the calls. Only the outermost end does.
/// errors  InvalidArgument: none has begun.  The first job's that failed, and then no call is made; as
///         CallGroup::launch()
Status end_group();

/// What has to meet the other ranks: at once, or with the group, so that one thread can speak for several ranks.
/// comm  whose it is
Status do_with_group(const rsComm* comm, Job job);

/// Makes the call, at once or with the group.
Status call_with_group(const CommunicatorInUse& communicator, const CallStream& stream,
                       CollectiveCall call);

/// Takes what is the communicator's out of this thread's group: it is about to go.
void leave_group(const rsComm* comm);

}  // namespace ringside
