#pragma once

#include <ringside/communicator.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "python/src/base.h"

/// How ranks meet through PyTorch's Store.

namespace ringside::pytorch {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

/// The parameters of one rendezvous of ranks at PyTorch's Store.
struct Meeting {
  StorePtr store;
  /// The key, or a prefix of the keys. Use a new one for each rendezvous, because keys are not deleted.
  std::string key;
  int rank = 0;  ///< 0 .. size - 1
  int size = 1;
  std::chrono::milliseconds limit{0};  ///< longest wait
  /// Set by another thread to end the wait; null: never
  const std::atomic<bool>* is_aborted = nullptr;
};

/// Waits until the key exists, and returns its value. Polls (every 0.2 to 10 ms), because Store::wait() would block
/// other threads that use the store.
/// errors  Timeout: the key does not exist after `limit`.  Aborted: `is_aborted` was set.  System: the store failed
Result<std::string> wait_for_key(const Meeting& meeting);

/// Makes the communicator of `size` ranks: rank 0 stores its id under `key`, the others wait for it.
/// errors  as wait_for_key(), CommunicatorId::make() and Communicator::join(); Corrupt: the value is not an id
Result<Communicator> meet(const Meeting& meeting, const CommunicatorConfig& config);

/// torch.distributed.monitored_barrier(): returns when all ranks have called it with the same key. Rank 0 waits for
/// each other rank, then stores the outcome, which the others wait for.
/// names_all  true: the error names all missing ranks; false: rank 0 stops at the first missing one
/// errors     Timeout: names the missing ranks.  Aborted, System: as wait_for_key()
Status monitored_barrier(const Meeting& meeting, bool names_all);

}  // namespace ringside::pytorch
