#include "engine/capi/group.h"

#include <algorithm>
#include <list>
#include <thread>
#include <utility>

namespace ringside {
namespace {

struct HeldJob {
  const rsComm* comm;
  Job job;
};

struct Group {
  int depth = 0;
  CallGroup calls;
  std::list<CommunicatorInUse> held;  ///< the communicators of `calls`
  std::list<HeldJob> jobs;
};
thread_local Group group;

bool is_in_group() { return group.depth > 0; }

Status run_jobs_concurrently(const std::list<HeldJob>& jobs) {
  std::list<Status> done;
  {
    std::list<std::jthread> threads;
    for (const HeldJob& one : jobs) {
      Status& status = done.emplace_back();
      threads.emplace_back([&one, &status] {
        // An exception must not leave a thread.
        const rsResult_t thrown = guarded([&]() -> Status {
          status = one.job();
          return {};
        });
        if (thrown != rsSuccess) status = Error{ErrorCode::System, last_error};
      });
    }
  }
  const auto failed = std::ranges::find_if(done, [](const Status& one) { return !one; });
  return failed == done.end() ? Status{} : *failed;
}

}  // namespace

void begin_group() { ++group.depth; }

Status end_group() {
  if (group.depth == 0) {
    return Error{ErrorCode::InvalidArgument, "rsGroupEnd() without rsGroupStart()",
                 "call rsGroupStart() first"};
  }
  if (--group.depth > 0) return {};
  Group mine = std::exchange(group, {});
  RINGSIDE_TRY(run_jobs_concurrently(mine.jobs));
  return mine.calls.launch();
}

Status do_with_group(const rsComm* comm, Job job) {
  if (!is_in_group()) return job();
  group.jobs.push_back({comm, std::move(job)});
  return {};
}

Status call_with_group(const CommunicatorInUse& communicator, const CallStream& stream,
                       CollectiveCall call) {
  group.calls.add(*communicator, stream, std::move(call));
  if (!is_in_group()) return group.calls.launch();
  group.held.push_back(communicator);
  return {};
}

void leave_group(const rsComm* comm) {
  for (const CommunicatorInUse& one : group.held) {
    if (one.is_of(comm)) group.calls.drop(*one);
  }
  group.held.remove_if([comm](const CommunicatorInUse& one) { return one.is_of(comm); });
  group.jobs.remove_if([comm](const HeldJob& one) { return one.comm == comm; });
}

}  // namespace ringside
