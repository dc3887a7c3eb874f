#pragma once

#include <ringside/communicator.h>

#include <chrono>
#include <functional>
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
  /// Asked while this rank waits: an error ends the wait and is returned. Empty: nothing else ends it
  std::function<Status()> look = {};
};

/// Waits until the key exists, and returns its value. Polls (every 0.2 to 10 ms), because Store::wait() would block
/// other threads that use the store.
/// errors  Timeout: the key does not exist after `limit`.  System: the store failed.  Those of `look`
Result<std::string> wait_for_key(const Meeting& meeting);

/// Returns `3.5 s`.
std::string seconds(std::chrono::milliseconds time);

/// Stores a value.
/// errors  System: the store failed
Status put(c10d::Store& store, const std::string& key, const std::string& value);

/// Records in the store that this rank leaves the group. A store that is gone is ignored: ranks that ask it get an error.
void announce_leave(c10d::Store& store, int rank);
/// Returns whether a rank has called announce_leave().
/// errors  System: the store failed
Result<bool> has_left(c10d::Store& store, int rank);

/// Makes the communicator of `size` ranks: rank 0 stores its id under `key`, the others wait for it.
/// errors  as wait_for_key(), CommunicatorId::make() and Communicator::join(); Corrupt: the value is not an id
Result<Communicator> meet(const Meeting& meeting, const CommunicatorConfig& config);

/// torch.distributed.monitored_barrier(): returns when all ranks have called it with the same key. Rank 0 waits for
/// each other rank, then stores the outcome, which the others wait for.
/// names_all  true: the error names all missing ranks; false: rank 0 stops at the first missing one
/// errors     Timeout: names the missing ranks.  Others: as wait_for_key()
Status monitored_barrier(const Meeting& meeting, bool names_all);

}  // namespace ringside::pytorch
