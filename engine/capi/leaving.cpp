#include "engine/capi/leaving.h"

namespace ringside {

Leaving& Leaving::of_process() {
  static Leaving leaving;
  return leaving;
}

void Leaving::add(rsComm_t comm) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const One& one) { return one.is_gone.load(); });
  One& one = all_.emplace_back();
  one.thread = std::jthread([comm, &one] {
    // If another rank breaks the communicator meanwhile, that also ends it.
    static_cast<void>(guarded([comm]() -> Status {
      RINGSIDE_TRY(const CommunicatorInUse use, communicator_of(comm));
      comm->parts.synchronize();
      const Status finished = use->finish();
      if (const auto unreceived = use->unreceived(); unreceived && comm->when_left) {
        comm->when_left(*unreceived);
      }
      return finished;
    }));
    free_unused(comm);
    one.is_gone = true;
  });
}

}  // namespace ringside
